"""Small Parquet files that unpack to gigabytes are refused, and long values are read in small batches."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_making import write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.io.records.loading import load_records

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
LOADING = """
import sys
from pathlib import Path
from vbas_desktop.io.records.loading import load_records
print(load_records(Path(sys.argv[1])).rows)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")))
"""
MOST_MEGABYTES = 800
"""The program itself takes about 250 MB; with the whole column it would be thousands."""


def write_bomb(path, ages, groups=1, **encoding):
    """Write records whose ages are given, as often as there are groups; what is repeated takes no room in a page."""
    regions = pa.array([f"r{number % 9}" for number in range(len(ages))])
    sexes = pa.array(["FM"[number % 2] for number in range(len(ages))])
    table = pa.table({"region": regions, "age": ages, "sex": sexes})
    with pq.ParquetWriter(
        path, table.schema, compression="zstd", store_schema=False, **encoding
    ) as writer:
        for _ in range(groups):
            writer.write_table(table)
    return path


def claim_small_sizes(path):
    """Let the footer say that everything unpacks to nothing; the numbers keep their lengths, so that nothing moves."""
    footer = pq.ParquetFile(path).metadata
    data = path.read_bytes()
    body, end = data[: -8 - footer.serialized_size], data[-8 - footer.serialized_size :]
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        sizes = [group.column(column).total_uncompressed_size for column in range(group.num_columns)]
        for size in (*sizes, group.total_byte_size):
            end = end.replace(varint(2 * size), varint(2, len(varint(2 * size))))
    path.write_bytes(body + end)
    assert sum(footer_sizes(path)) < 100 * footer.num_row_groups


def footer_sizes(path):
    footer = pq.ParquetFile(path).metadata
    return [footer.row_group(number).total_byte_size for number in range(footer.num_row_groups)]


def varint(value, length=0):
    """Write a number as Thrift does, with bytes of zeros at its end up to a length."""
    groups = [value & 127]
    while (value := value >> 7) or len(groups) < length:
        groups.append(value & 127)
    return bytes([group | 128 for group in groups[:-1]] + groups[-1:])


def run_measured(folder, path, *more):
    """Run the records in a process of its own; returns its exit code, its peak in megabytes, and its messages."""
    command = [
        "run",
        str(path),
        str(write_regions(folder)),
        *CHOSEN,
        *more,
        "--out",
        str(folder / "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, check=True
    )
    code, megabytes = done.stdout.split()[-2:]
    return int(code), int(megabytes), done.stderr


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


def in_one_list():
    """One record that has the long value many times."""
    values = coded([0] + [1] * (ROWS // 2), ["y", LONG])
    return pa.ListArray.from_arrays(pa.array([0, 1, len(values)], pa.int32()), values)


DIFFERENCES = {"groups": 20, "use_dictionary": False, "column_encoding": {"age": "DELTA_BYTE_ARRAY"}}
BOMBS = {
    "repeated": (repeated, {}),
    "hidden": (hidden_behind_short_ones, {}),
    "list": (in_one_list, {}),
    "differences": (stored_as_differences, DIFFERENCES),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_run_refuses_a_bomb_and_takes_little_memory(tmp_path, name):
    make, encoding = BOMBS[name]
    path = write_bomb(tmp_path / "records.parquet", make(), **encoding)
    assert path.stat().st_size < 64 << 10
    code, megabytes, errors = run_measured(tmp_path, path)
    assert code == 1
    assert "unpacks to more than 250 times its size" in errors
    assert megabytes < MOST_MEGABYTES
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_of_few_rows_with_many_bytes_takes_memory_for_some_of_them_at_a_time(tmp_path, form):
    rows = 12_000
    table = pa.table(
        {
            "region": [f"r{number % 9}" for number in range(rows)],
            "age": [str(number % 3) for number in range(rows)],
            "sex": ["FM"[number % 2] for number in range(rows)],
            "note": coded([0] * rows, [LONG]),
        }
    )
    path = tmp_path / "records.parquet"
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 64 << 10
    code, megabytes, errors = run_measured(tmp_path, path, "--format", form, "--no-pdf")
    assert code == 0, errors
    assert megabytes < 1_500  # the rows have 700 MB, and were held several times
    if form == "parquet":
        written = pq.ParquetFile(tmp_path / "out" / "release" / "anonymized.parquet")
        groups = [
            written.metadata.row_group(number).num_rows for number in range(written.num_row_groups)
        ]
        assert sum(groups) == rows
        assert max(groups) * len(LONG) < 300_000_000


JUMPS = {
    "plain": (59_000, {"use_dictionary": False}),
    "lengths first": (
        59_000,
        {"use_dictionary": False, "column_encoding": {"age": "DELTA_LENGTH_BYTE_ARRAY"}},
    ),
    "differences": (
        2_000_000,
        {"use_dictionary": False, "column_encoding": {"age": "DELTA_BYTE_ARRAY"}},
    ),
    "after a dictionary": (59_000, {"dictionary_pagesize_limit": 16}),
}


@pytest.mark.parametrize("name", JUMPS)
def test_long_values_after_short_ones_of_a_row_group_are_read_in_small_batches(tmp_path, name):
    length, encoding = JUMPS[name]
    times = 700_000_000 // length
    path = write_bomb(
        tmp_path / "records.parquet", pa.array(["y"] * 100 + ["x" * length] * times), **encoding
    )
    assert pq.ParquetFile(path).num_row_groups == 1
    claim_small_sizes(path)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(path)], capture_output=True, text=True, check=True
    )
    rows, megabytes = map(int, done.stdout.split())
    assert rows == 100 + times
    assert megabytes < 600


def test_a_page_that_unpacks_to_very_much_is_refused_before_it_is_unpacked(tmp_path):
    ages = pa.array(["x" * 15_000_000] * 20)
    path = write_bomb(tmp_path / "records.parquet", ages, use_dictionary=False, data_page_size=1 << 30)
    claim_small_sizes(path)
    code, megabytes, errors = run_measured(tmp_path, path)
    assert code == 1
    assert "column “age”: A page of the file unpacks to more than 256 MB." in errors
    assert megabytes < MOST_MEGABYTES


def test_a_footer_that_claims_small_sizes_does_not_help_a_bomb(tmp_path):
    ages = pa.array([LONG] * 1_000)
    path = write_bomb(tmp_path / "records.parquet", ages, groups=19, use_dictionary=False)
    claim_small_sizes(path)
    code, megabytes, errors = run_measured(tmp_path, path)
    assert code == 1
    assert "unpacks to more than 250 times its size" in errors
    assert megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("encoding", [{}, {"use_dictionary": False}], ids=["dictionary", "plain"])
def test_a_value_longer_than_a_row_of_text_may_be_is_refused(tmp_path, capsys, encoding):
    limit = 16 << 20
    ages = ["30", "31", "x" * limit]
    load_records(write_bomb(tmp_path / "fits.parquet", pa.array(ages), **encoding))
    ages[2] += "x"
    path = write_bomb(tmp_path / "records.parquet", pa.array(ages), **encoding)
    assert (
        main(["run", str(path), str(write_regions(tmp_path)), *CHOSEN, "--out", str(tmp_path / "out")])
        == 1
    )
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
