"""`vbas ledger` and the check at every export: what singles people out is refused, what is offered instead is not."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import stat

import numpy as np
import pytest
from release_making import write_regions

from vbas_desktop.cli.main import main

HEADER = ["name", "age", "sex", "region", "illness", "since"]


def people(number: int, seed: int) -> list[list[str]]:
    """Records with enough other columns to know a person again by them."""
    draw = np.random.default_rng(seed)
    return [
        [
            f"person-{seed}-{row}",
            f"{10 * draw.integers(1, 5)}-year",
            ("female", "male")[draw.integers(2)],
            f"r{draw.integers(16)}",
            f"illness-{draw.integers(8)}",
            f"since-{draw.integers(12)}",
        ]
        for row in range(number)
    ]


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


@pytest.fixture
def house(tmp_path):
    """A record file, a region file and a first release that was handed over."""
    write(tmp_path / "records.csv", people(700, 1))
    write_regions(tmp_path)
    assert run(tmp_path, "first", "--sites", "5") == 0
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    return tmp_path


def run(folder, out, *options, records="records.csv", quasi="age,sex"):
    chosen = ["--region-column", "region", "--quasi-identifiers", quasi, "-k", "5", "--quiet", "--no-pdf"]
    files = [str(folder / records), str(folder / "regions.csv")]
    allowed = ["--allow-column", "illness,since,age,sex", "--range-reach", "0", "--site-location", "density"]
    out = ["--out", str(folder / out)]
    return main(["run", *files, *chosen, "--identifiers", "name", *allowed, *out, *options])


def check(folder, out, *options):
    return main(["ledger", "check", str(folder / out), "--audience", "Uni", "--quiet", "--json", *options])


def test_other_regions_of_the_same_records_are_refused_with_figures_and_ways_out(house, capsys):
    assert run(house, "second", "--sites", "7") == 1
    said = capsys.readouterr().err
    assert re.search(r"release 1 \(handed to Uni on \d{4}-\d\d-\d\d\) as well could single out \d+ people", said)
    assert f"vbas export {house / 'first'}" in said
    assert not (house / "second").exists()


def test_another_set_of_quasi_identifiers_is_refused(house, capsys):
    assert run(house, "second", "--sites", "5", quasi="age,illness") == 1
    assert "could single out" in capsys.readouterr().err


def test_the_figure_is_the_number_of_people_with_fates_of_their_own(house, capsys):
    assert run(house, "second", "--sites", "7", "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "second") == 3
    told = json.loads(capsys.readouterr().out)

    def cells(out):
        with (house / out / "release" / "crosswalk.csv").open() as file:
            place = {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}
        with (house / "records.csv").open() as file:
            rows = [(place[row["region"]], row["age"], row["sex"]) for row in csv.DictReader(file)]
        return [cell if rows.count(cell) >= 5 else None for cell in rows]

    fates = list(zip(cells("first"), cells("second"), strict=True))
    few = {fate for fate in set(fates) if fates.count(fate) < 5 and fate != (None, None)}
    assert told["compared_with"][0]["people"] == sum(fates.count(fate) for fate in few) > 0


def test_what_is_offered_instead_is_accepted(house, capsys):
    first = str(house / "first")
    extract = ["export", first, "--columns", "age,sex,region,illness", "--out", str(house / "extract"), "--quiet"]
    assert main(extract) == 0
    assert main(["export", first, "--columns", "age,region,illness", "--out", str(house / "less"), "--quiet"]) == 0
    assert run(house, "again", "--sites", "5") == 0
    released = house / "first" / "release"
    files = [str(released / "anonymized.csv"), str(released / "aggregated_regions.geojson")]
    chosen = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--sites", "3", "--range-reach", "0"]
    more = ["--ledger", str(house / "vbas-ledger.json"), "--audience", "Uni", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *more, "--out", str(house / "joined"), "--quiet", "--no-pdf"]) == 0
    found = json.loads((house / "joined" / "run.json").read_text())["ledger_check"]
    assert found["safe"]
    assert "tells nothing that this audience does not have" in found["compared_with"][0]["text"]
    capsys.readouterr()
    for name in ("extract", "less", "again"):
        assert main(["ledger", "record", str(house / name), "--audience", "Uni", "--quiet"]) == 0
        assert check(house, "again") == 0
    assert run(house, "second", "--sites", "7") == 1


def test_joined_regions_are_a_function_of_what_was_handed_over(house):
    """Attacked again: every region of the new file is a union of earlier ones, with the earlier rows and no others."""
    released = house / "first" / "release"
    files = [str(released / "anonymized.csv"), str(released / "aggregated_regions.geojson")]
    chosen = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--sites", "2", "--range-reach", "0"]
    out = ["--out", str(house / "joined"), "--quiet", "--no-pdf", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *out, "--ledger", str(house / "vbas-ledger.json")]) == 0

    def rows(path):
        with path.open() as file:
            return list(csv.DictReader(file))

    into = {
        row["initial_region"]: row["aggregated_region"] for row in rows(house / "joined" / "release" / "crosswalk.csv")
    }
    before, after = rows(released / "anonymized.csv"), rows(house / "joined" / "release" / "anonymized.csv")
    moved = sorted(tuple({**row, "region": into[row["region"]]}.items()) for row in before)
    assert moved == sorted(tuple(row.items()) for row in after)


def test_another_audience_is_compared_with_its_own_releases_and_with_public_ones(house):
    assert run(house, "second", "--sites", "7", "--audience", "Registry") == 0
    assert run(house, "third", "--sites", "7", "--audience", "public") == 1
    assert run(house, "fourth", "--sites", "7", "--audience", " uni ") == 1


def test_a_reason_lets_it_through_and_is_kept(house, capsys):
    assert run(house, "second", "--sites", "7", "--audience", "Uni", "--despite-ledger", "the first was destroyed") == 0
    kept = json.loads((house / "second" / "run.json").read_text())["ledger_check"]
    assert not kept["safe"]
    assert kept["override"] == "the first was destroyed"
    assert main(["ledger", "record", str(house / "second"), "--audience", "Uni", "--quiet"]) == 0
    assert main(["ledger", "list", "--ledger", str(house / "vbas-ledger.json")]) == 0
    assert "despite the ledger: the first was destroyed" in capsys.readouterr().out
    # Those who are exposed now are not held against the same release once more.
    assert run(house, "second-again", "--sites", "7") == 0


def test_newcomers_of_the_next_year_are_found(house, capsys):
    write(house / "next.csv", [*people(700, 1), *people(30, 2)])
    assert run(house, "next", "--sites", "5", records="next.csv") == 1
    said = capsys.readouterr().err
    assert re.search(r"could tell \d+ people who came or went since then", said)
    number = int(re.search(r"could tell (\d+) people", said)[1])
    assert 25 <= number <= 30


def test_the_same_people_in_another_order_are_no_newcomers(house):
    write(house / "next.csv", people(700, 1)[::-1])
    assert run(house, "next", "--sites", "5", records="next.csv") == 0


def test_one_who_was_exchanged_for_another_is_found(house, capsys):
    rows = people(700, 1)
    rows[0][4] = f"illness-{(int(rows[0][4][-1]) + 1) % 8}"
    write(house / "next.csv", rows)
    assert run(house, "next", "--sites", "5", records="next.csv") == 1
    assert "could tell 2 people" in capsys.readouterr().err


def test_other_regions_in_the_next_year_cannot_be_compared(house, capsys):
    write(house / "next.csv", [*people(700, 1), *people(30, 2)])
    assert run(house, "next", "--sites", "7", records="next.csv") == 1
    assert "cannot be compared" in capsys.readouterr().err


def test_the_ledger_holds_no_value_of_any_record_and_is_private(house):
    path = house / "vbas-ledger.json"
    text = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    data = json.loads(text)
    for row in people(700, 1)[:400]:
        for value in row:
            if not re.fullmatch(r"r\d+", value):
                assert value not in text
    # Ids of regions are short here: no string of the file is one of them.
    strings = set(re.findall(r'"([^"]*)"', text))
    assert not strings & {f"r{number}" for number in range(16)}
    assert data["releases"][0]["columns"] == ["age", "sex", "region", "illness", "since"]


def test_entries_are_listed_and_taken_out(house, capsys):
    ledger = ["--ledger", str(house / "vbas-ledger.json")]
    assert main(["ledger", "list", *ledger, "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)[0]
    assert (entry["number"], entry["audience"], entry["k"]) == (1, "Uni", 5)
    assert main(["ledger", "remove", "7", *ledger]) == 1
    assert main(["ledger", "remove", "1", *ledger, "--quiet"]) == 0
    assert run(house, "second", "--sites", "7") == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2], "not a ledger"),
        (lambda text: text.replace('"membership"', '"member"'), "damaged"),
        (lambda text: text.replace('"vbas_ledger": 1', '"vbas_ledger": 9'), "format 9"),
        (lambda text: "[]", "not a ledger"),
    ],
)
def test_damaged_ledgers_are_refused_in_words(house, capsys, damage, said):
    path = house / "vbas-ledger.json"
    path.write_text(damage(path.read_text()))
    assert main(["ledger", "list", "--ledger", str(path)]) == 1
    assert said in capsys.readouterr().err
    assert run(house, "second", "--sites", "5") == 1


def test_a_changed_release_and_a_repeated_entry_are_refused(house, capsys):
    assert main(["ledger", "record", str(house / "first"), "--audience", "uni", "--quiet"]) == 1
    assert "in the ledger already" in capsys.readouterr().err
    shutil.copytree(house / "first", house / "changed")
    with (house / "changed" / "release" / "anonymized.csv").open("a") as file:
        file.write("10-year,male,A001,illness-1,since-1\n")
    assert main(["ledger", "record", str(house / "changed"), "--audience", "Uni", "--quiet"]) == 1
    assert "checksum differs" in capsys.readouterr().err
    assert main(["ledger", "record", str(house / "first"), "--audience", "X", "--date", "yesterday", "--quiet"]) == 1
    assert "is not a date" in capsys.readouterr().err


def test_groups_and_new_names_are_known_again(house):
    (house / "groups.csv").write_text("column,value,group\nage,10-year,young\nage,20-year,young\n")
    grouped = ["--sites", "5", "--generalise", str(house / "groups.csv"), "--rename", "sex=gender", "--audience", "B"]
    assert run(house, "grouped", *grouped) == 0
    assert main(["ledger", "record", str(house / "grouped"), "--audience", "B", "--quiet"]) == 0
    assert run(house, "grouped-again", *grouped) == 0
    assert run(house, "finer", "--sites", "7", "--audience", "B") == 1


TIERS = ("--tiers", "auto", "--tier-factor", "4")


def test_a_release_in_tiers_is_entered_listed_and_checked(house, capsys):
    alone = str(house / "tiers.json")
    assert run(house, "tiers", "--sites", "16", *TIERS, "--ledger", alone) == 0
    assert main(["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--ledger", alone, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["ledger", "list", "--ledger", alone]) == 0
    assert "16, and 5 larger" in capsys.readouterr().out
    assert main(["ledger", "list", "--ledger", alone, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    released = (house / "tiers" / "release" / "anonymized.csv").read_text().count("\n") - 1
    assert (told["places_by_tier"], told["records"]) == ([16, 4, 1], released)
    # A program that knows no tiers must not read this as a release in one partition.
    assert json.loads((house / "tiers.json").read_text())["vbas_ledger"] == 2
    assert json.loads((house / "vbas-ledger.json").read_text())["vbas_ledger"] == 1
    # The same once more, fewer columns of it, and what it has in its aggregated regions tell nothing new.
    assert run(house, "again", "--sites", "16", *TIERS, "--ledger", alone) == 0
    less = ["export", str(house / "tiers"), "--columns", "age,region", "--out", str(house / "less"), "--quiet"]
    assert main([*less, "--ledger", alone]) == 0
    assert run(house, "plain", "--sites", "16", "--ledger", alone) == 0
    assert check(house, "again", "--ledger", alone) == 0
    # Other larger places of the same regions may, and so may other regions.
    capsys.readouterr()
    assert run(house, "other", "--sites", "16", *TIERS[:3], "8", "--ledger", alone) == 1
    assert run(house, "fewer", "--sites", "5", "--ledger", alone) == 1
    said = capsys.readouterr().err
    assert "could single out" in said
    assert "The earlier regions joined" not in said


def test_tiers_after_one_partition_of_the_same_regions_are_safe_and_of_others_counted(house, capsys):
    assert run(house, "same", "--sites", "5", *TIERS) == 0
    assert json.loads((house / "same" / "run.json").read_text())["ledger_check"]["safe"]
    assert run(house, "other", "--sites", "16", *TIERS, "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "other") == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]

    def rows(path):
        with path.open() as file:
            return list(csv.DictReader(file))

    def fates(out, tiers):
        walk = {row["initial_region"]: row for row in rows(house / out / "release" / "crosswalk.csv")}
        listed = {(row["region"], row["age"], row["sex"]) for row in rows(house / out / "release" / "anonymized.csv")}
        for row in rows(house / "records.csv"):
            places = [walk[row["region"]][tier] for tier in tiers]
            own = [(place, row["age"], row["sex"]) for place in places]
            yield next((cell for cell in own if cell in listed), None)

    both = list(
        zip(
            fates("first", ["aggregated_region"]),
            fates("other", ["aggregated_region", "tier_1", "tier_2"]),
            strict=True,
        )
    )
    few = {fate for fate in set(both) if both.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(both.count(fate) for fate in few) > 0


def test_tiers_of_another_year_are_not_comparable(house, capsys):
    write(house / "later.csv", people(700, 2))
    assert run(house, "later", "--sites", "5", *TIERS, records="later.csv") == 1
    said = capsys.readouterr().err
    assert "their places are in tiers" in said
    assert "Release it without tiers, with the regions and quasi-identifiers of then." in said
    assert run(house, "later", "--sites", "5", *TIERS, "--despite-ledger", "agreed", records="later.csv") == 0
    assert main(["ledger", "record", str(house / "later"), "--audience", "Uni", "--quiet"]) == 0
    write(house / "last.csv", people(700, 3))
    assert run(house, "last", "--sites", "5", records="last.csv") == 1
    assert (
        "Hand over an extract of that release, or give this one to people who do not have it."
        in capsys.readouterr().err
    )


def test_a_crosswalk_that_was_changed_is_not_entered(house, capsys):
    assert run(house, "tiers", "--sites", "16", *TIERS, "--ledger", str(house / "none.json")) == 0
    path = house / "tiers" / "release" / "crosswalk.csv"
    path.write_text(path.read_text().replace(",B001,", ",B002,", 1))
    assert main(["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--quiet"]) == 1
    assert "checksum" in capsys.readouterr().err


def test_what_is_decided_by_more_than_numbers_is_not_taken_for_what_numbers_say(house, capsys):
    alone = ("--ledger", str(house / "none.json"))
    sensitive = ("--sensitive", "illness", "--criterion", "illness=distinct:4")
    assert run(house, "plain", "--sites", "16", *TIERS, *alone) == 0
    assert run(house, "diverse", "--sites", "16", *TIERS, *sensitive, *alone) == 0
    plain, diverse = ((house / out / "release" / "anonymized.csv").read_text() for out in ("plain", "diverse"))
    assert plain.count("\n") != diverse.count("\n")
    capsys.readouterr()
    assert check(house, "diverse") == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    assert "does not follow from numbers of records alone" in found["text"]
    assert "Release it without tiers or without criteria, or hand over an extract of that release." in found["text"]


def offered(said: str) -> list[list[str]]:
    """The commands that a refusal offers, as words."""
    return [shlex.split(line)[1:] for line in re.findall(r"^\(\d\) .*?: (vbas .*)$", said, flags=re.MULTILINE)]


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def worked_out(folder, first, second) -> bool:
    """Whether the second release can be computed from the first alone: joined regions, fewer columns, all the rows."""
    before, after = (rows_of(folder / out / "release" / "anonymized.csv") for out in (first, second))
    into = {row["region"]: row["region"] for row in before}
    if {row["region"] for row in after} != set(into) or len(
        rows_of(folder / second / "release" / "crosswalk.csv")
    ) < 16:
        walked = rows_of(folder / second / "release" / "crosswalk.csv")
        into = {row["initial_region"]: row["aggregated_region"] for row in walked}
    kept = list(after[0])
    moved = sorted(tuple({**row, "region": into[row["region"]]}[name] for name in kept) for row in before)
    return moved == sorted(tuple(row[name] for name in kept) for row in after)


@pytest.mark.parametrize("attack", ["another solution", "other quasi-identifiers", "next year"])
def test_each_way_that_is_offered_is_accepted_as_it_stands_and_tells_nothing_new(house, capsys, attack):
    """The differencing attacks are refused; the commands that are offered run, and are attacked again."""
    if attack == "next year":
        write(house / "next.csv", [*people(700, 1), *people(30, 2)])
    tried = {
        "another solution": lambda: run(house, "second", "--sites", "7", "--audience", "Uni"),
        "other quasi-identifiers": lambda: run(house, "second", "--sites", "5", quasi="age,illness"),
        "next year": lambda: run(house, "second", "--sites", "5", records="next.csv"),
    }
    assert tried[attack]() == 1
    ways = offered(capsys.readouterr().err)
    assert len(ways) == 3
    for number, words in enumerate(ways):
        target = f"way-{number}"
        code = main([*(str(house / target) if word == "NEW" else word for word in words), "--quiet"])
        said = capsys.readouterr().err
        if attack == "next year" and number == 0:
            # The regions are those of then, so the two can be compared: thirty people came.
            assert code == 1
            assert "who came or went" in said
            continue
        assert code == 0, said
        found = json.loads((house / target / "run.json").read_text())["ledger_check"]
        assert found["safe"]
        assert worked_out(house, "first", target)


def test_the_regions_of_a_release_in_the_ledger_are_named_by_its_number(house, capsys):
    coarse = ["--construction", "coarsen", "--range-reach", "0"]
    assert run(house, "again", *coarse, "--coarsen-from", "1", "--sites", "5") == 0
    assert (
        run(house, "fewer", *coarse, "--coarsen-from", str(house / "first"), "--sites", "3", "--despite-ledger", "x")
        == 0
    )
    first, again, fewer = (
        {row["initial_region"]: row["aggregated_region"] for row in rows_of(house / out / "release" / "crosswalk.csv")}
        for out in ("first", "again", "fewer")
    )
    assert len({(first[id], again[id]) for id in first}) == 5
    assert len({(first[id], fewer[id]) for id in first}) == 5
    assert len(set(fewer.values())) == 3
    capsys.readouterr()
    assert run(house, "none", *coarse, "--coarsen-from", "7") == 1
    assert "no release 7" in capsys.readouterr().err
    shutil.move(house / "first", house / "moved")
    assert run(house, "gone", *coarse, "--coarsen-from", "1") == 1
    assert "is not there any more" in capsys.readouterr().err


def test_next_year_in_the_regions_of_then_is_accepted_if_enough_came_everywhere(house):
    """Newcomers by hand: five or more in every combination that anybody came to."""
    first = {
        row["initial_region"]: row["aggregated_region"]
        for row in rows_of(house / "first" / "release" / "crosswalk.csv")
    }
    listed = {
        (row["region"], row["age"], row["sex"]) for row in rows_of(house / "first" / "release" / "anonymized.csv")
    }
    place, age, sex = min(listed)
    home = next(id for id, own in first.items() if own == place)
    new = [[f"new-{row}", age, sex, home, "illness-1", "since-1"] for row in range(6)]
    write(house / "next.csv", [*people(700, 1), *new])
    options = ["--construction", "coarsen", "--coarsen-from", "1", "--sites", "5", "--range-reach", "0"]
    assert run(house, "next", *options, records="next.csv") == 0
    assert json.loads((house / "next" / "run.json").read_text())["ledger_check"]["safe"]
    write(house / "next.csv", [*people(700, 1), *new[:4]])
    assert run(house, "next", *options, records="next.csv") == 1


def test_what_is_made_from_a_release_is_compared_without_naming_the_ledger(house):
    released = house / "first" / "release"
    files = [str(released / "anonymized.csv"), str(released / "aggregated_regions.geojson")]
    chosen = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--sites", "2", "--range-reach", "0"]
    out = ["--out", str(house / "joined"), "--quiet", "--no-pdf", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *out, "--audience", "Uni"]) == 0
    found = json.loads((house / "joined" / "run.json").read_text())["ledger_check"]
    assert "tells nothing that this audience does not have" in found["compared_with"][0]["text"]


CRITERIA = ("--sensitive", "illness", "--benign", "illness=illness-7", "--criterion", "illness=distinct:5")


def by_criteria(folder, out):
    """The fates of all records in a release with these criteria, counted one by one: place, age and sex, or none."""
    walk = {row["initial_region"]: row["aggregated_region"] for row in rows_of(folder / out / "release/crosswalk.csv")}
    rows = rows_of(folder / "records.csv")
    cells: dict[tuple, list[str]] = {}
    for row in rows:
        cells.setdefault((walk[row["region"]], row["age"], row["sex"]), []).append(row["illness"])
    kept = {cell for cell, ill in cells.items() if len(ill) >= 5 and (len(set(ill)) >= 5 or set(ill) == {"illness-7"})}
    own = [(walk[row["region"]], row["age"], row["sex"]) for row in rows]
    return [cell if cell in kept else None for cell in own]


def test_what_criteria_left_out_is_known_though_a_quasi_identifier_is_not_released(house, capsys):
    """Cells of age and sex were judged, but only age is handed over: they are counted again, with the criteria."""
    alone = ("--ledger", str(house / "criteria.json"))
    less = ("--columns", "age,region,illness,since", *CRITERIA, *alone)
    assert run(house, "guarded", "--sites", "16", *less) == 0
    assert run(house, "plain", "--sites", "16", *less[:2], *alone) == 0
    size = {out: len(rows_of(house / out / "release" / "anonymized.csv")) for out in ("guarded", "plain")}
    assert size["guarded"] < size["plain"], "the criteria leave something out that k does not"
    assert main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    text = (house / "criteria.json").read_text()
    (kept,) = json.loads(text)["releases"][0]["sensitive"]
    assert (kept["column"], kept["criteria"]) == ("illness", ["distinct:5"])
    assert "illness-7" not in text
    # The same once more tells nothing new.
    assert run(house, "again", "--sites", "16", *less) == 0
    # Another one is compared by what both of them release, and not by numbers of records.
    assert run(house, "other", "--sites", "5", *less[:2], *CRITERIA, "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "other", *alone) == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    fates = list(zip(by_criteria(house, "guarded"), by_criteria(house, "other"), strict=True))
    assert sum(fate is not None for fate, _ in fates) == size["guarded"]
    few = {fate for fate in set(fates) if fates.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(fates.count(fate) for fate in few) > 0


def test_criteria_of_a_damaged_ledger_are_refused_in_words(house, capsys):
    alone = ("--ledger", str(house / "criteria.json"))
    assert run(house, "guarded", "--sites", "16", *CRITERIA, *alone) == 0
    assert main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    path = house / "criteria.json"
    path.write_text(path.read_text().replace("distinct:5", "distinct:five"))
    assert main(["ledger", "list", *alone]) == 1
    assert "damaged" in capsys.readouterr().err


def joint_harm(folder, outs, limit):
    """People whose group, by the fates in all releases, has one harmful illness in more than so many per cent."""
    fates = []
    for out in outs:
        walk = {
            row["initial_region"]: row["aggregated_region"] for row in rows_of(folder / out / "release/crosswalk.csv")
        }
        listed = {(row["region"], row["age"], row["sex"]) for row in rows_of(folder / out / "release/anonymized.csv")}
        own = [(walk[row["region"]], row["age"], row["sex"]) for row in rows_of(folder / "records.csv")]
        fates.append([cell if cell in listed else None for cell in own])
    groups: dict[tuple, list[str]] = {}
    for fate, row in zip(zip(*fates, strict=True), rows_of(folder / "records.csv"), strict=True):
        groups.setdefault(fate, []).append(row["illness"])
    return sum(
        len(ill)
        for fate, ill in groups.items()
        if any(fate) and max(ill.count(each) for each in {*ill} - {"illness-0"} or {""}) > limit / 100 * len(ill)
    )


def test_criteria_hold_for_the_groups_that_two_releases_make(tmp_path, capsys):
    """Two releases that both meet a share of half give an illness away in the groups that they cut out together."""
    write_regions(tmp_path)
    rows = []
    for region in range(16):
        # In the corner everybody has one illness; around it hardly anybody has.
        ill = ["illness-1"] * 9 if region == 5 else ["illness-0"] * 8 + ["illness-1"]
        rows += [
            [f"p{region}-{n}", "10-year", "female", f"r{region}", each, f"since-{n}"] for n, each in enumerate(ill)
        ]
    write(tmp_path / "records.csv", rows)
    parts = {
        "rows": [n // 4 for n in range(16)],
        "columns": [n % 4 for n in range(16)],
        "halves": [n // 8 for n in range(16)],
    }
    for name, places in parts.items():
        lines = [f"r{n},A{place}\n" for n, place in enumerate(places)]
        (tmp_path / f"{name}.csv").write_text("".join(["initial_region,aggregated_region\n", *lines]))
    half = ("--sensitive", "illness", "--benign", "illness=illness-0", "--criterion", "share:50")

    def made(name, sites, *more):
        coarse = ("--construction", "coarsen", "--coarsen-from", str(tmp_path / f"{name}.csv"), "--sites", str(sites))
        return run(tmp_path, name, *coarse, *more)

    assert made("rows", 4, *half) == 0
    assert main(["ledger", "record", str(tmp_path / "rows"), "--audience", "Uni", "--quiet"]) == 0
    # Rows joined to halves cut nobody out.
    assert made("halves", 2, *half) == 0
    capsys.readouterr()
    for criteria in (half, ()):
        assert made("columns", 4, *criteria) == 1
        said = capsys.readouterr().err
        assert "would give “illness” of 9 people away" in said
    assert made("columns", 4, *half, "--ledger", str(tmp_path / "none.json")) == 0
    assert joint_harm(tmp_path, ["rows", "columns"], 50) == 9
    assert joint_harm(tmp_path, ["rows", "halves"], 50) == 0
