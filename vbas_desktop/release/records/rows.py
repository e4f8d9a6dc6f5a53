"""Deciding about rows and composing the released ones, in raw bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inlined
from vbas_desktop.io.records.tokens import CR, LF, QUOTE

from .fields import Bytes

SUPPRESSED = -1
COPY, TEXT, SIZE, KEY = 0, 1, 2, 3


@compiled
def decide(
    region: NDArray[np.int32],
    codes: NDArray[np.int32],
    strides: NDArray[np.int64],
    membership: NDArray[np.int32],
    direct: NDArray[np.int32],
    classes: NDArray[np.int64],
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    sizes: NDArray[np.int64],
    areas: NDArray[np.int32],
    dense: NDArray[np.int32],
    dense_areas: NDArray[np.int32],
    area: NDArray[np.int32],
    size: NDArray[np.int64],
) -> int:
    """Fill the place of each row (`SUPPRESSED`: not released) and its class size; returns the kept rows.

    ``direct`` maps class numbers to columns where there are few enough, else ``classes`` is searched; ``dense`` holds
    the released sizes (regions × classes) where it is small enough, else the rows ``indptr, columns, sizes`` are. The
    place is the aggregated region, or in tiers what ``dense_areas`` or ``areas`` says.
    """
    kept = 0
    for row in range(region.size):
        area[row] = SUPPRESSED
        size[row] = 0
        if region[row] < 0:
            continue
        number = np.int64(0)
        known = True
        for q in range(strides.size):
            if codes[q, row] < 0:
                known = False
            number += strides[q] * codes[q, row]
        if not known:
            continue
        column = -1
        if direct.size:
            column = direct[number]
        else:
            found = np.searchsorted(classes, number)
            if found < classes.size and classes[found] == number:
                column = int(found)
        if column < 0:
            continue
        target = membership[region[row]]
        count = np.int64(0)
        there = target
        if dense.shape[0]:
            count = np.int64(dense[target, column])
            if dense_areas.shape[0]:
                there = dense_areas[target, column]
        else:
            low, high = indptr[target], indptr[target + 1]
            place = low + np.searchsorted(columns[low:high], column)
            if place < high and columns[place] == column:
                count = sizes[place]
                if areas.size:
                    there = areas[place]
        if count > 0:
            area[row] = there
            size[row] = count
            kept += 1
    return kept


@inlined
def _is_number(buf: Bytes, start: int, end: int) -> bool:
    digits = 0
    for i in range(start + 1, end):
        byte = buf[i]
        if 48 <= byte <= 57:
            digits += 1
        elif byte != 46 and byte != 44 and byte != 32:
            return False
    return digits > 0


@compiled
def _blank_bytes(buf: Bytes, i: int, end: int) -> int:
    """How many bytes the blank, line break, quote or unseen sign at ``i`` has (in UTF-8 or one byte); 0: it is none."""
    byte = int(buf[i])
    if byte == 32 or byte == QUOTE or 9 <= byte <= 13 or byte == 160 or byte == 173:
        return 1
    if byte == 194 and i + 1 < end:
        return 2 if buf[i + 1] == 133 or buf[i + 1] == 160 or buf[i + 1] == 173 else 0
    if i + 2 >= end:
        return 0
    second, third = int(buf[i + 1]), int(buf[i + 2])
    if byte == 225:
        unseen = (second == 154 and third == 128) or (second == 160 and third == 142)
    elif byte == 226:
        unseen = second == 128 and (third <= 143 or 168 <= third <= 175)
        unseen = unseen or (second == 129 and 159 <= third <= 169)
    elif byte == 227:
        unseen = second == 128 and third == 128
    else:
        unseen = byte == 239 and second == 187 and third == 191
    return 3 if unseen else 0


@compiled
def is_formula(buf: Bytes, start: int, end: int) -> bool:
    """Whether a spreadsheet might run the field: it starts with a tab or return, or after blanks of all kinds, line
    breaks and quotes with = + - @, also in full width (in UTF-8), and is no plain signed number.
    """
    if end > start and buf[start] == QUOTE:
        start += 1
        if end > start and buf[end - 1] == QUOTE:
            end -= 1
    if end <= start:
        return False
    if buf[start] == 9 or buf[start] == CR:
        return True
    while start < end:
        blank = _blank_bytes(buf, start, end)
        if not blank:
            break
        start += blank
    if end <= start:
        return False
    first = int(buf[start])
    if first == 239 and end - start > 2 and buf[start + 1] == 188:
        # The last of its three bytes tells which sign of full width it is.
        first = int(buf[start + 2]) - 96
        start += 2
    if first == 61 or first == 64:
        return True
    return (first == 43 or first == 45) and not _is_number(buf, start, end)


@inlined
def _put(source: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    for i in range(start, end):
        out[at] = source[i]
        at += 1
    return at


@compiled
def _put_value(buf: Bytes, start: int, end: int, out: Bytes, at: int, delimiter: int, defuse: bool) -> int:
    """Write a field's value in quotes only where it needs them, with an apostrophe before it if ``defuse``."""
    quoted = end > start and buf[start] == QUOTE
    quote = _needs_quotes(buf, start, end, delimiter)
    if quote:
        out[at] = QUOTE
        at += 1
    if defuse:
        out[at] = 39
        at += 1
    i = start + 1 if quoted else start
    while i < end:
        if quoted and buf[i] == QUOTE:
            if i + 1 < end and buf[i + 1] == QUOTE:
                i += 1
            else:
                quoted = False
                i += 1
                continue
        if quote and buf[i] == QUOTE:
            out[at] = QUOTE
            at += 1
        out[at] = buf[i]
        at += 1
        i += 1
    if quote:
        out[at] = QUOTE
        at += 1
    return at


@inlined
def _put_number(number: int, out: Bytes, at: int) -> int:
    digits, rest = 1, number // 10
    while rest:
        digits += 1
        rest //= 10
    for i in range(digits - 1, -1, -1):
        out[at + i] = 48 + number % 10
        number //= 10
    return at + digits


@compiled
def compose(
    buf: Bytes,
    starts: NDArray[np.int32],
    area: NDArray[np.int32],
    size: NDArray[np.int64],
    codes: NDArray[np.int32],
    kinds: NDArray[np.int32],
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    columns: NDArray[np.int32],
    pool: Bytes,
    bounds: NDArray[np.int64],
    risky: NDArray[np.bool_],
    delimiter: int,
    requote: bool,
    escape: bool,
    look: bool,
    newline: Bytes,
    record_keys: NDArray[np.uint8],
    out: Bytes,
    ends: NDArray[np.int64],
    formulas: NDArray[np.int64],
) -> int:
    """Write the kept rows into ``out`` and the end of each into ``ends``; returns their number.

    Part p of a row is columns ``first[p]`` … ``last[p]`` as they are (COPY), text number ``first[p]`` + code (TEXT:
    ``last[p]`` is the quasi-identifier whose code counts, -1 the aggregated region), the class size (SIZE), or the key
    of the record (KEY), of which ``record_keys`` has a line for each kept row.
    ``formulas[c]`` counts the released cells of column c that a spreadsheet might run: texts that are ``risky``, and of
    copied columns what looks like it (unless ``look`` says that nothing can).
    """
    at, kept = 0, 0
    for row in range(area.size):
        if area[row] < 0:
            continue
        begin = at
        for p in range(kinds.size):
            if p:
                out[at] = delimiter
                at += 1
            if kinds[p] == SIZE:
                at = _put_number(size[row], out, at)
            elif kinds[p] == KEY:
                for i in range(record_keys.shape[1]):
                    out[at + i] = record_keys[kept, i]
                at += record_keys.shape[1]
            elif kinds[p] == TEXT:
                text = first[p] + (area[row] if last[p] < 0 else codes[last[p], row])
                at = _put(pool, bounds[text], bounds[text + 1], out, at)
                formulas[columns[p]] += risky[text]
            else:
                plain = True
                for column in range(first[p], last[p] + 1 if look else first[p]):
                    start, end = starts[row, column], starts[row, column + 1] - 1
                    if end > start:
                        byte = buf[start + 1] if buf[start] == QUOTE else buf[start]
                        if (
                            (byte < 62 or byte == 64 or byte >= 160)
                            and (byte < 46 or byte > 57)
                            and is_formula(buf, start, end)
                        ):
                            formulas[column] += 1
                            plain = plain and not escape
                if plain and not requote:
                    at = _put(buf, starts[row, first[p]], starts[row, last[p] + 1] - 1, out, at)
                else:
                    at = _put_each(buf, starts, row, first[p], last[p], out, at, delimiter, requote, escape)
        if at == begin:
            # An empty line would be no row.
            out[at] = QUOTE
            out[at + 1] = QUOTE
            at += 2
        at = _put(newline, 0, newline.size, out, at)
        ends[kept] = at
        kept += 1
    return kept


@compiled
def _put_each(
    buf: Bytes,
    starts: NDArray[np.int32],
    row: int,
    first: int,
    last: int,
    out: Bytes,
    at: int,
    delimiter: int,
    requote: bool,
    escape: bool,
) -> int:
    """Copy the columns one by one, in quotes where they need them, and defuse formulas."""
    for column in range(first, last + 1):
        start, end = starts[row, column], starts[row, column + 1] - 1
        if column > first:
            out[at] = delimiter
            at += 1
        defuse = escape and is_formula(buf, start, end)
        if requote or defuse:
            at = _put_value(buf, start, end, out, at, delimiter, defuse)
        else:
            at = _put(buf, start, end, out, at)
    return at


@compiled
def _needs_quotes(buf: Bytes, start: int, end: int, delimiter: int) -> bool:
    """Whether the value of a field holds a quote, the delimiter or a line break."""
    if end > start and buf[start] == QUOTE:
        start += 1
        if end > start and buf[end - 1] == QUOTE:
            end -= 1
    found = False
    for i in range(start, end):
        found |= buf[i] == delimiter or buf[i] == QUOTE or buf[i] == CR or buf[i] == LF
    return found
