"""The ledger and releases in tiers or under criteria for sensitive values."""

from __future__ import annotations

import hashlib
import json

import pytest
from ledger_house import check, people, rows_of, run, write
from release_making import write_regions

from vbas_desktop.cli.main import main

TIERS = ("--tiers", "auto", "--tier-factor", "4")


def fates(folder, out, columns=("age", "sex")):
    """Of every record the smallest place around it that lists its values, with them, by the written files; or None."""
    walk = {row["initial_region"]: row for row in rows_of(folder / out / "release" / "crosswalk.csv")}
    listed = {
        (row["region"], *map(row.get, columns))
        for row in rows_of(folder / out / "release" / "anonymized.csv")
    }
    found = []
    for row in rows_of(folder / "records.csv"):
        around = [walk[row["region"]].get(place) for place in ("aggregated_region", "tier_1", "tier_2")]
        own = [(place, *map(row.get, columns)) for place in around]
        found.append(next((cell for cell in own if cell in listed), None))
    return found


def test_a_release_in_tiers_is_entered_listed_and_checked(house, capsys):
    alone = str(house / "tiers.json")
    assert run(house, "tiers", "--sites", "16", *TIERS, "--ledger", alone) == 0
    assert (
        main(
            ["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--ledger", alone, "--quiet"]
        )
        == 0
    )
    capsys.readouterr()
    assert main(["ledger", "list", "--ledger", alone]) == 0
    assert "16, and 5 larger" in capsys.readouterr().out
    assert main(["ledger", "list", "--ledger", alone, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    released = (house / "tiers" / "release" / "anonymized.csv").read_text().count("\n") - 1
    assert (told["regions_by_tier"], told["records"]) == ([16, 4, 1], released)
    # The same once more, fewer columns of it, and what it has in its aggregated regions tell nothing new.
    assert run(house, "again", "--sites", "16", *TIERS, "--ledger", alone) == 0
    less = [
        "export",
        str(house / "tiers"),
        "--columns",
        "age,region",
        "--out",
        str(house / "less"),
        "--quiet",
    ]
    assert main([*less, "--ledger", alone]) == 0
    assert run(house, "plain", "--sites", "16", "--ledger", alone) == 0
    assert check(house, "again", "--ledger", alone) == 0
    # Other larger areas of the same regions may, and so may other regions.
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

    both = list(zip(fates(house, "first"), fates(house, "other"), strict=True))
    few = {fate for fate in set(both) if both.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(both.count(fate) for fate in few) > 0


def test_tiers_of_another_year_are_compared_row_by_row_where_their_places_are_the_same(house, capsys):
    alone = ("--ledger", str(house / "tiers.json"))
    assert run(house, "tiers", "--sites", "16", *TIERS, *alone) == 0
    assert main(["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--quiet", *alone]) == 0
    # The same people under other names: nobody came or went.
    write(house / "later.csv", [["somebody", *row[1:]] for row in people(700, 1)[::-1]])
    assert run(house, "later", "--sites", "16", *TIERS, *alone, records="later.csv") == 0
    (found,) = json.loads((house / "later" / "run.json").read_text())["ledger_check"]["compared_with"]
    assert (found["safe"], "Only numbers" in found["text"]) == (True, False)
    # Somebody left: it is told, whether he is missing where he was or others go up with him.
    capsys.readouterr()
    write(house / "last.csv", people(700, 1)[1:])
    assert run(house, "last", "--sites", "16", *TIERS, *alone, records="last.csv") == 1
    said = capsys.readouterr().err
    assert "could tell" in said
    assert "1 person who came or went" in said or "in which smaller place they are" in said
    # Other larger areas, or columns, are not comparable.
    assert run(house, "others", "--sites", "16", *TIERS[:3], "8", *alone, records="later.csv") == 1
    assert "their places are in tiers, and the larger areas differ" in capsys.readouterr().err
    assert (
        run(
            house,
            "less",
            "--sites",
            "16",
            *TIERS,
            *alone,
            "--columns",
            "age,sex,region",
            records="later.csv",
        )
        == 1
    )
    assert "rows have to be compared" in capsys.readouterr().err


def test_a_crosswalk_that_was_changed_is_not_entered(house, capsys):
    assert run(house, "tiers", "--sites", "16", *TIERS, "--ledger", str(house / "none.json")) == 0
    path = house / "tiers" / "release" / "crosswalk.csv"
    path.write_text(path.read_text().replace(",B001,", ",B002,", 1))
    assert main(["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--quiet"]) == 1
    assert "checksum" in capsys.readouterr().err


def test_a_crosswalk_in_which_one_place_lies_in_two_larger_ones_is_not_entered(house, capsys):
    assert run(house, "tiers", "--sites", "16", *TIERS, "--ledger", str(house / "none.json")) == 0
    folder = house / "tiers" / "release"
    path, sums = folder / "crosswalk.csv", folder / "SHA256SUMS"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    header, *rows = path.read_text().splitlines()
    first, second = (row.split(",") for row in rows[:2])
    second[1] = first[1]
    second[2] = next(row.split(",")[2] for row in rows if row.split(",")[2] != first[2])
    path.write_text("\n".join([header, ",".join(first), ",".join(second), *rows[2:]]) + "\n")
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    assert before in sums.read_text()
    sums.write_text(sums.read_text().replace(before, after))
    run_file = house / "tiers" / "run.json"
    run_file.write_text(run_file.read_text().replace(before, after))
    assert main(["ledger", "record", str(house / "tiers"), "--audience", "Uni", "--quiet"]) == 1
    assert "A region of the crosswalk lies in several larger ones" in capsys.readouterr().err


def test_what_goes_up_in_tiers_because_of_criteria_is_counted_again(house, capsys):
    alone = ("--ledger", str(house / "none.json"))
    sensitive = ("--sensitive", "illness", "--criterion", "illness=distinct:4")
    assert run(house, "plain", "--sites", "16", *TIERS, *alone) == 0
    assert run(house, "diverse", "--sites", "16", *TIERS, *sensitive, *alone) == 0
    plain, diverse = (
        (house / out / "release" / "anonymized.csv").read_text() for out in ("plain", "diverse")
    )
    assert plain.count("\n") != diverse.count("\n")
    capsys.readouterr()
    assert check(house, "diverse") == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    both = list(zip(fates(house, "first"), fates(house, "diverse"), strict=True))
    assert sum(fate is not None for _, fate in both) == diverse.count("\n") - 1
    few = {fate for fate in set(both) if both.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(both.count(fate) for fate in few) > 0
    # The same once more, and what it has in its aggregated regions, tell nothing new; without criteria it tells more.
    kept = ("--ledger", str(house / "kept.json"))
    assert main(["ledger", "record", str(house / "diverse"), "--audience", "Uni", *kept, "--quiet"]) == 0
    assert run(house, "again", "--sites", "16", *TIERS, *sensitive, *kept) == 0
    assert run(house, "looser", "--sites", "16", *TIERS, *kept) == 1
    assert "do occur" in capsys.readouterr().err
    # So too if a quasi-identifier is not released: what was judged by age and sex is handed over by age.
    less = ("--columns", "age,region,illness,since", *TIERS, *sensitive)
    assert run(house, "less", "--sites", "16", *less, *kept) == 0
    assert json.loads((house / "less" / "run.json").read_text())["ledger_check"]["safe"]


CRITERIA = (
    "--sensitive",
    "illness",
    "--benign",
    "illness=illness-7",
    "--criterion",
    "illness=distinct:5",
)


def by_criteria(folder, out):
    """The fates of all records in a release with these criteria, counted one by one: place, age and sex, or none."""
    walk = {
        row["initial_region"]: row["aggregated_region"]
        for row in rows_of(folder / out / "release/crosswalk.csv")
    }
    rows = rows_of(folder / "records.csv")
    cells: dict[tuple, list[str]] = {}
    for row in rows:
        cells.setdefault((walk[row["region"]], row["age"], row["sex"]), []).append(row["illness"])
    kept = {
        cell
        for cell, ill in cells.items()
        if len(ill) >= 5 and (len(set(ill)) >= 5 or set(ill) == {"illness-7"})
    }
    own = [(walk[row["region"]], row["age"], row["sex"]) for row in rows]
    return [cell if cell in kept else None for cell in own]


def test_what_criteria_left_out_is_known_though_a_quasi_identifier_is_not_released(house, capsys):
    """Cells of age and sex were judged, but only age is handed over: they are counted again, with the criteria."""
    alone = ("--ledger", str(house / "criteria.json"))
    less = ("--columns", "age,region,illness,since", *CRITERIA, *alone)
    assert run(house, "guarded", "--sites", "16", *less) == 0
    assert run(house, "plain", "--sites", "16", *less[:2], *alone) == 0
    size = {
        out: len(rows_of(house / out / "release" / "anonymized.csv")) for out in ("guarded", "plain")
    }
    assert size["guarded"] < size["plain"], "the criteria leave something out that k does not"
    assert (
        main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    )
    text = (house / "criteria.json").read_text()
    (kept,) = json.loads(text)["releases"][0]["criteria"]
    assert (kept["column"], kept["criteria"]) == ("illness", ["distinct:5"])
    assert "illness-7" not in text
    # The same once more tells nothing new.
    assert run(house, "again", "--sites", "16", *less) == 0
    # Another one is compared by what both of them release, and not by numbers of records.
    assert (
        run(house, "other", "--sites", "5", *less[:2], *CRITERIA, "--ledger", str(house / "none.json"))
        == 0
    )
    capsys.readouterr()
    assert check(house, "other", *alone) == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    fates = list(zip(by_criteria(house, "guarded"), by_criteria(house, "other"), strict=True))
    assert sum(fate is not None for fate, _ in fates) == size["guarded"]
    few = {fate for fate in set(fates) if fates.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(fates.count(fate) for fate in few) > 0


def test_what_criteria_left_out_is_not_counted_again_with_regions_that_the_release_does_not_know(
    house, capsys
):
    alone = ("--ledger", str(house / "criteria.json"))
    less = ("--columns", "age,region,illness,since", *CRITERIA)
    assert run(house, "guarded", "--sites", "16", *less, *alone) == 0
    assert (
        main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    )
    with (house / "regions.csv").open("a") as file:
        file.write("r16,9,9\n")
    assert run(house, "other", "--sites", "5", *less, "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "other", *alone) == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    assert "the record file does not give what was released then" in found["text"]


def test_criteria_of_a_damaged_ledger_are_refused_in_words(house, capsys):
    alone = ("--ledger", str(house / "criteria.json"))
    assert run(house, "guarded", "--sites", "16", *CRITERIA, *alone) == 0
    assert (
        main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    )
    path = house / "criteria.json"
    path.write_text(path.read_text().replace("distinct:5", "distinct:five"))
    assert main(["ledger", "list", *alone]) == 1
    assert "damaged" in capsys.readouterr().err


def joint_harm(folder, outs, limit):
    """People whose group, by the fates in all releases, has one harmful illness in more than so many per cent."""
    fates = []
    for out in outs:
        walk = {
            row["initial_region"]: row["aggregated_region"]
            for row in rows_of(folder / out / "release/crosswalk.csv")
        }
        listed = {
            (row["region"], row["age"], row["sex"])
            for row in rows_of(folder / out / "release/anonymized.csv")
        }
        own = [(walk[row["region"]], row["age"], row["sex"]) for row in rows_of(folder / "records.csv")]
        fates.append([cell if cell in listed else None for cell in own])
    groups: dict[tuple, list[str]] = {}
    for fate, row in zip(zip(*fates, strict=True), rows_of(folder / "records.csv"), strict=True):
        groups.setdefault(fate, []).append(row["illness"])
    return sum(
        len(ill)
        for fate, ill in groups.items()
        if any(fate)
        and max(ill.count(each) for each in {*ill} - {"illness-0"} or {""}) > limit / 100 * len(ill)
    )


def test_criteria_hold_for_the_groups_that_two_releases_make(tmp_path, capsys):
    """Two releases that both meet a share of half give an illness away in the groups that they cut out together."""
    write_regions(tmp_path)
    rows = []
    for region in range(16):
        # In the corner everybody has one illness; around it hardly anybody has.
        ill = ["illness-1"] * 9 if region == 5 else ["illness-0"] * 8 + ["illness-1"]
        rows += [
            [f"p{region}-{n}", "10-year", "female", f"r{region}", each, f"since-{n}"]
            for n, each in enumerate(ill)
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
        coarse = (
            "--construction",
            "coarsen",
            "--coarsen-from",
            str(tmp_path / f"{name}.csv"),
            "--sites",
            str(sites),
        )
        return run(tmp_path, name, *coarse, *more)

    assert made("rows", 4, *half) == 0
    assert main(["ledger", "record", str(tmp_path / "rows"), "--audience", "Uni", "--quiet"]) == 0
    # ReleasedRows joined to halves cut nobody out.
    assert made("halves", 2, *half) == 0
    capsys.readouterr()
    for criteria in (half, ()):
        assert made("columns", 4, *criteria) == 1
        said = capsys.readouterr().err
        assert "would give “illness” of 9 people away" in said
    assert made("columns", 4, *half, "--ledger", str(tmp_path / "none.json")) == 0
    assert joint_harm(tmp_path, ["rows", "columns"], 50) == 9
    assert joint_harm(tmp_path, ["rows", "halves"], 50) == 0


@pytest.mark.parametrize(
    "criteria", [True, False], ids=["criteria in both", "criteria in the first only"]
)
def test_criteria_hold_for_people_whom_the_release_that_has_them_leaves_out(tmp_path, capsys, criteria):
    """Six people, two in each of three regions, are too few for the first release; the second one shows them among
    sixteen. Whoever has both subtracts, and sees that all six have one illness.
    """
    write_regions(tmp_path)
    rows = [
        [f"old-{n}", "80-year", "female", f"r{n % 16}", f"illness-{n % 7}", f"since-{n}"]
        for n in range(160)
    ]
    rows += [[f"few-{n}", "10-year", "female", f"r{n % 3}", "illness-1", f"few-{n}"] for n in range(6)]
    rows += [
        [f"many-{n}", "10-year", "female", "r3", f"illness-{n % 5}", f"many-{n}"] for n in range(10)
    ]
    write(tmp_path / "records.csv", rows)
    for name, parts in {"fine": (0, 1, 2, 3), "coarse": (0, 0, 0, 0)}.items():
        places = [*parts, *[9] * 12]
        lines = [f"r{n},A{place}\n" for n, place in enumerate(places)]
        (tmp_path / f"{name}.csv").write_text("".join(["initial_region,aggregated_region\n", *lines]))
    half = ("--sensitive", "illness", "--criterion", "illness=share:50")

    def made(name, *more):
        sites = "5" if name == "fine" else "2"
        coarse = (
            "--construction",
            "coarsen",
            "--coarsen-from",
            str(tmp_path / f"{name}.csv"),
            "--sites",
            sites,
        )
        return run(tmp_path, name, *coarse, *more)

    assert made("fine", *half) == 0
    assert main(["ledger", "record", str(tmp_path / "fine"), "--audience", "Uni", "--quiet"]) == 0
    capsys.readouterr()
    assert made("coarse", *(half if criteria else ())) == 1
    assert "would give “illness” of 6 people away" in capsys.readouterr().err
    # Without the column nothing is given away.
    assert made("coarse", "--columns", "age,sex,region,since") == 0


def test_what_criteria_left_out_of_groups_is_known_though_a_quasi_identifier_is_not_released(
    house, capsys
):
    """As above, with groups of ages: the ledger has their hashes only, and counts the cells of groups again."""
    alone = ("--ledger", str(house / "criteria.json"))
    (house / "groups.csv").write_text("column,value,group\nage,10-year,young\nage,20-year,young\n")
    less = (
        "--columns",
        "age,region,illness,since",
        "--generalise",
        str(house / "groups.csv"),
        *CRITERIA,
    )
    assert run(house, "guarded", "--sites", "16", *less, *alone) == 0
    assert (
        main(["ledger", "record", str(house / "guarded"), "--audience", "Uni", *alone, "--quiet"]) == 0
    )
    assert run(house, "other", "--sites", "5", *less, "--ledger", str(house / "none.json")) == 0
    capsys.readouterr()
    assert check(house, "other", *alone) == 3
    (found,) = json.loads(capsys.readouterr().out)["compared_with"]
    rows = rows_of(house / "records.csv")
    young = {"10-year": "young", "20-year": "young"}
    grouped = [row | {"age": young.get(row["age"], row["age"])} for row in rows]
    write(house / "records.csv", [list(row.values()) for row in grouped])
    fates = list(zip(by_criteria(house, "guarded"), by_criteria(house, "other"), strict=True))
    assert sum(fate is not None for fate, _ in fates) == len(
        rows_of(house / "guarded" / "release" / "anonymized.csv")
    )
    few = {fate for fate in set(fates) if fates.count(fate) < 5 and fate != (None, None)}
    assert found["people"] == sum(fates.count(fate) for fate in few) > 0
