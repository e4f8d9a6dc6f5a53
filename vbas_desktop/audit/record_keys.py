"""Do the keys of a release lead back to the right records? Compares the released rows with the index and the input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from vbas_desktop.model.errors import Check

from .readback import hashes_of
from .tally import Hashes

_PATTERN = r"^[A-Z2-7]{16}$"


def check_record_keys(
    index: Path, keys: Hashes, rows: Hashes, positions: NDArray[np.int64], expected: NDArray[np.uint64]
) -> list[Check]:
    """Check the keys of the released rows.

    Parameters
    ----------
    index : the file ``record_key,record,row``
    keys, rows : hash of the key, and fingerprint of all other released values, of each released row
    positions : the number in the input, from 0, of each considered record of a known region, ascending
    expected : fingerprints of what each of these becomes when it is released, a line for each tier
    """
    try:
        listed = pa_csv.read_csv(index, convert_options=pa_csv.ConvertOptions(column_types=_TYPES))
    except (OSError, pa.ArrowInvalid):
        return [Check("the index of keys can be read back", False)]
    if listed.column_names != list(_TYPES):
        return [Check("the index of keys can be read back", False, "its columns are others")]
    texts = listed.column("record_key").combine_chunks()
    hashes = hashes_of(texts.cast(pa.binary()))
    records = listed.column("record").to_numpy()
    lines = listed.column("row").to_numpy()
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
    record_of_row = records[order[np.searchsorted(hashes[order], keys)]] - 1
    place = np.minimum(np.searchsorted(positions, record_of_row), max(0, positions.size - 1))
    known = positions.size > 0 and bool((positions[place] == record_of_row).all())
    same = known and bool((expected[:, place] == rows).any(axis=0).all())
    by_record = np.argsort(records)
    ascending = bool((np.diff(lines[by_record]) > 0).all())
    checks.append(Check("every key leads to the input row that its row was made of", same and ascending))
    return checks


_TYPES = {"record_key": pa.string(), "record": pa.int64(), "row": pa.int64()}
