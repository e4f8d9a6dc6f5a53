"""`vbas ledger` and the check at every export: what singles people out is refused, what is offered instead is not."""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
import shutil
import stat

import pytest
from ledger_house import check, people, rows_of, run, write

from vbas_desktop.cli.main import main


def test_other_regions_of_the_same_records_are_refused_with_figures_and_ways_out(house, capsys):
    assert run(house, "second", "--sites", "7") == 1
    said = capsys.readouterr().err
    assert re.search(
        r"release 1 \(handed to Uni on \d{4}-\d\d-\d\d\) as well could single out \d+ people", said
    )
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


def test_a_named_ledger_that_is_not_there_is_told_and_made_when_a_release_is_recorded(house, capsys):
    missing = house / "typo.json"
    assert run(house, "second", "--sites", "7", "--ledger", str(missing), quiet=False) == 0
    told = f"hint: There is no ledger at {missing} yet, so nothing was compared."
    assert told in capsys.readouterr().err
    page = (house / "second" / "internal" / "report.html").read_text()
    assert f"There was no ledger at {missing} yet; nothing was compared." in html.unescape(
        re.sub(r"</?code>", "", page)
    )
    export = ["export", str(house / "second"), "--ledger", str(missing), "--out", str(house / "third")]
    assert main(export) == 0
    assert told in capsys.readouterr().err
    recorded = [
        "ledger",
        "record",
        str(house / "second"),
        "--audience",
        "Uni",
        "--ledger",
        str(missing),
        "--quiet",
    ]
    assert main(recorded) == 0
    assert main([*export[:-1], str(house / "fourth")]) == 0
    assert "There is no ledger" not in capsys.readouterr().err


def test_what_is_offered_instead_is_accepted(house, capsys):
    first = str(house / "first")
    extract = [
        "export",
        first,
        "--columns",
        "age,sex,region,illness",
        "--out",
        str(house / "extract"),
        "--quiet",
    ]
    assert main(extract) == 0
    assert (
        main(
            ["export", first, "--columns", "age,region,illness", "--out", str(house / "less"), "--quiet"]
        )
        == 0
    )
    assert run(house, "again", "--sites", "5") == 0
    released = house / "first" / "release"
    files = [str(released / "anonymized.csv"), str(released / "aggregated_regions.geojson")]
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
    more = [
        "--ledger",
        str(house / "vbas-ledger.json"),
        "--audience",
        "Uni",
        "--allow-column",
        "illness,since",
    ]
    assert (
        main(["run", *files, *chosen, *more, "--out", str(house / "joined"), "--quiet", "--no-pdf"]) == 0
    )
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
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "2",
        "--range-reach",
        "0",
    ]
    out = ["--out", str(house / "joined"), "--quiet", "--no-pdf", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *out, "--ledger", str(house / "vbas-ledger.json")]) == 0

    def rows(path):
        with path.open() as file:
            return list(csv.DictReader(file))

    into = {
        row["initial_region"]: row["aggregated_region"]
        for row in rows(house / "joined" / "release" / "crosswalk.csv")
    }
    before, after = (
        rows(released / "anonymized.csv"),
        rows(house / "joined" / "release" / "anonymized.csv"),
    )
    moved = sorted(tuple({**row, "region": into[row["region"]]}.items()) for row in before)
    assert moved == sorted(tuple(row.items()) for row in after)


def test_another_audience_is_compared_with_its_own_releases_and_with_public_ones(house):
    assert run(house, "second", "--sites", "7", "--audience", "Registry") == 0
    assert run(house, "third", "--sites", "7", "--audience", "public") == 1
    assert run(house, "fourth", "--sites", "7", "--audience", " uni ") == 1


def test_a_reason_lets_it_through_and_is_kept(house, capsys):
    assert (
        run(
            house,
            "second",
            "--sites",
            "7",
            "--audience",
            "Uni",
            "--despite-ledger",
            "the first was destroyed",
        )
        == 0
    )
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
    assert (
        main(
            [
                "ledger",
                "record",
                str(house / "first"),
                "--audience",
                "X",
                "--date",
                "yesterday",
                "--quiet",
            ]
        )
        == 1
    )
    assert "is not a date" in capsys.readouterr().err


def test_groups_and_new_names_are_known_again(house):
    (house / "groups.csv").write_text("column,value,group\nage,10-year,young\nage,20-year,young\n")
    grouped = [
        "--sites",
        "5",
        "--generalise",
        str(house / "groups.csv"),
        "--rename",
        "sex=gender",
        "--audience",
        "B",
    ]
    assert run(house, "grouped", *grouped) == 0
    assert main(["ledger", "record", str(house / "grouped"), "--audience", "B", "--quiet"]) == 0
    assert run(house, "grouped-again", *grouped) == 0
    assert run(house, "finer", "--sites", "7", "--audience", "B") == 1


def test_other_groups_in_the_next_year_cannot_be_compared(house, capsys):
    alone = ["--ledger", str(house / "groups.json"), "--audience", "B"]
    for name, age in (("then", "20-year"), ("now", "30-year")):
        (house / f"{name}.csv").write_text(f"column,value,group\nage,10-year,young\nage,{age},young\n")
    assert run(house, "grouped", "--sites", "5", "--generalise", str(house / "then.csv"), *alone) == 0
    assert main(["ledger", "record", str(house / "grouped"), *alone, "--quiet"]) == 0
    write(house / "next.csv", [*people(700, 1), *people(300, 2)])
    same = ["--construction", "coarsen", "--coarsen-from", "1", "--sites", "5", *alone]
    capsys.readouterr()
    assert run(house, "next", *same, "--generalise", str(house / "now.csv"), records="next.csv") == 1
    assert "their quasi-identifiers or groups differ" in capsys.readouterr().err
    run(house, "next", *same, "--generalise", str(house / "then.csv"), records="next.csv")
    assert "their quasi-identifiers or groups differ" not in capsys.readouterr().err


def offered(said: str) -> list[list[str]]:
    """The commands that a refusal offers, as words."""
    return [
        shlex.split(line)[1:]
        for line in re.findall(r"^\(\d\) .*?: (vbas .*)$", said, flags=re.MULTILINE)
    ]


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
    moved = sorted(
        tuple({**row, "region": into[row["region"]]}[name] for name in kept) for row in before
    )
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
    assert len(ways) == len({tuple(words) for words in ways}) == 3
    assert ways[2][ways[2].index("--columns") + 1] == "age,sex,region"
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
        run(
            house,
            "fewer",
            *coarse,
            "--coarsen-from",
            str(house / "first"),
            "--sites",
            "3",
            "--despite-ledger",
            "x",
        )
        == 0
    )
    first, again, fewer = (
        {
            row["initial_region"]: row["aggregated_region"]
            for row in rows_of(house / out / "release" / "crosswalk.csv")
        }
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
    assert "no longer exists" in capsys.readouterr().err


def test_next_year_in_the_regions_of_then_is_accepted_if_enough_came_everywhere(house):
    """Newcomers by hand: five or more in every combination that anybody came to."""
    first = {
        row["initial_region"]: row["aggregated_region"]
        for row in rows_of(house / "first" / "release" / "crosswalk.csv")
    }
    listed = {
        (row["region"], row["age"], row["sex"])
        for row in rows_of(house / "first" / "release" / "anonymized.csv")
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
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--sites",
        "2",
        "--range-reach",
        "0",
    ]
    out = ["--out", str(house / "joined"), "--quiet", "--no-pdf", "--allow-column", "illness,since"]
    assert main(["run", *files, *chosen, *out, "--audience", "Uni"]) == 0
    found = json.loads((house / "joined" / "run.json").read_text())["ledger_check"]
    assert "tells nothing that this audience does not have" in found["compared_with"][0]["text"]
