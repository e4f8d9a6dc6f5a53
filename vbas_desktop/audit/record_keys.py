"""Check that the keys of a release lead back to the right records of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.model.findings import Check

from .claim import ReleaseClaim
from .combinations import Ints
from .csv_stream import LONGEST_ROW_BYTES
from .text_hashes import Hashes

_KEY = pa.binary(16)
_PATTERN = r"^[A-Z2-7]{16}$"
_TYPES = {"record_key": _KEY, "record": pa.int64(), "row": pa.int64()}
_FORM = "every released row has a key of 16 characters that no other row has"
_READABLE = "the index of keys can be read back"

Keys = NDArray[np.bytes_]


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """Released rows and released records of the input.

    Parameters
    ----------
    rows : fingerprint of all values but the key of each row of the released file
    positions : the number among all records of the input, from 0, of each record that is released, ascending
    expected : the fingerprint of what each of these becomes when it is released
    """

    rows: Hashes
    positions: Ints
    expected: Hashes


def check_record_keys(claim: ReleaseClaim, keyed: KeyedRows) -> list[Check]:
    """Check form and index of the keys, and where they lead; the index is a file ``record_key,record,row``.

    The keys themselves are compared: hashes of 64 bits of 10 million keys would be equal by chance too often.
    """
    try:
        released = _as_keys(_read_key_column(claim))
    except (OSError, pa.ArrowException):
        return [Check(_FORM, False, "they cannot be read back")]
    try:
        options = pa_csv.ConvertOptions(column_types=_TYPES, null_values=[])
        listed = pa_csv.read_csv(claim.record_index, convert_options=options)
        if listed.column_names != list(_TYPES):
            return [Check(_READABLE, False, "its columns are others")]
        keys = _as_keys(listed.column("record_key"))
    except (OSError, pa.ArrowException):
        return [Check(_READABLE, False)]
    order = np.argsort(released)
    by_key = np.argsort(keys)
    ordered = released[order]
    is_unique = not (ordered[1:] == ordered[:-1]).any()
    is_listed = released.size == keyed.rows.size and np.array_equal(ordered, keys[by_key])
    checks = [
        Check(_FORM, is_unique),
        Check("the index of keys lists just the released rows", is_listed, f"{released.size:,} keys"),
    ]
    if is_unique and is_listed:
        records = listed.column("record").to_numpy()
        by_record = np.argsort(records)
        is_same = np.array_equal(records[by_record], keyed.positions + 1)
        if is_same:
            expected = np.empty(keys.size, np.uint64)
            expected[by_record] = keyed.expected
            is_same = np.array_equal(expected[by_key], keyed.rows[order])
        ascending = bool((np.diff(listed.column("row").to_numpy()[by_record]) > 0).all())
        checks.append(
            Check("every key leads to the input row that its row was made of", is_same and ascending)
        )
    return checks


def _read_key_column(claim: ReleaseClaim) -> Any:
    """Return the keys in the order of the rows of the released file."""
    names = claim.names
    if not claim.is_csv:
        return pq.read_table(claim.file, columns=[claim.record_key]).column(0)
    key = str(len(names) - 1)
    table = pa_csv.read_csv(
        claim.file,
        # A row must not be longer than a block.
        pa_csv.ReadOptions(
            use_threads=False,
            block_size=LONGEST_ROW_BYTES,
            column_names=list(map(str, range(len(names)))),
            skip_rows_after_names=1,
        ),
        pa_csv.ParseOptions(delimiter=claim.delimiter, newlines_in_values=True),
        pa_csv.ConvertOptions(
            include_columns=[key], column_types={key: _KEY}, null_values=[], check_utf8=False
        ),
    )
    return table.column(key)


def _as_keys(column: Any) -> Keys:
    """Return keys as an array of 16 bytes each; `ArrowInvalid` if one has another form."""
    texts = column.cast(pa.string()).combine_chunks()
    if texts.null_count or not pc.all(pc.match_substring_regex(texts, _PATTERN), min_count=0).as_py():
        raise pa.ArrowInvalid("a key has another form")
    return np.frombuffer(texts.cast(_KEY).buffers()[1], "S16", len(texts))
