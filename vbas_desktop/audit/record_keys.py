"""Check that the keys of a release lead back to the right records of the input."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from vbas_desktop.model.errors import Check

from .combinations import Ints
from .text_hashes import Hashes, TextHasher

_PATTERN = r"^[A-Z2-7]{16}$"
_TYPES = {"record_key": pa.string(), "record": pa.int64(), "row": pa.int64()}


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """Released rows and released records of the input.

    Parameters
    ----------
    keys, rows : hash of the key, and fingerprint of all other values, of each row of the released file
    positions : the number among all records of the input, from 0, of each record that is released, ascending
    expected : the fingerprint of what each of these becomes when it is released
    """

    keys: Hashes
    rows: Hashes
    positions: Ints
    expected: Hashes


def check_record_keys(index: Path, keyed: KeyedRows, hasher: TextHasher) -> list[Check]:
    """Check form and index of the keys, and where they lead; ``index`` is the file ``record_key,record,row``."""
    try:
        listed = pa_csv.read_csv(index, convert_options=pa_csv.ConvertOptions(column_types=_TYPES))
    except (OSError, pa.ArrowInvalid):
        return [Check("the index of keys can be read back", False)]
    if listed.column_names != list(_TYPES):
        return [Check("the index of keys can be read back", False, "its columns are others")]
    texts = listed.column("record_key").combine_chunks()
    hashes = hasher.hash(texts.to_pylist())
    records = listed.column("record").to_numpy()
    lines = listed.column("row").to_numpy()
    keys = keyed.keys
    order = np.argsort(hashes)
    right_form = bool(pc.all(pc.match_substring_regex(texts, _PATTERN), min_count=0).as_py())
    unique = np.unique(keys).size == keys.size and np.unique(records).size == records.size
    listed_keys = np.array_equal(hashes[order], np.sort(keys))
    checks = [
        Check("every released row has a key of 16 characters that no other row has", right_form and unique),
        Check("the index of keys lists just the released rows", listed_keys, f"{keys.size:,} keys"),
    ]
    if not (unique and listed_keys):
        return checks
    position_of_row = records[order[np.searchsorted(hashes[order], keys)]] - 1
    at = np.minimum(np.searchsorted(keyed.positions, position_of_row), max(0, keyed.positions.size - 1))
    is_known = keyed.positions.size > 0 and np.array_equal(keyed.positions[at], position_of_row)
    is_same = is_known and np.array_equal(keyed.expected[at], keyed.rows)
    ascending = bool((np.diff(lines[np.argsort(records)]) > 0).all())
    checks.append(Check("every key leads to the input row that its row was made of", is_same and ascending))
    return checks
