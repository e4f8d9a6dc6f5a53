"""Rows set from codes in memory are, byte for byte, the rows that are cut out of the record file."""

import hashlib
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from release_making import write_regions
from test_nasty_files import REGIONS, SETTINGS, nasty_files, solution_of

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records import row_order
from vbas_desktop.io.records.table import RecordOptions, load_records
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Silent
from vbas_desktop.model.records import Grouping
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.release.notation import released_notation
from vbas_desktop.release.plan import make_plan
from vbas_desktop.release.records import coded_writer, packed
from vbas_desktop.release.records.coded_writer import CodedRecords
from vbas_desktop.release.records.csv_writer import CsvRecords
from vbas_desktop.release.records.shuffle import order_key

CHOICES = [
    ReleaseOptions(),
    ReleaseOptions(shuffle_seed=3),
    ReleaseOptions(shuffle=False),
    ReleaseOptions(shuffle_seed=3, class_size="size", escape_formulas=True),
    ReleaseOptions(shuffle_seed=4, delimiter="|", columns=("note", "region")),
    ReleaseOptions(shuffle=False, columns=("note",), escape_formulas=True),
]


def planned(folder, data, groupings=(), **reading):
    (folder / "records.csv").write_bytes(data)
    table = load_records(folder / "records.csv", RecordOptions(**{"category_counts": "no", **reading}))
    problem = build_problem(
        table, load_regions(write_regions(folder, REGIONS)), region_column="region", quasi_identifiers=("age",), k=2,
        groupings=groupings,
    )  # fmt: skip
    return table, make_plan(problem, solution_of(problem, 3))


def both(plan, table, options, folder):
    """What each of the two writes, and what it says of it."""
    options = options.settled()
    canonical = released_notation(plan, table, options, Silent())
    answers = []
    for records in (
        CsvRecords(plan, table, options, canonical),
        CodedRecords(plan, table, options, canonical),
    ):
        out = io.BytesIO()
        answers.append((records.write(out, folder, Silent()), out.getvalue()))
    return answers


@settings(SETTINGS, max_examples=100)
@given(nasty_files(), st.sampled_from(CHOICES), st.booleans())
def test_both_ways_write_the_same_bytes(tmp_path_factory, nasty, options, grouped):
    folder = tmp_path_factory.mktemp("coded")
    groupings = [Grouping("age", {"5": "=low", "": "none"})] if grouped else []
    how = {"delimiter": nasty.delimiter, "encoding": nasty.encoding}
    table, plan = planned(folder, nasty.bytes, groupings, **how)
    assert CodedRecords.suits(plan, table, options)
    cut, coded = both(plan, table, options, folder)
    assert coded == cut


@pytest.mark.parametrize(
    ("encoding", "newline"),
    [
        ("utf-8-sig", "\n"),
        ("utf-8-sig", "\r"),
        ("utf-16", "\n"),
        ("utf-16", "\r\n"),
        ("latin-1", "\r"),
        ("cp1252", "\r\n"),
    ],
)
def test_marks_encodings_and_line_ends_are_kept(tmp_path, encoding, newline):
    rows = [f"{age},é{number % 5},{region}" for number, (age, region) in enumerate([("5", "12"), ("05", "0012")] * 40)]
    text = newline.join(["age,note,region", *rows, ""])
    table, plan = planned(tmp_path, text.encode(encoding))
    cut, coded = both(plan, table, ReleaseOptions(shuffle_seed=1), tmp_path)
    assert coded == cut
    assert len(coded[1].decode("utf-8" if encoding == "utf-16" else encoding).split(newline)) == 1 + 80 + 1


def test_many_blocks_and_chunks_give_the_same_order(tmp_path, monkeypatch):
    # 2.6 MB: several blocks of the file, several buckets, more values than fit into a byte.
    rows = [f"{number % 3},{number % 700} words and more words,{REGIONS[number % 2]}" for number in range(90_000)]
    table, plan = planned(tmp_path, "\n".join(["age,note,region", *rows, ""]).encode())
    monkeypatch.setattr(coded_writer, "CHUNK_ROWS", 1000)
    monkeypatch.setattr(packed, "ROOM_BYTES", 0)
    for options in (ReleaseOptions(shuffle_seed=1), ReleaseOptions(shuffle=False)):
        cut, coded = both(plan, table, options, tmp_path)
        assert coded == cut


def test_rows_stand_in_the_order_of_a_cryptographic_stream(tmp_path, monkeypatch):
    monkeypatch.setattr(row_order, "PIECE_ROWS", 128)
    rows = [f"{number % 3},note {number},{REGIONS[number % 2]}" for number in range(500)]
    table, plan = planned(tmp_path, "\n".join(["age,note,region", *rows, ""]).encode())
    options = ReleaseOptions(shuffle_seed="7").settled()
    cut, coded = both(plan, table, options, tmp_path)
    secret = order_key(plan, table, options)

    def key_of(number: int) -> int:
        piece, word = divmod(number, 128)
        stream = hashlib.shake_256(secret + piece.to_bytes(8, "little")).digest(128 * 8)
        return int.from_bytes(stream[8 * word : 8 * word + 8], "little")

    expected = [f"note {number}" for number in sorted(range(500), key=key_of)]
    for written in (cut, coded):
        assert [line.split(",")[1] for line in written[1].decode().splitlines()[1:]] == expected


def test_formulas_in_rewritten_and_grouped_columns_are_counted(tmp_path):
    rows = ["5, =1+1,12", "5,=1+1,12", "5,x ,12", "5,@a,12"]
    data = "\n".join(["age,note,region", *rows, ""]).encode()
    table, plan = planned(tmp_path, data, [Grouping("age", {"5": "+five"})])
    for written, _ in both(plan, table, ReleaseOptions(shuffle=False), tmp_path):
        assert written.formulas == {"age": 4, "note": 3}


def test_a_file_that_changed_since_it_was_loaded_is_refused(tmp_path):
    table, plan = planned(tmp_path, b"age,note,region\n5,a,12\n5,b,12\n")
    (tmp_path / "records.csv").write_bytes(b"age,note,region\n5,a,12\n5,c,12\n")
    with pytest.raises(InputError, match="changed since it was loaded"):
        CodedRecords(plan, table, ReleaseOptions(), {}).write(io.BytesIO(), tmp_path, Silent())


def test_what_does_not_fit_is_read_from_the_file(tmp_path, monkeypatch):
    table, plan = planned(tmp_path, b"age,note,region\n5,a,12\n5,b,12\n")
    assert not CodedRecords.suits(plan, table, ReleaseOptions(format="parquet"))
    monkeypatch.setattr(coded_writer, "MOST_VALUES", 3)
    assert not CodedRecords.suits(plan, table, ReleaseOptions())
    assert CodedRecords.suits(plan, table, ReleaseOptions(columns=("note", "region")))
    monkeypatch.setattr(coded_writer, "MOST_BYTES", 36)
    assert not CodedRecords.suits(plan, table, ReleaseOptions(columns=("note", "region", "age")))


@settings(max_examples=60, deadline=None)
@example([3, 3, 300, 5000, 40, 5000, 40, 5000, 1], 0, False)  # A field of one value after a full word.
@given(st.lists(st.sampled_from([1, 2, 3, 40, 300, 5000]), min_size=1, max_size=12), st.integers(0, 99), st.booleans())
def test_packed_rows_are_the_texts_of_their_codes(numbers, seed, tight):
    # Up to twelve fields of 5,000 values each: more bits than one number has.
    fields = [[f"{'x' * (code % 20)}{code};".encode() for code in range(number)] for number in numbers]
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, number, 50).astype(np.uint16) for number in numbers]
    order = draw.permutation(50)[:30].astype(np.int32)
    packing = packed.Packing(fields)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "ROOM_BYTES", 0 if tight else packed.ROOM_BYTES)
        text = packing.text(packing.packed(columns), order).tobytes()
    rows = (b"".join(texts[codes[row]] for texts, codes in zip(fields, columns, strict=True)) for row in order)
    assert text == b"".join(rows)
