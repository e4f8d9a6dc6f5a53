"""Every array of a ledger file is checked before it is used."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.solutions import encode_array
from vbas_desktop.releases.ledger.ledger_file import FORMAT, read_ledger, write_ledger

# Three initial regions in two aggregated ones, which are in one larger area: regions 0, 1, 2. Two classes, three rows.
ARRAYS = {
    ("regions",): np.array([11, 12, 13], np.uint64),
    ("membership",): np.array([0, 0, 1], np.int32),
    ("parents", 0): np.array([0, 0], np.int32),
    ("classes", "regions"): np.array([0, 2], np.int32),
    ("classes", "combinations"): np.array([21, 22], np.uint64),
    ("classes", "sizes"): np.array([5, 6], np.int32),
    ("rows", "classes"): np.array([0, 0, 1], np.int32),
    ("rows", "counts"): np.array([2, 3, 6], np.int32),
    ("rows", "columns", "illness", "values"): np.array([31, 32], np.uint64),
    ("rows", "columns", "illness", "codes"): np.array([0, 1, 1], np.int32),
    ("groups", "age"): np.array([[41, 42], [43, 42]], np.uint64),
    ("criteria", 0, "benign"): np.array([31], np.uint64),
    ("criteria", 0, "plain_benign"): np.array([31], np.uint64),
}
# The regions of the classes, the classes of the rows and the values of the rows must be there.
TOO_LARGE = {
    ("parents", 0): [0, 1],
    ("classes", "regions"): [0, 3],
    ("rows", "classes"): [0, 0, 2],
    ("rows", "columns", "illness", "codes"): [0, 1, 2],
}
# An entry would be ambiguous if two of these were equal.
TWICE = {
    ("regions",): [11, 12, 11],
    ("groups", "age"): [[41, 42], [41, 43]],
}


def document() -> dict:
    """Return a ledger with one release that has everything that a ledger can hold."""
    names = (
        "audience",
        "date",
        "source_sha256",
        "released_sha256",
        "source_rows_hash",
        "released_rows_hash",
    )
    release = dict.fromkeys(names, "1") | {"id": 1, "region_column": "region", "k": 5}
    release |= {"quasi_identifiers": ["age"], "columns": ["age", "region", "illness"], "parents": [0]}
    release |= {"classes": {}, "rows": {"columns": {"illness": {}}}, "groups": {}}
    release["criteria"] = [{"column": "illness", "criteria": ["distinct:2"]}]
    ledger = {"vbas_ledger": FORMAT, "key": "00" * 16, "last_id": 1, "releases": [release]}
    for where, array in ARRAYS.items():
        put(ledger, where, array)
    return ledger


def put(ledger, where, array):
    inside = ledger["releases"][0]
    for name in where[:-1]:
        inside = inside[name]
    inside[where[-1]] = encode_array(array)


def listed(tmp_path, capsys, ledger):
    """Return the exit code of `vbas ledger list` and what it says of errors."""
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(ledger))
    return main(["ledger", "list", "--ledger", str(path)]), capsys.readouterr().err


def damages():
    """Yield path, kind of damage and damaged array."""
    free_length = {("groups", "age"), ("criteria", 0, "benign"), ("criteria", 0, "plain_benign")}
    values = ("rows", "columns", "illness", "values")
    for where, array in ARRAYS.items():
        other = np.int32 if array.dtype == np.uint64 else np.uint64
        yield where, "kind", array.astype(other)
        yield where, "dimensions", array.reshape(-1) if array.ndim == 2 else array.reshape(1, -1)
        if where not in free_length and where != values:
            yield where, "length", array[:-1]
        if array.dtype == np.int32:
            yield where, "negative", np.append(-array[:1] - 1, array[1:]).astype(np.int32)
        if where in TOO_LARGE:
            yield where, "too large", np.array(TOO_LARGE[where], np.int32)
        if where in TWICE:
            yield where, "twice", np.array(TWICE[where], np.uint64)
    yield ("groups", "age"), "one column", ARRAYS["groups", "age"][:, :1]
    yield ("groups", "age"), "three columns", np.ones((1, 3), np.uint64)
    yield values, "length", ARRAYS[values][:1]


def test_an_undamaged_ledger_is_read_and_written_alike(tmp_path, capsys):
    assert listed(tmp_path, capsys, document()) == (0, "")
    path = tmp_path / "ledger.json"
    write_ledger(path, read_ledger(path))
    first = json.loads(path.read_text())
    write_ledger(path, read_ledger(path))
    assert json.loads(path.read_text()) == first
    release = document()["releases"][0]
    assert {name: first["releases"][0][name] for name in release} == release


@pytest.mark.parametrize("name", ["k", "id"])
@pytest.mark.parametrize("value", ["5", 5.0, True, None])
def test_numbers_must_be_whole_numbers(tmp_path, capsys, name, value):
    ledger = document()
    ledger["releases"][0][name] = value
    code, message = listed(tmp_path, capsys, ledger)
    assert code == 1
    assert "The ledger is damaged." in message


def test_an_unknown_key_is_refused(tmp_path, capsys):
    ledger = document()
    ledger["releases"][0]["people"] = 3
    assert listed(tmp_path, capsys, ledger)[0] == 1


@pytest.mark.parametrize(
    ("where", "array"),
    [
        pytest.param(where, array, id=f"{'.'.join(map(str, where))} {damage}")
        for where, damage, array in damages()
    ],
)
def test_a_damaged_array_is_refused(tmp_path, capsys, where, array):
    ledger = document()
    put(ledger, where, array)
    code, message = listed(tmp_path, capsys, ledger)
    assert code == 1
    assert "The ledger is damaged." in message
