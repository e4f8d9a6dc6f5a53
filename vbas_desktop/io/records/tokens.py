"""Where the fields of a block of delimited text begin and end.

Field ``i`` (row-major) of the complete rows starts one byte after ``starts[i]`` and ends before ``ends[i]``. Regular
text without quotes takes the fast way, which only notes where separators are; anything else takes `tokenise`, which
follows the rules of Python's csv module (a quote opens a field only at its start; doubled quotes inside stand for one;
text after the closing quote belongs to the field).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inlined
from vbas_desktop.algorithms.met import lowest_bit

from .bits import bytes_beyond_ascii, count_bits, equal_bytes, load_word, odd_bytes

LF: Final = 10
CR: Final = 13
QUOTE: Final = 34

ROWS, CONSUMED, LINES, RAGGED, BLANK, OPEN_LINE = range(6)
"""Places in the report of `tokenise`; ``OPEN_LINE`` is the line of the row that was not complete, or -1."""

SPARE_PLACES: Final = 8

REPORTED_ROWS: Final = 10
"""How many ragged rows are named one by one."""


_LOW: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_HIGH: Final = np.uint64(0x8080808080808080)
_EVERY: Final = np.uint64(0x0101010101010101)


@inlined
def _equal(word, pattern):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The high bit of every byte in which word and pattern are equal."""
    difference = word ^ pattern
    return ~(((difference & _LOW) + _LOW) | difference) & _HIGH


@compiled
def separators(
    text: NDArray[np.uint8], size: int, delimiter: int, places: NDArray[np.int32]
) -> tuple[int, int, bool, bool]:
    """Note the places of all delimiters and line ends after ``places[0] = -1``; how many there are, how many lines,
    whether there are zeros, quotes or returns, which `survey` tells apart, and whether there are bytes beyond ASCII.

    Looks at 64 bytes at once, with a bit for each; as many must follow the text in memory. Eight places are written at
    a time, whether there are so many or not: ``places`` needs room for `SPARE_PLACES` behind the last.
    """
    one, line_end = np.uint8(delimiter), np.uint8(LF)
    places[0] = -1
    # Unsigned numbers throughout: numba would look for a negative index at every access.
    found, lines, odd, beyond = np.uint64(1), np.uint64(0), np.uint64(0), np.uint64(0)
    for start in range(np.uint64(0), np.uint64(size), np.uint64(64)):
        marks, ends = equal_bytes(text, start, one, line_end)
        here, high = odd_bytes(text, start), bytes_beyond_ascii(text, start)
        if np.uint64(size) - start < 64:
            within = (np.uint64(1) << (np.uint64(size) - start)) - np.uint64(1)
            marks &= within
            ends &= within
            here &= within
            high &= within
        odd |= here
        beyond |= high
        lines += count_bits(ends)
        place = found
        found += count_bits(marks)
        while marks != 0:
            for i in range(np.uint64(8)):
                places[place + i] = np.int32(start + lowest_bit(marks))
                marks &= marks - np.uint64(1)
            place += np.uint64(8)
    return int(np.int64(found)) - 1, int(np.int64(lines)), odd != 0, beyond != 0


@compiled
def survey(text: NDArray[np.uint8], first: int, last: int) -> tuple[bool, bool, bool, bool]:
    """Which odd bytes a part of the text has: zeros, quotes, carriage returns, bytes beyond ASCII."""
    zeros = quotes = returns = beyond = np.uint64(0)
    place, end = np.uint64(first), np.uint64(last)
    while place + np.uint64(64) <= end:
        odd, zero = equal_bytes(text, place, np.uint8(QUOTE), np.uint8(0))
        zeros |= zero
        quotes |= odd ^ zero
        returns |= equal_bytes(text, place, np.uint8(CR), np.uint8(CR))[0]
        for i in range(np.uint64(0), np.uint64(64), np.uint64(8)):
            beyond |= load_word(text, place + i)
        place += np.uint64(64)
    while place < end:
        byte = text[place]
        zeros |= np.uint64(byte == 0)
        quotes |= np.uint64(byte == QUOTE)
        returns |= np.uint64(byte == CR)
        beyond |= np.uint64(byte)
        place += np.uint64(1)
    return zeros != 0, quotes != 0, returns != 0, beyond & _HIGH != 0


@compiled
def after_last_line_end(text: NDArray[np.uint8], size: int) -> int:
    """Where the text after the last line end begins; 0 if there is none."""
    place = size
    while place > 0 and text[place - 1] != LF:
        place -= 1
    return place


@compiled
def first_not_utf8(text: NDArray[np.uint8], size: int) -> int:
    """Where the first bytes are that no UTF-8 text has, or -1."""
    place, end, one = np.uint64(0), np.uint64(size), np.uint64(1)
    while place < end:
        beyond = bytes_beyond_ascii(text, place)
        if beyond == 0:
            place += np.uint64(64)
            continue
        place += lowest_bit(beyond)
        if place >= end:
            break
        byte = text[place]
        follow = one + np.uint64(byte >= 0xE0) + np.uint64(byte >= 0xF0)
        if byte < 0xC2 or byte > 0xF4 or place + follow >= end:
            return int(np.int64(place))
        # After some first bytes not every second byte makes a character: too long forms, surrogates, beyond Unicode.
        low = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
        high = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
        if text[place + one] < low or text[place + one] > high:
            return int(np.int64(place))
        for i in range(place + np.uint64(2), place + follow + one):
            if text[i] & 0xC0 != 0x80:
                return int(np.int64(place))
        place += follow + one
    return -1


@inlined
def _next(text, place, size, one, other):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The first place from here on that holds one of two bytes, or ``size``."""
    while place < size:
        word = load_word(text, place)
        found = _equal(word, _EVERY * np.uint64(one)) | _equal(word, _EVERY * np.uint64(other))
        if found != 0:
            return place + np.int64(lowest_bit(found) >> np.uint64(3))
        place += 8
    return size


@compiled
def is_regular(text: NDArray[np.uint8], places: NDArray[np.int32], rows: int, columns: int) -> bool:
    """Whether every ``columns``-th separator is a line end (the caller has checked that there are only so many)."""
    regular = True
    for row in range(1, rows + 1):
        regular = regular and text[places[row * columns]] == LF
    return regular


@compiled
def tokenise(
    text: NDArray[np.uint8],
    size: int,
    delimiter: int,
    columns: int,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    row_lines: NDArray[np.int32],
    ragged: NDArray[np.int64],
    report: NDArray[np.int64],
) -> None:
    """Find the fields of all complete rows; quoted fields are unescaped in place.

    ``row_lines`` receives the line (from 0) on which each complete row begins, ``ragged`` the line and the number of
    fields of the first rows with a wrong number of fields.
    """
    place, line, rows, wrong, blank = 0, 0, 0, 0, 0
    report[:] = 0
    report[OPEN_LINE] = -1
    while place < size:
        row_line = line
        if text[place] == LF or (text[place] == CR and place + 1 < size and text[place + 1] == LF):
            place += 1 if text[place] == LF else 2
            line += 1
            blank += 1
            report[CONSUMED] = place
            report[LINES] = line
            continue
        fields = 0
        complete = False
        while True:
            begin = place
            end = place
            if place < size and text[place] == QUOTE:
                begin += 1
                place = _next(text, begin, size, QUOTE, LF)
                while place < size and text[place] == LF:
                    line += 1
                    place = _next(text, place + 1, size, QUOTE, LF)
                end = place
                inside = True
                # Usually this is the closing quote; after a doubled one, what follows is moved up byte by byte.
                while place < size:
                    byte = text[place]
                    if inside:
                        if byte != QUOTE:
                            line += byte == LF
                            text[end] = byte
                            end += 1
                        elif place + 1 < size and text[place + 1] == QUOTE:
                            place += 1
                            text[end] = QUOTE
                            end += 1
                        else:
                            inside = False
                    else:
                        if byte in (delimiter, LF):
                            break
                        if not (byte == CR and place + 1 < size and text[place + 1] == LF):
                            text[end] = byte
                            end += 1
                    place += 1
            else:
                place = _next(text, place, size, delimiter, LF)
                end = place
                if place < size and text[place] == LF and end > begin and text[end - 1] == CR:
                    end -= 1
            if place >= size:
                break
            if fields < columns:
                starts[rows * columns + fields] = begin - 1
                ends[rows * columns + fields] = end
            fields += 1
            last = text[place] == LF
            place += 1
            if last:
                complete = True
                break
        if not complete:
            report[OPEN_LINE] = row_line
            break
        line += 1
        if fields == columns:
            row_lines[rows] = row_line
            rows += 1
        else:
            if wrong < ragged.shape[0]:
                ragged[wrong, 0] = row_line
                ragged[wrong, 1] = fields
            wrong += 1
        report[CONSUMED] = place
        report[LINES] = line
    report[ROWS] = rows
    report[RAGGED] = wrong
    report[BLANK] = blank
