"""Every released row is an input row with only the stated changes, byte for byte, whatever the cells contain."""

import csv
import gzip
import io
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_making import load, random_rows, write_regions, write_rows

from vbas_desktop.audit.claim import ReleaseClaim
from vbas_desktop.audit.verification import verify_release
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.solution import Solution
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.tables import crosswalk
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions

REGIONS = [
    "0012",
    "12",
    "a b",
    "ü",
    "NA",
    'q"t',
    "x,y",
    "r;7",
    "-8",
    "=9",
    "1e3",
    "l\nf",
    "12 ",
    "é1",
    "Z",
    "nul",
]
AGES = ["", "5", "05", "5.0", "NA", "ä", " 5", "=5"]
NAMES = ["id", "age", "größe", "region", "note"]
NASTY = st.text(st.sampled_from('ab"",;\n\r\t =+-@0.5éß\'|'), max_size=8)


@dataclass
class Nasty:
    """A file field by field: the raw bytes as they stand in it, and what they mean."""

    raw: list[list[bytes]]
    values: list[list[str]]
    delimiter: str
    newline: bytes
    encoding: str
    last_line_ends: bool

    @property
    def bytes(self):
        text = self.newline.join(self.delimiter.encode().join(row) for row in self.raw)
        return text + (self.newline if self.last_line_ends else b"")


@st.composite
def nasty_files(draw):
    delimiter = draw(st.sampled_from(",;\t"))
    encoding = draw(st.sampled_from(["utf-8", "latin-1"]))
    newline = draw(st.sampled_from([b"\n", b"\r\n"]))
    rows = draw(
        st.lists(
            st.tuples(NASTY, st.sampled_from(AGES[:3]), NASTY, st.sampled_from(REGIONS[:4]), NASTY),
            min_size=3,
            max_size=25,
        )
    )
    extra = draw(
        st.lists(
            st.tuples(NASTY, st.sampled_from(AGES), NASTY, st.sampled_from(REGIONS), NASTY), max_size=8
        )
    )
    needless = draw(st.lists(st.booleans(), min_size=60, max_size=60))
    values = [NAMES, *(list(row) for row in [*rows, *extra])]
    raw = [
        [
            _raw(value, delimiter, encoding, needless[(5 * number + place) % 60])
            for place, value in enumerate(row)
        ]
        for number, row in enumerate(values)
    ]
    return Nasty(raw, values, delimiter, newline, encoding, draw(st.booleans()))


def _raw(value, delimiter, encoding, needless):
    text = value
    if needless or any(mark in value for mark in (delimiter, '"', "\n", "\r")):
        text = '"' + value.replace('"', '""') + '"'
    return text.encode(encoding)


def solution_of(problem, groups):
    owner = np.arange(len(problem.regions), dtype=np.int32) % groups
    merged = np.zeros((groups, problem.counts.n_combinations), np.int64)
    indptr, columns, counts = (
        problem.counts.table.indptr,
        problem.counts.table.indices,
        problem.counts.table.data,
    )
    np.add.at(merged, (np.repeat(owner, np.diff(indptr)), columns), counts)
    lost = int(merged[merged < problem.k].sum())
    return Solution(1, {}, {}, groups, groups, None, owner, {"suppressed_records": lost}, 0.0, 0, lost)


def released(folder, nasty, options, k=2, groups=3, groupings=(), compressed=False):
    """The released bytes, verified, with the code of each region and the values that were kept."""
    path = folder / "records.csv"
    path.write_bytes(gzip.compress(nasty.bytes) if compressed else nasty.bytes)
    table = load_records(
        path, RecordReading(delimiter=nasty.delimiter, encoding=nasty.encoding, category_counts="no")
    )
    problem = build_problem(
        table,
        load_regions(write_regions(folder, REGIONS)),
        region_column="region",
        quasi_identifiers=("age",),
        k=k,
        groupings=groupings,
    )
    plan = build_plan(problem, solution_of(problem, groups))
    (folder / "crosswalk.csv").write_bytes(crosswalk(plan, options.escape_formulas))
    out = folder / "anonymized.csv"
    out.write_bytes(write_rows(plan, table, options, folder, as_they_are=True)[1])
    claim = ReleaseClaim(
        out,
        folder / "crosswalk.csv",
        options.released_columns(table.file_format.header),
        options.class_size,
        options.release_delimiter or nasty.delimiter,
        options.escape_formulas,
        problem.records,
        plan.records_released,
    )
    assert all(check.passed for check in verify_release(problem, table.file_format, claim, NO_PROGRESS))
    return out.read_bytes(), {region: plan.codes[plan.membership[i]] for i, region in enumerate(REGIONS)}


def kept_rows(nasty, codes, k=2, group=lambda value: value):
    """The numbers of the rows whose class is large enough, counted naively."""
    classes = Counter((group(row[1]), codes[row[3]]) for row in nasty.values[1:])
    return [
        number
        for number, row in enumerate(nasty.values)
        if number and classes[group(row[1]), codes[row[3]]] >= k
    ]


SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@SETTINGS
@given(nasty_files(), st.booleans())
def test_untouched_values_stay_byte_for_byte_in_quotes_only_where_they_need_them(
    tmp_path_factory, nasty, compressed
):
    folder = tmp_path_factory.mktemp("nasty")
    data, codes = released(folder, nasty, ReleaseOptions(shuffle=False), compressed=compressed)
    plainly = [
        [_raw(value, nasty.delimiter, nasty.encoding, False) for value in row] for row in nasty.values
    ]
    rows = [plainly[0]]
    for number in kept_rows(nasty, codes):
        raw = plainly[number]
        rows.append([*raw[:3], codes[nasty.values[number][3]].encode(), raw[4]])
    assert data == b"".join(nasty.delimiter.encode().join(row) + nasty.newline for row in rows)


@SETTINGS
@given(nasty_files(), st.integers(0, 5), st.sampled_from([None, ",", ";", "|"]), st.booleans())
def test_shuffled_recut_and_escaped_rows_still_say_the_same(
    tmp_path_factory, nasty, seed, delimiter, escape
):
    folder = tmp_path_factory.mktemp("nasty")
    options = ReleaseOptions(
        shuffle_seed=str(seed),
        release_delimiter=delimiter,
        escape_formulas=escape,
        class_size="class size",
    )
    data, codes = released(folder, nasty, options)
    text = io.StringIO(data.decode(nasty.encoding), newline="")
    names, *rows = csv.reader(text, delimiter=delimiter or nasty.delimiter)
    assert names == [*NAMES, "class size"]
    kept = kept_rows(nasty, codes)
    sizes = Counter((nasty.values[number][1], codes[nasty.values[number][3]]) for number in kept)
    expected = []
    for number in kept:
        row = nasty.values[number]
        cells = [escaped(value) if escape else value for value in row]
        expected.append([*cells[:3], codes[row[3]], cells[4], str(sizes[row[1], codes[row[3]]])])
    assert sorted(rows) == sorted(expected)


def escaped(value):
    if value[:1] in ("\t", "\r") and value:
        return "'" + value
    first = value.lstrip(' \t\r\n"')
    if first[:1] and first[:1] in "=@＝＠":
        return "'" + value
    number = first[1:].strip(" .,0123456789") == "" and any(letter in "0123456789" for letter in first)
    return "'" + value if first[:1] and first[:1] in "+-＋－" and not number else value


@settings(SETTINGS, max_examples=25)
@given(nasty_files(), st.booleans())
def test_groups_replace_the_values_of_a_quasi_identifier(tmp_path_factory, nasty, escape):
    folder = tmp_path_factory.mktemp("nasty")
    groupings = (
        Grouping("age", {"5": "=five", "05": "=five", "": "none, known"}),
        Grouping("age", {"=five": "@5"}),
    )
    options = ReleaseOptions(columns=("age", "region"), escape_formulas=escape)
    data, codes = released(folder, nasty, options, groupings=groupings)
    group = {"5": "@5", "05": "@5", "": "none, known"}
    rows = list(
        csv.reader(io.StringIO(data.decode(nasty.encoding), newline=""), delimiter=nasty.delimiter)
    )[1:]
    kept = kept_rows(nasty, codes, group=lambda value: group.get(value, value))
    labels = [group.get(nasty.values[number][1], nasty.values[number][1]) for number in kept]
    regions = [codes[nasty.values[number][3]] for number in kept]
    expected = [
        [escaped(label) if escape else label, region]
        for label, region in zip(labels, regions, strict=True)
    ]
    assert sorted(rows) == sorted(expected)


def plain(rows, newline=b"\n", **more):
    values = [NAMES, *rows]
    raw = [[value.encode() for value in row] for row in values]
    return Nasty(raw, values, ",", newline, "utf-8", True, **more)


def test_a_byte_order_mark_stays_at_the_start(tmp_path):
    nasty = plain([["1", "5", "a", "0012", "x"], ["2", "5", "b", "0012", "y"]])
    nasty.raw[0][0] = b"\xef\xbb\xbfid"
    data, _ = released(tmp_path, nasty, ReleaseOptions(shuffle=False))
    assert data.startswith(b"\xef\xbb\xbfid,age,")


def test_old_line_ends_are_kept(tmp_path):
    nasty = plain([["1", "5", "a", "0012", "x"], ["2", "5", "b", "0012", "y"]], newline=b"\r")
    data, codes = released(tmp_path, nasty, ReleaseOptions(shuffle=False))
    code = codes["0012"].encode()
    assert data.split(b"\r")[1:] == [b"1,5,a," + code + b",x", b"2,5,b," + code + b",y", b""]


def test_a_return_stays_in_quotes_and_a_quote_that_nothing_protects_is_put_in_quotes(tmp_path):
    nasty = plain([["1", "5", "a", "0012", "x\rz"], ["2", "5", "b", "0012", 'y"']])
    nasty.raw[1][4] = b'"x\rz"'
    data, codes = released(tmp_path, nasty, ReleaseOptions(shuffle=False))
    code = codes["0012"].encode()
    assert data.splitlines(True)[1:] != []
    assert data.split(b"\n")[1:] == [b"1,5,a," + code + b',"x\rz"', b"2,5,b," + code + b',"y"""', b""]


def test_utf_16_comes_out_as_utf_8(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("id,age,region\n1,ä,ü\n2,ä,ü\n", encoding="utf-16")
    table = load_records(path, RecordReading(category_counts="no"))
    regions = load_regions(write_regions(tmp_path, REGIONS))
    problem = build_problem(table, regions, region_column="region", quasi_identifiers=("age",), k=2)
    plan = build_plan(problem, solution_of(problem, 2))
    data = write_rows(plan, table, ReleaseOptions(shuffle=False), tmp_path)[1]
    code = plan.codes[plan.membership[REGIONS.index("ü")]]
    assert data.decode("utf-8-sig") == f"id,age,region\n1,ä,{code}\n2,ä,{code}\n"


@pytest.mark.parametrize(
    "pieces",
    [
        ["id,age,region\n9,2,16\n1,5,12\n2,5,12\n"],
        ["id,age,region\n", "9,2,16\n1,5,12\n2,5,12\n"],
        ["id,age,region\n", "9,2,16\n", "1,5,12\n", "2,5,12\n"],
    ],
)
def test_the_category_line_is_no_record_and_is_not_released(tmp_path, pieces):
    path = tmp_path / "records.csv.gz"
    # Compressed files may be put together of several, which are then read one by one.
    path.write_bytes(b"".join(gzip.compress(piece.encode()) for piece in pieces))
    table = load_records(path, RecordReading(category_counts="yes"))
    regions = load_regions(write_regions(tmp_path, REGIONS))
    problem = build_problem(table, regions, region_column="region", quasi_identifiers=("age",), k=2)
    plan = build_plan(problem, solution_of(problem, 2))
    data = write_rows(plan, table, ReleaseOptions(shuffle=False), tmp_path)[1]
    code = plan.codes[plan.membership[1]]
    assert data == f"id,age,region\n1,5,{code}\n2,5,{code}\n".encode()


@pytest.mark.parametrize("release_format", ["csv", "parquet"])
@pytest.mark.parametrize(
    "encoding", ["shift-jis", "gbk", "koi8-r", "cp437", "mac-roman", "utf-16", "cp1251"]
)
def test_every_encoding_is_released_and_verified(tmp_path, encoding, release_format):
    word = {"shift-jis": "表示", "gbk": "表示", "koi8-r": "Ёлка", "cp1251": "Ёлка"}.get(encoding, "éß")
    rows = [[*row[:4], word if number % 3 else "=x,y"] for number, row in enumerate(random_rows(300))]
    path = tmp_path / "records.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([["name", "age", "sex", "region", "note"], *rows])
    case = load(
        path, write_regions(tmp_path), options=RecordReading(encoding=encoding, category_counts="no")
    )
    case.release(
        tmp_path / "out", ReleaseOptions(pdf=False, format=release_format, escape_formulas=True)
    )
    folder = tmp_path / "out" / "release"
    if release_format == "csv":
        written = (folder / "anonymized.csv").read_text(
            encoding=encoding if encoding == "cp1251" else "utf-8-sig"
        )
        released = list(csv.DictReader(io.StringIO(written, newline="")))
    else:
        released = pq.read_table(folder / "anonymized.parquet").to_pylist()
    notes = {row[0]: row[4].replace("=", "'=") for row in rows}
    assert len(released) > 200
    assert all(row["note"] == notes[row["name"]] for row in released)
