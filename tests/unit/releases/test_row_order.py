"""The order of the rows: whoever gets two releases of one file cannot put their rows side by side."""

import csv
import hashlib
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_making import random_rows, small_case, without_codes, write_records, write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.io.records import parquet_writer, row_chunks, row_order
from vbas_desktop.io.records.row_order import RowKeys
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.record_writer import order_key
from vbas_desktop.settings.release import ReleaseOptions

RECORDS = 4000
PLAIN = ReleaseOptions(pdf=False, geometry=())


@pytest.fixture(scope="module")
def whole_case(tmp_path_factory):
    return small_case(tmp_path_factory.mktemp("case"), RECORDS)


@pytest.fixture(params=["from codes", "read again", "in buckets on disk"])
def case(request, monkeypatch, whole_case):
    """Rows are sorted in memory, or in buckets: their assignment to these must not align, nor the order within them."""
    if request.param == "from codes":
        return whole_case
    if request.param == "in buckets on disk":
        divide_into_buckets(monkeypatch)
    return replace(whole_case, table=without_codes(whole_case.table, "name", "note"))


def divide_into_buckets(monkeypatch, held=10_000, bucket=2_000, largest=5_000):
    monkeypatch.setattr(row_order, "HELD_BYTES", held)
    monkeypatch.setattr(row_order, "BUCKET_BYTES", bucket)
    monkeypatch.setattr(row_order, "LARGEST_BUCKET_BYTES", largest)


def names(target):
    """The names of the released persons in order: the truth that a recipient does not have."""
    parquet = target / "release" / "anonymized.parquet"
    if parquet.exists():
        return pa_parquet.read_table(parquet)["name"].to_pylist()
    with (target / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        return [row["name"] for row in csv.DictReader(file)]


def common(first, second):
    """The places of the rows that are in both, in the order of the first."""
    there = {name: place for place, name in enumerate(second)}
    return np.array([there[name] for name in first if name in there])


def assert_unrelated(first, second):
    """Ranks are not correlated, and neighbours are neighbours again as often as by chance (once in all)."""
    places = common(first, second)
    assert places.size > 0.9 * RECORDS
    ranks = np.argsort(np.argsort(places))
    correlation = np.corrcoef(np.arange(ranks.size), ranks)[0, 1]
    assert abs(correlation) < 5 / np.sqrt(ranks.size)
    assert np.count_nonzero(np.diff(places) == 1) <= 10
    assert np.count_nonzero(ranks == np.arange(ranks.size)) <= 12


def other(case):
    """Another solution than the chosen one."""
    return next(one for one in case.result.solutions if one.id != case.solution.id)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_two_releases_without_a_seed_do_not_align(case, tmp_path, form):
    options = PLAIN.replaced(format=form)
    case.release(tmp_path / "a", options)
    case.release(tmp_path / "b", options)
    assert_unrelated(names(tmp_path / "a"), names(tmp_path / "b"))


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ("name", "age", "region")},
        {"class_size": "size"},
        {"release_delimiter": ";"},
        {"format": "parquet"},
    ],
)
def test_other_releases_do_not_align_even_with_the_same_seed(case, tmp_path, change):
    given = PLAIN.replaced(shuffle_seed="5", columns=("name", "age", "sex", "region"))
    case.release(tmp_path / "a", given)
    case.release(tmp_path / "b", given.replaced(**change))
    first = names(tmp_path / "a")
    if "release_delimiter" in change:
        text = (tmp_path / "b" / "release" / "anonymized.csv").read_text(encoding="utf-8")
        second = [line.split(";")[0] for line in text.splitlines()[1:]]
    else:
        second = names(tmp_path / "b")
    assert_unrelated(first, second)


def test_another_solution_does_not_align_even_with_the_same_seed(case, tmp_path):
    given = PLAIN.replaced(shuffle_seed="5")
    case.release(tmp_path / "a", given)
    result = replace(case.result, solutions=(other(case),))
    replace(case, result=result).release(tmp_path / "b", given)
    assert_unrelated(names(tmp_path / "a"), names(tmp_path / "b"))


def test_the_order_has_nothing_to_do_with_that_of_the_record_file(case, tmp_path):
    case.release(tmp_path / "a", PLAIN)
    assert_unrelated([f"person {number}" for number in range(RECORDS)], names(tmp_path / "a"))


def test_every_row_of_a_small_file_is_equally_likely_to_be_the_first():
    """Six rows, over many keys: within five standard deviations of a sixth."""
    firsts = np.zeros(6)
    for number in range(300):
        keys = RowKeys(number.to_bytes(64, "big")).compute(np.arange(6 * 10, dtype=np.int64))
        for start in range(0, 60, 6):
            firsts[np.argmin(keys[start : start + 6])] += 1
    assert np.abs(firsts / 3000 - 1 / 6).max() < 5 * np.sqrt(5 / 36 / 3000)


@pytest.mark.parametrize(
    ("held", "bucket", "largest"),
    [(1, 1 << 30, 1 << 30), (1 << 30, 100, 5000), (20_000, 1 << 30, 5000), (20_000, 3000, 5000)],
    ids=["every batch alone", "in memory", "one bucket", "many buckets"],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_order_does_not_depend_on_how_many_rows_are_sorted_at_a_time(
    whole_case, tmp_path, monkeypatch, form, held, bucket, largest
):
    options = PLAIN.replaced(format=form, shuffle_seed="5")
    whole_case.release(tmp_path / "one", options)
    divide_into_buckets(monkeypatch, held, bucket, largest)
    case = replace(whole_case, table=without_codes(whole_case.table, "name", "note"))
    case.release(tmp_path / "many", options)
    one, many = (tmp_path / name / "release" / f"anonymized.{form}" for name in ("one", "many"))
    assert one.read_bytes() == many.read_bytes()


def test_rows_stand_in_the_order_of_a_cryptographic_stream(whole_case, tmp_path, monkeypatch):
    monkeypatch.setattr(row_order, "PIECE_ROWS", 128)
    options = PLAIN.replaced(shuffle_seed="7")
    whole_case.release(tmp_path / "out", options)
    allowed = options.replaced(allow_columns=whole_case.table.file_format.header)
    secret = order_key(build_plan(whole_case.problem, whole_case.solution), whole_case.table, allowed)

    def key_of(name: str) -> int:
        piece, word = divmod(int(name.removeprefix("person ")), 128)
        stream = hashlib.shake_256(secret + piece.to_bytes(8, "little")).digest(128 * 8)
        return int.from_bytes(stream[8 * word : 8 * word + 8], "little")

    found = names(tmp_path / "out")
    assert len(found) > 0.9 * RECORDS
    assert found == sorted(found, key=key_of)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=30), max_size=6),
    st.sampled_from([1, 300, 1 << 20]),
    st.sampled_from([1, 500, 1 << 20]),
    st.sampled_from([100, 1 << 20]),
)
def test_rows_of_many_batches_come_back_sorted_from_memory_and_from_disk(batches, held, bucket, largest):
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        divide_into_buckets(patch, held, bucket, largest)
        buckets = row_order.RowBuckets(Path(folder), 2_000)
        rows = []
        for keys in batches:
            numbers = range(len(rows), len(rows) + len(keys))
            rows += zip(keys, numbers, strict=True)
            batch = pa.RecordBatch.from_pydict(
                {"row": pa.array(numbers, pa.int64()), "text": pa.array(["x"] * len(keys), pa.string())}
            )
            buckets.add(batch, np.array(keys, np.uint64))
        found = [
            row for table in buckets.read_sorted(NO_PROGRESS, "") for row in table["row"].to_pylist()
        ]
        buckets.close()
        assert list(Path(folder).iterdir()) == []
    assert found == [number for _, number in sorted(rows)]


def test_rows_with_equal_keys_keep_their_order():
    keys = np.array([5, 1 << 60, 5, 0, 1 << 60, 5], np.uint64)
    assert row_order.sort_by_keys(keys, NO_PROGRESS, "").tolist() == [3, 0, 2, 5, 1, 4]


def test_the_secret_is_kept_in_a_file_of_its_own_that_the_command_reads(tmp_path, capsys):
    files = [str(write_records(tmp_path, random_rows(600, seed=4))), str(write_regions(tmp_path))]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--identifiers",
        "name",
        "--sites",
        "4",
    ]
    chosen += ["--no-pdf", "--quiet"]
    assert main(["run", *files, *chosen, "--out", str(tmp_path / "a")]) == 0
    seed = tmp_path / "a" / "internal" / "shuffle-seed.txt"
    assert seed.stat().st_mode & 0o777 == 0o600
    assert seed.read_text().strip() not in (tmp_path / "a" / "internal" / "report.html").read_text(
        encoding="utf-8"
    )
    assert (
        main(["run", *files, *chosen, "--shuffle-seed", f"@{seed}", "--out", str(tmp_path / "b")]) == 0
    )
    one, other = (tmp_path / name / "release" / "anonymized.csv" for name in "ab")
    assert one.read_bytes() == other.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main(["run", *files, *chosen, "--shuffle-seed", f"@{files[0]}"])
    assert ended.value.code == 2
    assert "person 0" not in capsys.readouterr().err


def test_the_secret_has_128_bits_and_is_not_in_the_release(case, tmp_path):
    seeds = []
    for name in ("a", "b"):
        case.release(tmp_path / name, ReleaseOptions(pdf=True))
        seeds.append(json.loads((tmp_path / name / "run.json").read_text())["release"]["shuffle_seed"])
        assert re.fullmatch("[0-9a-f]{32}", seeds[-1])
        for path in (tmp_path / name / "release").iterdir():
            assert seeds[-1].encode() not in path.read_bytes()
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize("shuffled", [True, False])
def test_row_groups_do_not_tell_how_many_rows_a_stretch_of_the_file_lost(
    case, tmp_path, monkeypatch, shuffled
):
    monkeypatch.setattr(row_chunks, "ROWS_PER_CHUNK", 300)
    report = case.release(tmp_path / "out", PLAIN.replaced(format="parquet", shuffle=shuffled))
    told = pa_parquet.ParquetFile(tmp_path / "out" / "release" / "anonymized.parquet").metadata
    sizes = [told.row_group(number).num_rows for number in range(told.num_row_groups)]
    assert set(sizes[:-1]) == {300}
    assert sum(sizes) == report.records_released
    assert not told.metadata or b"pandas" not in told.metadata


@pytest.mark.parametrize("shuffled", [True, False])
def test_row_groups_of_long_rows_end_with_the_row_that_makes_them_large_enough(
    case, tmp_path, monkeypatch, shuffled
):
    options = PLAIN.replaced(format="parquet", shuffle=shuffled, shuffle_seed="5")
    monkeypatch.setattr(parquet_writer, "BYTES_PER_GROUP", 10_000)
    report = case.release(tmp_path / "out", options)
    file = pa_parquet.ParquetFile(tmp_path / "out" / "release" / "anonymized.parquet")
    groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
    assert sum(group.num_rows for group in groups) == report.records_released
    assert len(groups) > 5
    for group in groups[:-1]:
        lengths = [sum(map(len, row.values())) for row in group.to_pylist()]
        assert sum(lengths[:-1]) < 10_000 <= sum(lengths)


LONG_VALUES = {
    "text": (["x" * 100], pa.string()),
    "bytes": ([b"x" * 100], pa.binary()),
    "list": ([["x" * 60, "x" * 40]], pa.list_(pa.string())),
    "list of bytes": ([[1] * 100], pa.large_list(pa.int8())),
    "structure": (
        [{"first": "x" * 92, "second": 5}],
        pa.struct({"first": pa.string(), "second": pa.int64()}),
    ),
    "map": ([[("x" * 42, 5), ("y" * 42, 6)]], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("name", LONG_VALUES)
def test_long_values_of_every_type_make_row_groups_end(tmp_path, monkeypatch, name):
    values, kind = LONG_VALUES[name]
    monkeypatch.setattr(parquet_writer, "BYTES_PER_GROUP", 3_000)
    table = pa.table(
        {
            "region": [f"r{number % 9}" for number in range(200)],
            "age": ["3"] * 200,
            "sex": ["F"] * 200,
            "nothing": pa.nulls(200),
            "more": pa.array(values * 200, kind),
        }
    )
    pa_parquet.write_table(table, tmp_path / "records.parquet")
    files = [str(tmp_path / "records.parquet"), str(write_regions(tmp_path))]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "2",
        "--format",
        "parquet",
    ]
    chosen += ["--allow-column", "more"]
    assert main(["run", *files, *chosen, "--no-pdf", "--quiet", "--out", str(tmp_path / "out")]) == 0
    footer = pa_parquet.read_metadata(tmp_path / "out" / "release" / "anonymized.parquet")
    sizes = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
    # A row has 4 bytes for its area, 2 for age and sex, and 100 for the long value.
    assert sizes == [29] * 6 + [26]


@pytest.mark.parametrize("seed", ["xyz", "", "-1", "a" * 65])
def test_a_seed_is_made_of_hexadecimal_digits(seed):
    with pytest.raises(InputError, match="hexadecimal"):
        ReleaseOptions(shuffle_seed=seed)


def test_blanks_around_a_seed_do_not_count():
    assert ReleaseOptions(shuffle_seed=" 12 ").shuffle_seed == "12"
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "run",
                "a",
                "b",
                "--region-column",
                "r",
                "--quasi-identifiers",
                "q",
                "--shuffle-seed",
                "12g",
            ]
        )
    assert ended.value.code == 2
