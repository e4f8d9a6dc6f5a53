"""Every array of a ledger file is checked before it is used."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.solutions import pack
from vbas_desktop.release.ledger.entry import Entry
from vbas_desktop.release.ledger.file import FORMAT

# Three initial regions in two aggregated ones, which are in one larger place: places 0, 1 and 2. Two cells, three rows.
ARRAYS = {
    ("regions",): np.array([11, 12, 13], np.uint64),
    ("membership",): np.array([0, 0, 1], np.int32),
    ("parents", 0): np.array([0, 0], np.int32),
    ("cells", 0): np.array([0, 2], np.int32),
    ("cells", 1): np.array([21, 22], np.uint64),
    ("cells", 2): np.array([5, 6], np.int32),
    ("rows", "cell"): np.array([0, 0, 1], np.int32),
    ("rows", "counts"): np.array([2, 3, 6], np.int32),
    ("rows", "columns", "illness", 0): np.array([31, 32], np.uint64),
    ("rows", "columns", "illness", 1): np.array([0, 1, 1], np.int32),
    ("groups", "age"): np.array([[41, 42], [43, 42]], np.uint64),
    ("sensitive", 0, "benign"): np.array([31], np.uint64),
    ("sensitive", 0, "plain_benign"): np.array([31], np.uint64),
}
# The places of the cells, the cells of the rows and the values of the rows must be there.
TOO_LARGE = {
    ("parents", 0): [0, 1],
    ("cells", 0): [0, 3],
    ("rows", "cell"): [0, 0, 2],
    ("rows", "columns", "illness", 1): [0, 1, 2],
}


def document() -> dict:
    """Return a ledger with one release that has everything that a ledger can hold."""
    names = ("id", "audience", "date", "source_sha256", "released_sha256", "source_rows", "released_rows")
    release = dict.fromkeys(names, "1") | {"region_column": "region", "k": 5}
    release |= {"quasi_identifiers": ["age"], "columns": ["age", "region", "illness"], "parents": [0]}
    release |= {"cells": [0, 0, 0], "rows": {"columns": {"illness": [0, 0]}}, "groups": {}}
    release["sensitive"] = [{"column": "illness", "criteria": ["distinct:2"]}]
    found = {"vbas_ledger": FORMAT, "key": "00" * 16, "last_id": 1, "releases": [release]}
    for where, array in ARRAYS.items():
        put(found, where, array)
    return found


def put(ledger, where, array):
    inside = ledger["releases"][0]
    for name in where[:-1]:
        inside = inside[name]
    inside[where[-1]] = pack(array)


def listed(tmp_path, capsys, ledger):
    """Return the exit code of `vbas ledger list` and what it says of errors."""
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(ledger))
    return main(["ledger", "list", "--ledger", str(path)]), capsys.readouterr().err


def damages():
    for where, array in ARRAYS.items():
        other = np.int32 if array.dtype == np.uint64 else np.uint64
        yield where, "kind", array.astype(other)
        yield where, "dimensions", array.reshape(-1) if array.ndim == 2 else array.reshape(1, -1)
        if where[-1] not in ("benign", "plain_benign", "age") and where[:3] + where[-1:] != (
            "rows",
            "columns",
            "illness",
            0,
        ):
            yield where, "length", array[:-1]
        if array.dtype == np.int32:
            yield where, "negative", np.append(-array[:1] - 1, array[1:]).astype(np.int32)
        if where in TOO_LARGE:
            yield where, "too large", np.array(TOO_LARGE[where], np.int32)
    yield ("groups", "age"), "one column", ARRAYS["groups", "age"][:, :1]
    yield ("groups", "age"), "three columns", np.ones((2, 3), np.uint64)
    yield ("rows", "columns", "illness", 0), "length", ARRAYS["rows", "columns", "illness", 0][:1]


def test_an_undamaged_ledger_is_read(tmp_path, capsys):
    assert listed(tmp_path, capsys, document()) == (0, "")
    data = document()["releases"][0]
    assert Entry.from_json(data).as_json()["rows"] == data["rows"]


@pytest.mark.parametrize(
    ("where", "array"),
    [pytest.param(where, array, id=f"{'.'.join(map(str, where))} {damage}") for where, damage, array in damages()],
)
def test_a_damaged_array_is_refused(tmp_path, capsys, where, array):
    ledger = copy.deepcopy(document())
    put(ledger, where, array)
    code, said = listed(tmp_path, capsys, ledger)
    assert code == 1
    assert "The ledger is damaged." in said
