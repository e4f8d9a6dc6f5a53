"""What the ledger knows of a handover: the k that counts, the same records in another order, names of audiences, and
releases that are never replaced.
"""

from __future__ import annotations

import csv
import html
import json
import re
import shutil

import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_house import HEADER, check, people, rows_of, run, write

from vbas_desktop.cli.main import main
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.releases.ledger import similar_audience


def record(folder, out, *options, audience="Uni"):
    return main(["ledger", "record", str(folder / out), "--audience", audience, "--quiet", *options])


def fates(folder, out, k):
    walk = {
        row["initial_region"]: row["aggregated_region"]
        for row in rows_of(folder / out / "release/crosswalk.csv")
    }
    cells = [(walk[row["region"]], row["age"], row["sex"]) for row in rows_of(folder / "records.csv")]
    return [cell if cells.count(cell) >= k else None for cell in cells]


def exposed(one, other, k):
    """People in groups of fewer than k with the same fates, unless the first release has them so by itself."""
    both = list(zip(one, other, strict=True))
    few = {pair for pair in set(both) if both.count(pair) < k and pair != (None, None)}
    return sum(both.count(pair) for pair in few if pair[0] is None or one.count(pair[0]) >= k)


def test_a_second_release_with_a_smaller_k_is_judged_by_the_larger_one(house, capsys):
    """The first release left out cells of five to nineteen people; the second one lists them."""
    alone = ("--ledger", str(house / "k.json"))
    assert run(house, "strict", "--sites", "5", "-k", "20", *alone) == 0
    assert record(house, "strict", *alone) == 0
    assert run(house, "loose", "--sites", "5", *alone) == 1
    said = capsys.readouterr().err
    number = exposed(fates(house, "strict", 20), fates(house, "first", 5), 20)
    assert number > 0
    assert f"could single out {number:,} people" in said
    assert "fewer than 20 people" in said
    # The other way round, the larger cells of the second release divide nobody.
    other = ("--ledger", str(house / "other.json"))
    assert record(house, "first", *other) == 0
    assert exposed(fates(house, "first", 5), fates(house, "strict", 20), 20) == 0
    capsys.readouterr()
    run(house, "strict-again", "--sites", "5", "-k", "20", *other)
    assert "could single out" not in capsys.readouterr().err


def test_a_smaller_k_in_tiers_is_judged_by_the_larger_one(house, capsys):
    alone, tiers = ("--ledger", str(house / "k.json")), ("--tiers", "auto", "--tier-factor", "4")
    assert run(house, "strict", "--sites", "16", *tiers, "-k", "20", *alone) == 0
    assert record(house, "strict", *alone) == 0
    assert run(house, "loose", "--sites", "16", *tiers, *alone) == 1
    assert "fewer than 20 people" in capsys.readouterr().err


def test_the_largest_k_of_all_releases_counts_for_three_of_them(house, capsys):
    alone = ("--ledger", str(house / "k.json"))
    for name, k in (("first", "5"), ("strict", "20")):
        if name != "first":
            assert run(house, name, "--sites", "5", "-k", k, *alone, "--despite-ledger", "test") == 0
        assert record(house, name, *alone) == 0
    capsys.readouterr()
    assert run(house, "third", "--sites", "7", *alone) == 1
    assert "fewer than 20 people" in capsys.readouterr().err


def test_another_k_needs_a_reason_which_is_kept(house, capsys):
    alone = ("--ledger", str(house / "k.json"))
    assert run(house, "strict", "--sites", "5", "-k", "20", *alone) == 0
    assert record(house, "strict", *alone) == 0
    for given_options in (
        ("--ledger-k", "5"),
        ("--ledger-reason", "because"),
        ("--ledger-k", "5", "--ledger-reason", " "),
    ):
        assert run(house, "loose", "--sites", "5", *alone, *given_options) == 1
        assert "belong together" in capsys.readouterr().err
    lower = ("--ledger-k", "2", "--ledger-reason", "agreed with the board")
    code = run(house, "loose", "--sites", "5", *alone, *lower)
    assert "could single out" not in capsys.readouterr().err
    if code:
        assert run(house, "loose", "--sites", "5", *alone, *lower, "--despite-ledger", "agreed") == 0
    kept = json.loads((house / "loose" / "run.json").read_text())["ledger_check"]
    assert (kept["k"], kept["k_reason"]) == (2, "agreed with the board")
    page = html.unescape((house / "loose" / "internal" / "report.html").read_text())
    assert "Groups of 2 people were required instead of the largest k" in page
    assert "agreed with the board" in page
    assert "agreed with the board" not in (house / "loose" / "release" / "report.html").read_text()
    assert record(house, "loose", *alone) == 0
    assert main(["ledger", "list", *alone]) == 0
    assert "compared with k = 2: agreed with the board" in capsys.readouterr().out
    check(house, "first", *alone)
    assert json.loads(capsys.readouterr().out)["k"] == 20
    check(house, "first", *alone, "--ledger-k", "2")
    assert json.loads(capsys.readouterr().out)["k"] == 2


def shuffled(folder, name):
    """The same records in another order, with the columns in another order, too."""
    rows = [dict(zip(HEADER, row, strict=True)) for row in people(700, 1)]
    names = HEADER[::-1]
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows(
            [names, *([row[name] for name in names] for row in sorted(rows, key=str, reverse=True))]
        )
    return folder / name


def test_the_same_records_in_another_order_are_compared_as_such(house, capsys):
    shuffled(house, "sorted.csv")
    # Other regions can be compared only if the records are the same: with figures, not as another year.
    assert run(house, "second", "--sites", "7", "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "second") == 3
    (as_it_is,) = json.loads(capsys.readouterr().out)["compared_with"]
    assert run(house, "third", "--sites", "7", records="sorted.csv") == 1
    said = capsys.readouterr().err
    assert as_it_is["text"] in said
    assert as_it_is["people"] > 0
    assert "another record file" not in said
    # The same regions tell nothing new, and what is refused otherwise is accepted.
    assert run(house, "again", "--sites", "5", records="sorted.csv") == 0
    found = json.loads((house / "again" / "run.json").read_text())["ledger_check"]
    assert "Nobody is singled out" in found["compared_with"][0]["text"]
    # A release that was made from the file before it was sorted is checked with the sorted one.
    capsys.readouterr()
    assert check(house, "second", "--records", str(house / "sorted.csv")) == 3
    assert json.loads(capsys.readouterr().out)["compared_with"][0]["people"] == as_it_is["people"]


def test_the_same_records_as_parquet_are_known_again(house, capsys):
    table = pyarrow.csv.read_csv(house / "records.csv")
    pyarrow.parquet.write_table(table, house / "records.parquet")
    assert run(house, "second", "--sites", "7", records="records.parquet") == 1
    assert "another record file" not in capsys.readouterr().err


def test_a_release_that_was_sorted_is_known_as_what_a_further_one_is_made_from(house):
    released = house / "first" / "release"
    lines = (released / "anonymized.csv").read_text().splitlines(keepends=True)
    (house / "sorted.csv").write_text("".join([lines[0], *sorted(lines[1:])]))
    files = [str(house / "sorted.csv"), str(released / "aggregated_regions.geojson")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "3",
        "--range-reach",
        "0",
    ]
    out = ["--out", str(house / "joined"), "--quiet", "--no-pdf", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *out, "--audience", "Uni"]) == 0
    found = json.loads((house / "joined" / "run.json").read_text())["ledger_check"]
    assert "tells nothing that this audience does not have" in found["compared_with"][0]["text"]


ROWS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c"])] * 3), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None)
@given(one=ROWS, other=ROWS, order=st.randoms(use_true_random=False))
def test_rows_are_the_same_just_if_one_file_is_the_other_in_another_order(
    tmp_path_factory, one, other, order
):
    """Repeated rows count, and values have to be together in a row."""
    folder = tmp_path_factory.mktemp("rows")

    def hashed(rows):
        path = folder / "rows.csv"
        path.write_text("".join(f"{','.join(row)}\n" for row in [("x", "y", "z"), *rows]))
        return load_records(path).rows_hash

    moved = order.sample(one, len(one))
    assert hashed(one) == hashed(moved)
    assert (hashed(one) == hashed(other)) == (sorted(one) == sorted(other))


@pytest.mark.parametrize("name", ["The Uni", "U ni", "uni.", "Ùni", "U-N-I", "the  uni"])
def test_a_name_that_is_nearly_that_of_an_audience_is_asked_about(house, capsys, name):
    assert run(house, "second", "--sites", "7", "--audience", name) == 1
    said = capsys.readouterr().err
    assert f"The audience “{name}” is not in the ledger, but “Uni” is." in said
    assert "--audience Uni" in said
    assert "--new-audience" in said
    assert not (house / "second").exists()
    assert record(house, "first", audience=name) == 1
    assert "is not in the ledger, but “Uni” is." in capsys.readouterr().err
    assert run(house, "second", "--sites", "7", "--audience", name, "--new-audience") == 0
    assert record(house, "second", "--new-audience", audience=name) == 0
    # Now it is known.
    assert run(house, "third", "--sites", "7", "--audience", name) == 0


def test_export_and_check_ask_about_names_as_well(house, capsys):
    export = [
        "export",
        str(house / "first"),
        "--columns",
        "age,region",
        "--out",
        str(house / "less"),
        "--quiet",
    ]
    assert main([*export, "--audience", "The Uni"]) == 1
    assert "but “Uni” is" in capsys.readouterr().err
    assert main([*export, "--audience", "The Uni", "--new-audience"]) == 0
    asked = ["ledger", "check", str(house / "less"), "--quiet", "--audience"]
    assert main([*asked, "The Public"]) == 1
    assert "but “public” is" in capsys.readouterr().err
    assert main([*asked, "Registry"]) == 0


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("University of Albny", "University of Albany", True),
        ("University of the Arts", "university of arts", True),
        ("UNI", "Uni", False),
        (" uni ", "Uni", False),
        ("Registry", "Uni", False),
        ("Ward 1", "Ward 2", False),
        ("Team A", "Team B", False),
        ("", "Uni", False),
        ("publik", "Uni", True),
        ("Université", "Universite", True),
    ],
)
def test_names_are_similar_but_for_numbers(name, known, found):
    assert (similar_audience(name, [known]) is not None) == found


def state(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("named", [False, True], ids=["usual ledger", "named ledger"])
def test_a_release_that_the_ledger_has_is_never_replaced(house, capsys, named):
    ledger = ()
    if named:
        (house / "vbas-ledger.json").rename(house / "own.json")
        ledger = ("--ledger", str(house / "own.json"))
    before = state(house / "first")
    for options in (
        ("--sites", "5"),
        ("--sites", "5", "--despite-ledger", "x"),
        ("--audience", "Registry"),
    ):
        assert run(house, "first", *options, *ledger) == 1
        said = capsys.readouterr().err
        assert re.search(
            r"This folder holds release 1 \(handed to Uni on [\d-]+\), which the ledger records", said
        )
        assert "Choose another folder" in said
    export = ["export", str(house / "first"), "--quiet", *ledger, "--out"]
    assert main([*export, str(house / "first")]) == 1
    # By whatever path, and where it was moved or copied to.
    (house / "link").symlink_to(house / "first")
    assert main([*export, str(house / "link")]) == 1
    shutil.copytree(house / "first", house / "copy")
    assert main([*export, str(house / "copy")]) == 1
    assert state(house / "first") == before
    assert list(state(house / "copy").values()) == list(before.values())
    # Others are replaced as before, and an empty folder is filled.
    assert run(house, "second", "--sites", "5", *ledger) == 0
    assert run(house, "second", "--sites", "5", *ledger) == 0
    (house / "empty").mkdir()
    assert run(house, "empty", "--sites", "5", *ledger) == 0


def test_a_release_that_was_removed_from_the_ledger_is_replaced(house):
    assert main(["ledger", "remove", "1", "--ledger", str(house / "vbas-ledger.json"), "--quiet"]) == 0
    assert run(house, "first", "--sites", "5") == 0


def test_the_refusal_comes_before_anything_is_computed(house, capsys):
    """The record file is not even read: a damaged one makes no difference."""
    write(house / "records.csv", [["too", "few"]])
    assert run(house, "first", "--sites", "5") == 1
    assert "which the ledger records" in capsys.readouterr().err
    assert run(house, "other", "--sites", "5", "--audience", "The Uni") == 1
    assert "but “Uni” is" in capsys.readouterr().err


def join_regions(folder, out, source, sites, *options):
    """Make a release from what another one released, with its regions joined."""
    released = folder / source / "release"
    files = [str(released / "anonymized.csv"), str(released / "aggregated_regions.geojson")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        sites,
        "--range-reach",
        "0",
    ]
    ledger = ["--ledger", str(folder / "chain.json")]
    out = ["--out", str(folder / out), "--quiet", "--no-pdf", "--allow-column", "illness,since,age,sex"]
    return main(["run", *files, *chosen, *ledger, *out, *options])


def test_who_has_what_was_made_from_a_release_is_compared_as_if_they_had_that_one(house, capsys):
    chain = ("--ledger", str(house / "chain.json"))
    assert record(house, "first", *chain, audience="Lab") == 0
    assert join_regions(house, "joined", "first", "4") == 0
    assert record(house, "joined", *chain, audience="Office") == 0
    assert join_regions(house, "again", "joined", "3") == 0
    assert record(house, "again", *chain, audience="Press") == 0
    assert run(house, "second", "--sites", "7", *chain, "--audience", "Nobody") == 0
    found = {}
    for audience in ("Lab", "Office", "Press"):
        capsys.readouterr()
        command = [
            "ledger",
            "check",
            str(house / "second"),
            "--audience",
            audience,
            *chain,
            "--quiet",
            "--json",
        ]
        assert main(command) == 3
        (found[audience],) = json.loads(capsys.readouterr().out)["compared_with"]
    number = exposed(fates(house, "second", 5), fates(house, "first", 5), 5)
    assert number > 0
    assert {audience: each["people"] for audience, each in found.items()} == dict.fromkeys(found, number)
    # What is made from the last one of the chain adds nothing for those who have the first.
    capsys.readouterr()
    assert join_regions(house, "last", "again", "2", "--audience", "Lab") == 0
    told = json.loads((house / "last" / "run.json").read_text())["ledger_check"]
    assert "tells nothing that this audience does not have" in told["compared_with"][0]["text"]
