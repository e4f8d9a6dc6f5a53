"""`vbas outliers --handle fabricate`: made-up records and their keys, and that nothing gives them away."""

import contextlib
import random
import re
from collections import Counter
from itertools import islice, product
from string import ascii_uppercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outliers_command import DATA, handle, made_up_rows, rows_of

from vbas_desktop.analysis.outliers.synthetic_keys import generate_keys
from vbas_desktop.analysis.outliers.synthetic_rows import choose_typical_value
from vbas_desktop.cli.main import main
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError


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
    common = [
        "--quasi-identifiers",
        "q",
        "-k",
        "5",
        "--handle",
        "fabricate",
        "--sensitive",
        "v",
        "--quiet",
    ]
    assert main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(target)]) == 0
    assert sorted(row["v"] for row in rows_of(target) if row["q"] == "b") == [
        "24",
        "24",
        "24",
        "24",
        "77",
    ]


def test_made_up_records_take_sensitive_values_from_a_population(tmp_path, capsys):
    people = tmp_path / "people.csv"
    people.write_text("Illness,Value\n" + "No,60\n" * 3 + "Yes,63\n")
    more = ("--sensitive", "Value,Illness", "--key", "Key", "--population", people)
    target = handle(tmp_path, "fabricate", *more)
    made_up, _ = made_up_rows(target, rows_of(target))
    assert {(row["Value"], row["Illness"]) for row in made_up} == {("61", "No")}
    people.write_text("Illness,Value\nNo,60\n,61\nYes,\nNo,62\n")
    command = [
        "outliers",
        str(DATA / "C2.csv"),
        "--quasi-identifiers",
        "Hh,Job",
        "--handle",
        "fabricate",
        "--quiet",
    ]
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
    common = [
        "--quasi-identifiers",
        "q",
        "-k",
        "4",
        "--handle",
        "fabricate",
        "--sensitive",
        "v",
        "--quiet",
    ]
    assert (
        main(["outliers", str(tmp_path / "one.csv"), *common, "--out", str(tmp_path / "out.csv")]) == 1
    )
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
    common = [
        "outliers",
        str(DATA / "C2.csv"),
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--handle",
        "fabricate",
    ]
    assert main([*common, "--sensitive", "Value", "--out", str(target), "--quiet"]) == 1
    assert "column “Key”: Almost every record has a value of its own here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert (
        main([*common, "--sensitive", "Value", "--identifiers", "Key", "--out", str(target), "--quiet"])
        == 0
    )
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
    keys = list(islice(generate_keys(load_records(path), "key", random.Random(1)), 10))
    assert len({*keys, *known}) == len(known) + 10
    assert [key for key in keys if not re.fullmatch(form, key)] == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.from_regex(r"[A-Z]{0,2}[0-9]{1,3}x?", fullmatch=True), min_size=1, max_size=20, unique=True
    ),
    st.integers(0, 2**32 - 1),
)
def test_new_keys_never_meet_a_real_one_nor_each_other(tmp_path_factory, known, seed):
    path = tmp_path_factory.mktemp("keys") / "keys.csv"
    path.write_text("key,q\n" + "".join(f"{key},a\n" for key in known))
    made = []
    with contextlib.suppress(InputError):
        made.extend(islice(generate_keys(load_records(path), "key", random.Random(seed)), 30))
    assert len({*made, *known}) == len(made) + len(known)
    assert {len(key) for key in made} <= {len(key) for key in known} or all(
        key.isdigit() for key in known
    )


def test_keys_with_wide_gaps_are_filled_within_their_range(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("key,q\n10,a\n500000,a\n77,a\n")
    keys = list(islice(generate_keys(load_records(path), "key", random.Random(1)), 50))
    assert [key for key in keys if not 10 < int(key) < 500_000] == []


@pytest.mark.parametrize("free", [["QXA"], ["AAA", "ZZZ"]])
def test_the_last_free_keys_of_letters_are_found(tmp_path, free):
    path = tmp_path / "keys.csv"
    every = ("".join(letters) for letters in product(ascii_uppercase, repeat=3))
    path.write_text("key,q\n" + "".join(f"{key},a\n" for key in every if key not in free))
    keys = generate_keys(load_records(path), "key", random.Random(1))
    assert sorted(islice(keys, len(free))) == free
    with pytest.raises(InputError, match="their range is used up"):
        next(keys)


@pytest.mark.parametrize(
    "known", [[f"#{n}" for n in range(10)], [f"{n}" for n in range(10, 100)], ["only"]]
)
def test_a_used_up_range_of_keys_is_refused(tmp_path, capsys, known):
    source = tmp_path / "keys.csv"
    source.write_text(
        "key,q\n" + "".join(f"{key},{'b' if n == 0 else 'a'}\n" for n, key in enumerate(known))
    )
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
        source.write_text(
            "key,q\n" + "".join(f"{key},{value}\n" for key, value in zip(known, values, strict=True))
        )

    write_records(rare=2)
    assert main(command) == 0
    made = target.read_text()
    assert sorted(line.split(",")[0] for line in made.splitlines()[1:]) == sorted([*known, last])
    assert f"{last},b" in made
    write_records(rare=1)
    assert main(command) == 1
    assert "column “key”: There is no room for new keys" in capsys.readouterr().err
    assert target.read_text() == made


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
def test_a_typical_value_is_the_mean_of_numbers_or_the_most_frequent_one_that_the_file_has(
    source, own, value
):
    assert choose_typical_value(Counter(source), Counter(own)) == value
