"""`vbas outliers` on the worked examples: four ways to be rid of small classes, each verified by reading back."""

import contextlib
import csv
import gzip
import io
import json
import random
import re
import stat
from collections import Counter
from fractions import Fraction
from itertools import islice, product
from pathlib import Path
from string import ascii_uppercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from vbas_desktop.assessment.representability import handled_columns
from vbas_desktop.assessment.representability.made_up import typical_value
from vbas_desktop.assessment.representability.record_keys import make_keys
from vbas_desktop.cli.main import main
from vbas_desktop.io import written_rows as shuffling
from vbas_desktop.io.records import key_index
from vbas_desktop.io.records.row_order import RecordKeys
from vbas_desktop.io.records.table import load_records
from vbas_desktop.model.errors import InputError

DATA = Path(__file__).parents[1] / "data" / "parv"


@pytest.fixture
def levels(tmp_path):
    folder = tmp_path / "levels"
    folder.mkdir()
    sizes = [f"{n};{'1-5' if n <= 5 else '6-10'};1-10;*" for n in range(1, 11)]
    (folder / "Hh.csv").write_text("\n".join(sizes) + "\n")
    (folder / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n")
    return folder


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def handle(tmp_path, how, *more):
    target = tmp_path / f"{how}.csv"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", how, "--out", str(target), "--replace", "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *map(str, more)]) == 0
    return target


def recognised(capsys, released, *more):
    capsys.readouterr()
    common = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", "3", "--json", "--quiet"]
    assert main(["representability", str(DATA / "C2.csv"), str(released), *common, *map(str, more)]) == 0
    return json.loads(capsys.readouterr().out)["general"]["approaches"]


@pytest.mark.parametrize(("how", "records"), [("delete", 35), ("generalise", 40), ("merge", 40), ("fabricate", 47)])
def test_each_way_leaves_no_small_class_and_is_recognised(tmp_path, capsys, levels, how, records):
    released = handle(tmp_path, how, "--hierarchies", levels, "--key", "Key", "--sensitive", "Value")
    rows = rows_of(released)
    assert len(rows) == records
    assert min(Counter((row["Hh"], row["Job"]) for row in rows).values()) >= 3
    assert list(recognised(capsys, released, "--hierarchies", levels)) == [how]


def test_deleting_and_merging_give_the_published_tables(tmp_path):
    for how, number in (("delete", 5), ("merge", 6)):
        found = [(row["Key"], row["Hh"], row["Job"]) for row in rows_of(handle(tmp_path, how))]
        assert sorted(found) == sorted((row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / f"C{number}.csv"))


def made_up_rows(path, rows):
    """The rows that the file beside it names as made up, and the others."""
    custody = path.with_name(f"{path.stem}.made-up-rows.csv")
    assert stat.S_IMODE(custody.stat().st_mode) == 0o600
    heading, *numbers = custody.read_text().split()
    assert heading == "row"
    named = {int(number) - 2 for number in numbers}
    return [rows[n] for n in sorted(named)], [row for n, row in enumerate(rows) if n not in named]


def test_made_up_records_are_average_and_told_beside_the_file_only(tmp_path):
    target = handle(tmp_path, "fabricate", "--sensitive", "Value,Illness", "--key", "Key")
    rows = rows_of(target)
    source = rows_of(DATA / "C2.csv")
    assert list(rows[0]) == list(source[0])
    made_up, real = made_up_rows(target, rows)
    assert sorted(map(str, real)) == sorted(map(str, source))
    assert len(made_up) == 7
    assert len({row["Key"] for row in rows}) == 47
    # The whole file is the source, never the class, of which one patient may be all.
    mean = sum(float(row["Value"]) for row in source) / len(source)
    commonest = Counter(row["Illness"] for row in source).most_common(1)[0][0]
    for row in made_up:
        assert (row["Value"], row["Illness"]) == (f"{mean:.0f}", commonest)
        assert row["PSA"] in {r["PSA"] for r in source}
        assert len(row["Key"]) == 3


def test_made_up_records_do_not_repeat_the_value_of_a_lonely_patient(tmp_path):
    rows = [f"a,{20 + n % 3}" for n in range(20)] + ["b,77"]
    (tmp_path / "one.csv").write_text("q,v\n" + "\n".join(rows) + "\n")
    target = tmp_path / "out.csv"
    common = ["--quasi-identifiers", "q", "-k", "5", "--handle", "fabricate", "--sensitive", "v", "--quiet"]
    assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(target)]) == 0
    assert sorted(row["v"] for row in rows_of(target) if row["q"] == "b") == ["24", "24", "24", "24", "77"]


def test_made_up_records_take_sensitive_values_from_a_population(tmp_path, capsys):
    people = tmp_path / "people.csv"
    people.write_text("Illness,Value\n" + "No,60\n" * 3 + "Yes,63\n")
    more = ("--sensitive", "Value,Illness", "--key", "Key", "--population", people)
    target = handle(tmp_path, "fabricate", *more)
    made_up, _ = made_up_rows(target, rows_of(target))
    assert {(row["Value"], row["Illness"]) for row in made_up} == {("61", "No")}
    people.write_text("Illness,Value\nNo,60\n,61\nYes,\nNo,62\n")
    command = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "--handle", "fabricate", "--quiet"]
    new = ["--out", str(tmp_path / "new.csv"), "--key", "Key", "--population", str(people)]
    assert main([*command, *new, "--sensitive", "Value", "-k", "4"]) == 1
    said = capsys.readouterr().err
    assert "people.csv" in said
    assert "column “Value”: Fewer than 4 records have a value here" in said
    people.write_text("Illness,Value\n" + "ill,60\n" * 9)
    assert main([*command, *new, "--sensitive", "Illness", "-k", "3"]) == 1
    assert "column “Illness”: None of its values occurs in the records" in capsys.readouterr().err
    assert main([*command, *new, "--sensitive", "Age", "-k", "3"]) == 1
    assert "There is no column “Age”" in capsys.readouterr().err
    assert not (tmp_path / "new.csv").exists()
    assert main([*command, *new, "-k", "3"]) == 2
    assert "--population goes with --handle fabricate and --sensitive" in capsys.readouterr().err


def test_the_whole_file_needs_k_values_too(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("q,v\n" + "a,\n" * 8 + "a,3\na,4\nb,5\n")
    common = ["--quasi-identifiers", "q", "-k", "4", "--handle", "fabricate", "--sensitive", "v", "--quiet"]
    assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "out.csv")]) == 1
    assert "Fewer than 4 records have a value here" in capsys.readouterr().err


def test_a_population_is_never_the_target(tmp_path, capsys):
    people = tmp_path / "people.csv"
    people.write_text("Value\n" + "60\n" * 5)
    common = [
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--handle",
        "fabricate",
        "--key",
        "Key",
        "--sensitive",
        "Value",
    ]
    more = ["--population", str(people), "--out", str(people), "--replace", "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *more]) == 1
    assert people.read_text() == "Value\n" + "60\n" * 5


def test_keys_without_gaps_are_warned_of(tmp_path, capsys):
    handle(tmp_path, "fabricate", "--key", "Key", "--sensitive", "Value")
    assert "The keys are numbered without gaps" in capsys.readouterr().err


def test_no_column_gives_made_up_records_away(tmp_path, capsys):
    target = tmp_path / "out.csv"
    common = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", "fabricate"]
    assert main([*common, "--sensitive", "Value", "--out", str(target), "--quiet"]) == 1
    assert "column “Key”: Almost every record has a value of its own here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main([*common, "--sensitive", "Value", "--identifiers", "Key", "--out", str(target), "--quiet"]) == 0
    assert "Key" not in rows_of(target)[0]
    assert main([*common, "--identifiers", "Job", "--out", str(target), "--replace", "--quiet"]) == 1
    assert "so it can be nothing else" in capsys.readouterr().err


def test_made_up_records_stand_anywhere_and_an_old_list_does_not_stay(tmp_path):
    more = ("--sensitive", "Value", "--key", "Key")
    places, orders = Counter(), set()
    for _ in range(30):
        target = handle(tmp_path, "fabricate", *more)
        rows = rows_of(target)
        made_up, _ = made_up_rows(target, rows)
        places.update(rows.index(row) // 16 for row in made_up)
        orders.add(tuple(row["Key"] for row in rows))
    # 210 draws over three parts of the file: by chance all at the end has no place here.
    assert min(places.values()) > 30
    assert len(orders) == 30
    same = [handle(tmp_path, "fabricate", *more, "--shuffle-seed", "x").read_bytes() for _ in range(2)]
    assert same[0] == same[1]
    list_of_rows = tmp_path / "fabricate.made-up-rows.csv"
    assert list_of_rows.exists()
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--replace", "--quiet"]
    common += ["--out", str(tmp_path / "fabricate.csv")]
    assert main(["outliers", str(DATA / "C2.csv"), *common]) == 0
    assert not list_of_rows.exists()


@pytest.mark.parametrize(
    ("known", "form"),
    [
        ([str(n) for n in range(1, 41)], r"4[1-9]|50"),
        ([str(n) for n in range(1, 100)], r"10[0-9]"),
        ([str(n) for n in range(0, 400, 2)], r"[1-3]?[0-9]?[13579]"),
        (["AB-0017", "CX-9912", "QQ-4444"], r"[ACQ][BXQ]-[0-9]{4}"),
        (["=x1é", "=y2é"], r"=[a-z][1-9]é"),
        # Constant characters stay, and numbers are in the range of the real ones where there is room.
        ([f"PAT-{n:05d}-A" for n in range(100, 900, 3)], r"PAT-00[1-8][0-9]{2}-A"),
        ([f"H{n:04d}" for n in range(1, 50)], r"H00[56][0-9]"),
        (["3f-a0", "12-9c", "b7-e1", "0a-44"], r"[01b3][27af]-[49ae][014c]"),
    ],
)
def test_new_keys_have_the_pattern_of_the_old_ones(tmp_path, known, form):
    path = tmp_path / "keys.csv"
    path.write_text("key,q\n" + "".join(f"{key},a\n" for key in known))
    keys = list(islice(make_keys(load_records(path), "key", random.Random(1)), 10))
    assert len({*keys, *known}) == len(known) + 10
    assert [key for key in keys if not re.fullmatch(form, key)] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.from_regex(r"[A-Z]{0,2}[0-9]{1,3}x?", fullmatch=True), min_size=1, max_size=20, unique=True),
    st.integers(0, 2**32 - 1),
)
def test_new_keys_never_meet_a_real_one_nor_each_other(tmp_path_factory, known, seed):
    path = tmp_path_factory.mktemp("keys") / "keys.csv"
    path.write_text("key,q\n" + "".join(f"{key},a\n" for key in known))
    made = []
    with contextlib.suppress(InputError):
        made.extend(islice(make_keys(load_records(path), "key", random.Random(seed)), 30))
    assert len({*made, *known}) == len(made) + len(known)
    assert {len(key) for key in made} <= {len(key) for key in known} or all(key.isdigit() for key in known)


def test_keys_with_wide_gaps_are_filled_within_their_range(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("key,q\n10,a\n500000,a\n77,a\n")
    keys = list(islice(make_keys(load_records(path), "key", random.Random(1)), 50))
    assert [key for key in keys if not 10 < int(key) < 500_000] == []


@pytest.mark.parametrize("free", [["QXA"], ["AAA", "ZZZ"]])
def test_the_last_free_keys_of_letters_are_found(tmp_path, free):
    path = tmp_path / "keys.csv"
    every = ("".join(letters) for letters in product(ascii_uppercase, repeat=3))
    path.write_text("key,q\n" + "".join(f"{key},a\n" for key in every if key not in free))
    keys = make_keys(load_records(path), "key", random.Random(1))
    assert sorted(islice(keys, len(free))) == free
    with pytest.raises(InputError, match="their range is used up"):
        next(keys)


@pytest.mark.parametrize("known", [[f"#{n}" for n in range(10)], [f"{n}" for n in range(10, 100)], ["only"]])
def test_a_used_up_range_of_keys_is_refused(tmp_path, capsys, known):
    source = tmp_path / "keys.csv"
    source.write_text("key,q\n" + "".join(f"{key},{'b' if n == 0 else 'a'}\n" for n, key in enumerate(known)))
    common = ["--quasi-identifiers", "q", "-k", "3", "--handle", "fabricate", "--key", "key", "--quiet"]
    assert main(["outliers", str(source), *common, "--out", str(tmp_path / "out.csv")]) == 1
    assert "column “key”: There is no room for new keys" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("known", "last"),
    [
        ([f"{n}" for n in range(10, 99)], "99"),
        ([f"{n}" for n in range(10, 100) if n != 57], "57"),
        ([f"P{n}-x" for n in range(9)], "P9-x"),
        ([f"P{n}-x" for n in range(10) if n != 4], "P4-x"),
    ],
)
def test_the_last_free_key_is_used_once(tmp_path, capsys, known, last):
    source, target = tmp_path / "keys.csv", tmp_path / "out.csv"
    command = ["outliers", str(source), "--quasi-identifiers", "q", "-k", "3", "--handle", "fabricate"]
    command += ["--key", "key", "--quiet", "--replace", "--out", str(target)]

    def write_records(rare):
        values = [*"b" * rare, *"a" * (len(known) - rare)]
        source.write_text("key,q\n" + "".join(f"{key},{value}\n" for key, value in zip(known, values, strict=True)))

    write_records(rare=2)
    assert main(command) == 0
    made = target.read_text()
    assert sorted(line.split(",")[0] for line in made.splitlines()[1:]) == sorted([*known, last])
    assert f"{last},b" in made
    write_records(rare=1)
    assert main(command) == 1
    assert "column “key”: There is no room for new keys" in capsys.readouterr().err
    assert target.read_text() == made


def test_many_rows_are_shuffled_through_files(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "HELD_ROWS", 50)
    rows = [([str(n)], n % 7 == 0) for n in range(1000)]
    found = list(shuffling.shuffled(iter(rows), tmp_path, random.Random(3)))
    assert found != rows
    assert sorted(found) == sorted(rows)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "own", "value"),
    [
        ({"1": 3, "5": 1}, {"7": 1}, "2"),
        ({"1": 3, "5": 1}, {"1.50": 1, "2": 1}, "2.00"),
        ({"1e1": 1, "20": 2, "30": 3}, {"1e1": 1, "2e1": 2}, "2e1"),
        ({"yes": 2, "no": 2, "5": 1}, {"yes": 1, "no": 1}, "no"),
        ({"yes": 3, "no": 2}, {"no": 1}, "no"),
        ({"ill": 3}, {"yes": 1}, None),
        ({"1": 3}, {}, None),
    ],
)
def test_a_typical_value_is_the_mean_of_numbers_or_the_most_frequent_one_that_the_file_has(source, own, value):
    assert typical_value(Counter(source), Counter(own)) == value


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--handle", "delete", "--smallest-sample", "36"], "Only 35 records would remain"),
        (["--handle", "merge", "-k", "41"], "only 40 records"),
        (["--handle", "fabricate", "--key", "Nope"], "There is no column “Nope”"),
        (["--level-weights", "Hh=0.5/0.6"], "2 weights for 1 levels"),
        (["--level-weights", "Hh=0.5"], "add up to 0.5"),
        (["--level-weights", "Age=1"], "no weights of a quasi-identifier"),
        (["--hierarchies", str(DATA / "nowhere")], "no hierarchy for any quasi-identifier"),
        (["--distances", str(DATA)], "no table of distances for any quasi-identifier"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path, capsys, more, said):
    target = tmp_path / "out.csv"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--out", str(target), "--replace", "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *more]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_hierarchy_without_a_row_for_some_value_is_refused(tmp_path, capsys, levels):
    (levels / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\n")
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--hierarchies", str(levels)]
    target = tmp_path / "out.csv"
    assert main(["outliers", str(DATA / "C1.csv"), *common, "--handle", "generalise", "--out", str(target)]) == 1
    said = capsys.readouterr().err
    assert "column “Job”: The hierarchy has no row for 1 value of the records (first in row" in said
    assert "Add a row value;level1;level2 for each of them." in said
    assert not target.exists()


def test_without_a_target_the_outliers_are_counted(capsys):
    assert main(["outliers", str(DATA / "C1.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]) == 0
    assert "have fewer than 3" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_parquet_files_are_handled_and_written_in_the_form_that_the_name_says(tmp_path, ending):
    table = arrow_csv.read_csv(DATA / "C2.csv", convert_options=arrow_csv.ConvertOptions(strings_can_be_null=False))
    parquet.write_table(table, tmp_path / "C2.parquet")
    target = tmp_path / f"merged.{ending}"
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", "merge", "--out", str(target), "--quiet"]
    assert main(["outliers", str(tmp_path / "C2.parquet"), *common]) == 0
    rows = parquet.read_table(target).to_pylist() if ending == "parquet" else rows_of(target)
    found = sorted((row["Key"], row["Hh"], row["Job"]) for row in rows)
    assert found == sorted((row["Key"], row["Hh"], row["Job"]) for row in rows_of(DATA / "C6.csv"))


def test_fewer_than_k_records_are_neither_counted_nor_given_away(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("id,q\n" + "".join(f"{n},{'b' if n < 2 else 'a'}\n" for n in range(20)))
    for how in ("delete", "fabricate"):
        common = ["--quasi-identifiers", "q", "-k", "5", "--handle", how, "--key", "id", "--quiet"]
        assert (
            main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "out.csv"), "--replace"]) == 0
        )
        said = capsys.readouterr().out
        assert "fewer than 5 records are in classes that have fewer than 5" in said
        assert "made up" not in said
        assert "20 records" not in said
    common = ["--quasi-identifiers", "q", "-k", "5", "--handle", "delete", "--smallest-sample", "19", "--quiet"]
    assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "new.csv")]) == 1
    said = capsys.readouterr().err
    assert "Not enough records would remain, fewer than 19" in said
    assert "18" not in said


def test_given_distances_decide_what_small_classes_are_merged_with(tmp_path):
    jobs = ["Self", "Employee", "House", "Retired"]
    near = {frozenset(("House", "Retired")): "0.1"}
    lines = [f"{a};" + ";".join("0" if a == b else near.get(frozenset((a, b)), "1") for b in jobs) for a in jobs]
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    plain, given = (handle(tmp_path, "merge", *more) for more in ((), ("--distances", tmp_path / "near")))
    assert plain == given
    retired = Counter((row["Hh"], row["Job"]) for row in rows_of(given))
    # The two retired of four go to the households of four (0.1) rather than to the retired of three (0.2).
    assert ("4", "Retired") not in retired
    assert retired["3", "Retired"] == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formulas_are_escaped_in_names_and_values(tmp_path, ending):
    records = tmp_path / "records.csv"
    records.write_text("=cell,@sex\n" + "=1+1,M\n-2.5,M\n+x,M\n" * 6)
    command = ["outliers", str(records), "--quasi-identifiers", "=cell,@sex", "-k", "3", "--quiet", "--out"]
    written = {}
    for escape in ([], ["--escape-formulas"]):
        target = tmp_path / f"out{len(escape)}.{ending}"
        assert main([*command, str(target), *escape]) == 0
        table = arrow_csv.read_csv(target) if ending == "csv" else parquet.read_table(target)
        written[len(escape)] = (table.column_names, set(table.column(0).cast("string").to_pylist()))
    assert written[0] == (["=cell", "@sex"], {"=1+1", "-2.5", "+x"})
    assert written[1] == (["'=cell", "'@sex"], {"'=1+1", "-2.5", "'+x"})


LEVELS = DATA.parents[2] / "docs" / "examples" / "household" / "levels"
C7 = ("--start-level", "Hh=1", "--hierarchies", LEVELS, "--aggregate", "Value")


def test_c7_comes_out_of_c2_with_means_in_classes_below_ten(tmp_path):
    target = handle(tmp_path, "generalise", *C7)
    assert sorted(map(str, rows_of(target))) == sorted(map(str, rows_of(DATA / "C7.csv")))
    counts = rows_of(tmp_path / "generalise.class_counts.csv")
    assert [(row["Hh"], row["Job"], int(row["records"])) for row in counts] == [
        ("1-5", "Employee", 11),
        ("1-5", "House", 14),
        ("1-5", "Retired", 6),
        ("1-5", "Self", 6),
        ("6-10", "***", 3),
    ]
    means = {(row["Hh"], row["Job"]): row["Value"] for row in rows_of(target)}
    assert [means[key] for key in (("1-5", "Retired"), ("1-5", "Self"), ("6-10", "***"))] == ["40.16", "39", "44"]


def test_all_classes_have_the_means_of_table_6_10(tmp_path):
    target = handle(tmp_path, "generalise", *C7[:-1], "Value,Illness", "--aggregate-classes", "all")
    assert {(row["Hh"], row["Job"], row["Value"], row["Illness"]) for row in rows_of(target)} == {
        ("1-5", "Employee", "40.18", "Yes"),
        ("1-5", "House", "38.78", "Yes"),
        ("1-5", "Retired", "40.16", "Yes"),
        ("1-5", "Self", "39", "Yes"),
        ("6-10", "***", "44", "Yes"),
    }


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("how", ["delete", "merge", "fabricate"])
def test_every_key_leads_back_to_its_record(tmp_path, how, ending):
    unwanted = tmp_path / "unwanted.csv"
    unwanted.write_text("Hh,Job\n5,House\n3,Retired\n")
    target = tmp_path / f"keyed.{ending}"
    command = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", how]
    more = ["--record-key", "pseudonym", "--drop-records", str(unwanted), "--key", "Key", "--quiet"]
    assert main([*command, *more, "--out", str(target)]) == 0
    rows = parquet.read_table(target).to_pylist() if ending == "parquet" else rows_of(target)
    index = tmp_path / "keyed.index.csv"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    listed = {row["record_key"]: row for row in rows_of(index)}
    assert list(listed) == sorted(row["pseudonym"] for row in rows)
    assert all(re.fullmatch("[A-Z2-7]{16}", key) for key in listed)
    source = rows_of(DATA / "C2.csv")
    made_up = []
    for row in rows:
        entry = listed[row["pseudonym"]]
        if entry["record"]:
            original = source[int(entry["record"]) - 1]
            assert int(entry["row"]) == int(entry["record"]) + 1
            assert [row[name] for name in ("Key", "PSA", "Illness", "Value")] == [
                original[name] for name in ("Key", "PSA", "Illness", "Value")
            ]
        else:
            assert entry["row"] == ""
            made_up.append(row["Key"])
    # Not even the key of a record that the filter leaves out.
    assert not {row["Key"] for row in source}.intersection(made_up)
    assert bool(made_up) == (how == "fabricate")


@pytest.mark.parametrize("form", ["utf-16", "latin-1", "gzip"])
def test_keys_and_aggregated_values_of_files_in_other_forms_are_verified(tmp_path, form):
    """Quotes, line breaks, blanks, commas and accents in values, as the auditor reads them again."""
    stream = io.StringIO(newline="")
    rows = [(f'"{n}"\nline', "é" if n == 59 else "ab"[n % 2], f"{n % 5},5", f" x{n % 3} ") for n in range(60)]
    csv.writer(stream, delimiter=";", lineterminator="\r\n").writerows([("name", "q", "v", "w"), *rows])
    text = stream.getvalue()
    source = tmp_path / ("records.csv.gz" if form == "gzip" else "records.csv")
    source.write_bytes(gzip.compress(text.encode()) if form == "gzip" else text.encode(form))
    command = ["outliers", str(source), "--quasi-identifiers", "q", "-k", "5", "--handle", "fabricate", "--key", "name"]
    more = ["--aggregate", "v,w", "--aggregate-classes", "below:6", "--record-key", "--quiet"]
    encoding = [] if form == "gzip" else ["--encoding", form]
    assert main([*command, *more, *encoding, "--out", str(tmp_path / "out.csv")]) == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as written:
        found = list(csv.DictReader(written, delimiter=";"))
    with (tmp_path / "out.index.csv").open(newline="") as index:
        lines = {row["record_key"]: row["row"] for row in csv.DictReader(index)}
    assert len(found) == 64
    assert len({(row["v"], row["w"]) for row in found if row["q"] == "é"}) == 1
    # A record of two lines begins on every second line, after the names.
    assert {row["name"]: lines[row["record_key"]] for row in found if lines[row["record_key"]]} == {
        name: str(2 * n + 2) for n, (name, *_) in enumerate(rows)
    }


def test_keys_differ_on_every_run_unless_a_seed_is_given(tmp_path):
    def keys(*more):
        return {row["key"] for row in rows_of(handle(tmp_path, "merge", "--record-key", "key", *more))}

    drawn = [keys() for _ in range(3)]
    assert len(set.union(*drawn)) == 120
    assert keys("--shuffle-seed", "x") == keys("--shuffle-seed", "x")
    assert not keys("--shuffle-seed", "x") & keys("--shuffle-seed", "y")
    # Files that differ in what they hold cannot be joined by their keys, even with the same seed.
    assert not keys("--shuffle-seed", "x") & keys("--shuffle-seed", "x", "--identifiers", "PSA")


def test_keys_do_not_change_the_order_of_the_rows(tmp_path):
    plain = [row["Key"] for row in rows_of(handle(tmp_path, "merge", "--shuffle-seed", "x"))]
    keyed = [row["Key"] for row in rows_of(handle(tmp_path, "merge", "--shuffle-seed", "x", "--record-key"))]
    assert plain == keyed


@pytest.mark.parametrize("below", [None, 4, 6])
@pytest.mark.parametrize("escape", [[], ["--escape-formulas"]])
def test_aggregated_values_of_a_filled_file_are_those_of_all_its_records(tmp_path, below, escape):
    """The same seed gives the same rows, so a file without aggregation tells what must be in the other one."""
    lines = [f"{'abcd'[n % 4]},{n % 3}.{n % 2},{'=x' if n % 3 else '-y'}" for n in range(20)] + ["=e,9,z", "f,,"]
    (tmp_path / "some.csv").write_text("q,v,w\n" + "\n".join(lines) + "\n")
    command = ["outliers", str(tmp_path / "some.csv"), "--quasi-identifiers", "q", "-k", "3", "--handle", "fabricate"]
    command += ["--shuffle-seed", "x", "--quiet", *escape]
    classes = "all" if below is None else f"below:{below}"
    assert main([*command, "--out", str(tmp_path / "plain.csv")]) == 0
    more = ["--aggregate", "v,w", "--aggregate-classes", classes, "--record-key", "key"]
    assert main([*command, *more, "--out", str(tmp_path / "one.csv")]) == 0
    plain, one = rows_of(tmp_path / "plain.csv"), rows_of(tmp_path / "one.csv")
    assert len(plain) == len(one) == 26
    for before, after in zip(plain, one, strict=True):
        members = [row for row in plain if row["q"] == before["q"]]
        expected = before["v"], before["w"]
        if below is None or len(members) < below:
            values = [Fraction(row["v"]) for row in members if row["v"]]
            digits = 10 ** (2 + max([len(row["v"].partition(".")[2]) for row in members if row["v"]], default=0))
            mean = f"{float(int(sum(values) / len(values) * digits) / digits):.3f}".rstrip("0").rstrip(".")
            texts = Counter(row["w"] for row in members if row["w"])
            expected = mean, min(text for text in texts if texts[text] == max(texts.values()))
        assert (after["v"], after["w"]) == expected
    sizes = Counter(row["q"] for row in one)
    assert {row["q"]: int(row["records"]) for row in rows_of(tmp_path / "one.class_counts.csv")} == sizes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--record-key", "PSA"], "column “PSA”: A column of the records has this name"),
        (["--record-key", " "], "The added column with a key of each record has no name"),
        (["--aggregate", "Job"], "column “Job”: Quasi-identifiers, keys and identifiers cannot be aggregated"),
        (["--aggregate", "Key", "--key", "Key"], "Quasi-identifiers, keys and identifiers cannot be aggregated"),
        (["--aggregate", "PSA", "--identifiers", "PSA"], "Quasi-identifiers, keys and identifiers cannot be"),
        (["--aggregate", "Nothing"], "There is no column “Nothing”"),
        (["--aggregate", "Value", "--aggregate-classes", "below:1"], "does not say in which classes"),
    ],
)
def test_columns_that_cannot_be_added_or_aggregated_are_refused(tmp_path, capsys, options, said):
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--out", str(tmp_path / "out.csv"), "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *options]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_files_beside_the_target_are_replaced_only_if_asked_and_outdated_ones_removed(tmp_path, capsys):
    target = tmp_path / "out.csv"
    command = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
    both = ["--record-key", "key", "--aggregate", "Value"]
    for name in ("out.index.csv", "out.class_counts.csv"):
        (tmp_path / name).write_text("mine\n")
        assert main([*command, *both, "--out", str(target)]) == 1
        assert "There is a file with this name already" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == "mine\n"
        (tmp_path / name).unlink()
    assert main([*command, *both, "--out", str(target)]) == 0
    names = {"out.csv", "out.index.csv", "out.class_counts.csv"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert main([*command, "--out", str(target), "--replace"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    (tmp_path / "out.index.csv").write_text("mine\n")
    assert main([*command, "--out", str(target), "--replace"]) == 0
    assert (tmp_path / "out.index.csv").read_text() == "mine\n"


@pytest.mark.parametrize("damage", ["swapped", "short", "twice", "elsewhere", "made up"])
def test_an_index_that_does_not_lead_back_is_not_verified(tmp_path, monkeypatch, capsys, damage):
    written = key_index.write_key_index

    def write_damaged(path, *more):
        written(path, *more)
        head, one, two, *rest = path.read_text().splitlines()
        if damage == "swapped":
            one, two = (f"{a.split(',')[0]},{b.split(',', 1)[1]}" for a, b in ((one, two), (two, one)))
        elif damage == "twice":
            two = f"{one.split(',')[0]},{two.split(',', 1)[1]}"
        elif damage == "elsewhere":
            one = f"{one.split(',')[0]},100000,100001"
        elif damage == "made up":
            one = f"{one.split(',')[0]},,"
        path.write_text("\n".join([head, one, *([] if damage == "short" else [two]), *rest]) + "\n")

    monkeypatch.setattr(handled_columns, "write_key_index", write_damaged)
    assert fails_verification(tmp_path, "--record-key", "key")
    assert "key" in capsys.readouterr().err


def fails_verification(folder, *more):
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", "merge", "--quiet"]
    code = main(["outliers", str(DATA / "C2.csv"), *common, "--out", str(folder / "out.csv"), *more])
    return code == 3 and list(folder.iterdir()) == []


@pytest.mark.parametrize("damage", ["equal", "lower case"])
def test_keys_of_another_form_or_twice_are_not_verified(tmp_path, monkeypatch, damage):
    of_rows = RecordKeys.of_rows

    def make_damaged(self, rows):
        keys = of_rows(self, rows).copy()
        if damage == "equal":
            keys[1] = keys[0]
        else:
            keys[0, 0] = ord("a")
        return keys

    monkeypatch.setattr(RecordKeys, "of_rows", make_damaged)
    assert fails_verification(tmp_path, "--record-key", "key")


@pytest.mark.parametrize("damage", ["mean", "category", "count", "plain"])
def test_another_value_or_number_is_not_verified(tmp_path, monkeypatch, damage):
    if damage == "mean":
        monkeypatch.setattr(handled_columns, "mean_text", lambda values: "40")
    elif damage == "category":
        monkeypatch.setattr(handled_columns, "most_frequent", lambda values: min(text for text, _ in values))
    elif damage == "count":
        counts = handled_columns.AggregatedColumns.write_counts

        def write_damaged(self, path):
            counts(self, path)
            path.write_text(path.read_text().replace(",3\n", ",4\n", 1))

        monkeypatch.setattr(handled_columns.AggregatedColumns, "write_counts", write_damaged)
    else:
        monkeypatch.setattr(handled_columns.AggregatedColumns, "aggregate", lambda self, row: row)
    assert fails_verification(tmp_path, "--aggregate", "Value,PSA")


def test_a_row_that_was_written_into_another_large_class_is_not_verified(tmp_path, monkeypatch):
    header = (DATA / "C2.csv").read_text().splitlines()[0].split(",")
    places = [header.index("Hh"), header.index("Job")]
    last: list[list[str]] = []

    def write_the_class_of_the_last_row(self, row):
        values = [row[place] for place in places]
        if not last:
            last.append(values)
        elif len(last) == 1 and values != last[0]:
            for place, value in zip(places, last[0], strict=True):
                row[place] = value
            last.append(values)
        return row

    monkeypatch.setattr(handled_columns.AggregatedColumns, "aggregate", write_the_class_of_the_last_row)
    target = tmp_path / "out.csv"
    command = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "-k", "2", "--handle", "merge"]
    # With this seed the row comes from a class of more than k records, so that no class becomes too small.
    assert main([*command, "--quiet", "--shuffle-seed", "1", "--out", str(target)]) == 3
    assert list(tmp_path.iterdir()) == []
    assert last[1] != ["4", "Retired"]
