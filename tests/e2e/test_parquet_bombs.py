"""Small Parquet files that unpack to gigabytes are refused, and take little memory until they are."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_making import write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.files.records.table import load_records

ROWS = 60_000
LONG = "x" * 59_000
CHOSEN = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--quiet"]
SCRIPT = """
import sys
from pathlib import Path
from vbas_desktop.cli.main import main
code = main(sys.argv[1:])
lines = Path("/proc/self/status").read_text().splitlines()
print(code, next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")))
"""
MOST_MEGABYTES = 800
"""The program itself takes about 250 MB; with the whole column it would be thousands."""


def write_bomb(path, ages, groups=1, **encoding):
    """Write records whose ages are given, as often as there are groups; what is repeated takes no room in a page."""
    regions = pa.array([f"r{number % 9}" for number in range(len(ages))])
    sexes = pa.array(["FM"[number % 2] for number in range(len(ages))])
    table = pa.table({"region": regions, "age": ages, "sex": sexes})
    with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False, **encoding) as writer:
        for _ in range(groups):
            writer.write_table(table)
    return path


def coded(codes, values):
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values))


def repeated():
    """One long value, in every record."""
    return coded([0] * ROWS, [LONG])


def hidden_behind_short_ones():
    """Many short values, then long ones: the beginning of the column does not tell."""
    return coded([0] * (ROWS // 2) + [1] * ROWS, ["y", LONG])


def stored_as_differences():
    """Each value as what differs from the one before: nothing."""
    return pa.array(["y"] * 1_000 + [LONG] * 1_000)


DIFFERENCES = {"groups": 20, "use_dictionary": False, "column_encoding": {"age": "DELTA_BYTE_ARRAY"}}
BOMBS = {
    "repeated": (repeated, {}),
    "hidden": (hidden_behind_short_ones, {}),
    "differences": (stored_as_differences, DIFFERENCES),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_run_refuses_a_bomb_and_takes_little_memory(tmp_path, name):
    make, encoding = BOMBS[name]
    path = write_bomb(tmp_path / "records.parquet", make(), **encoding)
    assert path.stat().st_size < 64 << 10
    command = ["run", str(path), str(write_regions(tmp_path)), *CHOSEN, "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, check=True)
    code, megabytes = done.stdout.split()[-2:]
    assert code == "1"
    assert "unpacks to more than 250 times its size" in done.stderr
    assert int(megabytes) < MOST_MEGABYTES
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("encoding", [{}, {"use_dictionary": False}], ids=["dictionary", "plain"])
def test_a_value_longer_than_a_row_of_text_may_be_is_refused(tmp_path, capsys, encoding):
    limit = 16 << 20
    ages = ["30", "31", "x" * limit]
    load_records(write_bomb(tmp_path / "fits.parquet", pa.array(ages), **encoding))
    ages[2] += "x"
    path = write_bomb(tmp_path / "records.parquet", pa.array(ages), **encoding)
    assert main(["run", str(path), str(write_regions(tmp_path)), *CHOSEN, "--out", str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert "column “age”" in message
    assert "A value is longer than 16 MB." in message
    assert ("row 4" in message) == bool(encoding)


def test_long_values_of_an_honest_file_are_read_in_smaller_batches(tmp_path):
    texts = [f"{number:05d}" + "z" * 20_000 for number in range(40)]
    codes = [number % 40 for number in range(20_000)]
    table = load_records(write_bomb(tmp_path / "records.parquet", coded(codes, texts)))
    assert table.rows == 20_000
    categories = table.facts("age").categories.values
    assert [categories[code] for code in table.codes("age").tolist()] == [texts[code] for code in codes]


@pytest.mark.parametrize("name", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_every_encoding_of_texts_is_read(tmp_path, name):
    ages = [str(20 + number % 70) for number in range(1_000)]
    encoding = {"use_dictionary": False, "column_encoding": {"age": name}}
    table = load_records(write_bomb(tmp_path / "records.parquet", pa.array(ages), **encoding))
    categories = table.facts("age").categories.values
    assert [categories[code] for code in table.codes("age").tolist()] == ages
