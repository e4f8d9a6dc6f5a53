"""`vbas reproduce-thesis` from generated data to tables and claims, on a hundredth of the size."""

import csv

from vbas_desktop.cli.main import main

VERDICTS = (
    "held",
    "held here, not in the published rows",
    "not held here, but in the published rows",
    "not held",
    "nothing decides",
)


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_tables_claims_and_sides_are_written(tmp_path, capsys):
    out = tmp_path / "east"
    common = ["reproduce-thesis", "--like", "eastern", "--share", "0.01", "--quiet", "--out"]
    assert main([*common, str(out)]) == 0
    printed = capsys.readouterr().out
    verdicts = [line.removeprefix("- ").partition(": ")[0] for line in printed.splitlines()]
    assert sum(verdicts.count(word) for word in VERDICTS) == 18
    assert printed.count(": paper ") == 4
    assert (
        "Suppression with MaxCombs, of that with entropy: paper 13.2 %, rows of the thesis 13.1 %, ours "
        in printed
    )
    assert "W. L. Croft" in printed
    assert "Attributes are drawn independently" in printed
    assert "Made with 1 % of the records" in printed
    beside = rows(out / "side-by-side.csv")
    assert (beside[0]["sites_published"], beside[0]["discernibility_published"]) == ("707", "402873819")
    tables = sorted((out / "tables").iterdir())
    assert [path.name for path in tables] == [f"table-{number:02d}.csv" for number in range(7, 13)]
    first = rows(tables[0])
    assert {row["classes"] for row in first} == {"44"}
    assert {row["classes"] for row in rows(tables[1])} == {"22"}
    assert {row["records"] for row in first} == {"24332"}
    assert {(row["site_location"], row["adc_seeding"]) for row in first} == {
        ("anonymity", ""),
        ("density", ""),
        ("balanced-density", ""),
        ("adc", "anonymity"),
        ("adc", "density"),
        ("adc", "balanced-density"),
    }
    assert len(list((tmp_path / ".east.combinations").iterdir())) == 108

    # Its own tables as the reference, on its own files: everything is equal and nothing is left to fill.
    reference = tmp_path / "reference.csv"
    reference.write_text(
        "".join(path.read_text() if path is tables[0] else _body(path) for path in tables)
    )
    data = tmp_path / "east.data"
    files = ["--records", str(data / "records.csv"), "--regions", str(data / "regions.csv")]
    (tmp_path / ".east.combinations").rename(tmp_path / ".again.combinations")
    assert main([*common, str(tmp_path / "again"), *files, "--reference", str(reference)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("all numbers of sites are the published ones") == 3
    assert "0 rows that were not published are filled" in printed
    assert {
        row["suppressed_records_ratio"] for row in rows(tmp_path / "again" / "side-by-side.csv")
    } <= {"1.0", ""}


def _body(path):
    return path.read_text().partition("\n")[2]


def test_growth_on_the_island_is_set_beside_published_rows(tmp_path, capsys):
    out = tmp_path / "pei"
    common = ["reproduce-thesis", "--like", "pei", "--share", "0.1", "--quiet", "--out"]
    assert main([*common, str(out)]) == 0
    tables = sorted((out / "tables").iterdir())
    assert [path.name for path in tables] == [f"table-{number}.csv" for number in range(19, 23)]
    grown, placed = rows(tables[0]), rows(tables[2])
    assert [row["method"] for row in grown] == ["growth"] * 9
    assert [row["method"] for row in placed] == ["balanced-density", "adc"] * 9
    assert [row["sites"] for row in placed[::2]] == [row["sites"] for row in grown]
    # Districts without sites are rated by their centroids.
    assert all(float(row["average_distance"]) > 0 for row in grown)
    printed = capsys.readouterr().out
    assert "Median of ours by published" in printed
    assert "lower distance to the mean point than growth: in" in printed
    assert "published: in 15 of 18 scenarios, equal in 1" in printed
    assert "W. L. Croft" in printed
    assert "Made with 10 % of the records" in printed
    beside = rows(out / "side-by-side.csv")
    assert [row["sites_published"] for row in beside[:9]] == [
        "13",
        "6",
        "14",
        "8",
        "4",
        "5",
        "5",
        "3",
        "3",
    ]
    assert beside[0]["discernibility_published"] == "51189300.0"
    island = (out / "tables.md").read_text(encoding="utf-8")
    cells = next(line for line in island.splitlines() if line.startswith("| Age, Income | adc |")).split(
        " | "
    )
    published = [cell.partition(" / ")[2].partition(" (")[0] for cell in cells[2:]]
    assert published == ["6", "587", "0.0200", "0.0190", "19,582,477", "893,750", "1.88"]
    reference = tmp_path / "published.csv"
    reference.write_text(
        "".join(path.read_text() if path is tables[0] else _body(path) for path in tables)
    )
    assert main([*common, str(tmp_path / "again"), "--reference", str(reference)]) == 0
    assert "growth: regions 1.00, suppressed records 1.00" in capsys.readouterr().out
    beside = rows(tmp_path / "again" / "side-by-side.csv")
    assert len(beside) == 54
    assert {row["discernibility_ratio"] for row in beside} <= {"1.0", ""}
    reference.write_text("table,scenario\n")
    assert main([*common, str(tmp_path / "third"), "--reference", str(reference)]) == 1
    assert "method" in capsys.readouterr().err


def test_further_approaches_are_further_columns(tmp_path, capsys):
    out = tmp_path / "more"
    names = "density-peaks,refine-sites,contiguous"
    common = ["reproduce-thesis", "--like", "eastern", "--share", "0.002", "--quiet"]
    assert main([*common, "--also", names, "--out", str(out)]) == 0
    lines = (out / "suppressed.md").read_text(encoding="utf-8").splitlines()
    heads = [cell.strip() for cell in lines[2].strip("|").split("|")]
    thesis = ["anonymity", "density", "balanced-density"]
    further = ["density-peaks", "refine-sites", "balanced-density + contiguous"]
    assert heads[3:] == [*thesis, *(f"adc from {seeding}" for seeding in thesis), *further]
    cells = [row for number in range(7, 13) for row in rows(out / "tables" / f"table-{number:02d}.csv")]
    shown = [
        [cell.strip().replace(",", "") for cell in line.strip("|").split("|")] for line in lines[4:]
    ]
    for number, place in ((7, 0), (12, -1)):
        row = [one for one in shown if one[0] == str(number) and one[1] == "maxcombs"][place]
        for head, value in zip(heads[3:], row[3:], strict=True):
            found = [
                cell["suppressed_records"]
                for cell in cells
                if cell["table"] == str(number)
                and cell["site_number"] == "maxcombs"
                and head
                == (f"adc from {cell['adc_seeding']}" if cell["adc_seeding"] else cell["site_location"])
            ]
            assert found[place] == value
    capsys.readouterr()
    assert main([*common, "--also", "no-such", "--out", str(tmp_path / "none")]) == 1
    assert "Known are: " in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
    assert (
        main(["reproduce-thesis", "--like", "pei", "--also", names, "--out", str(tmp_path / "none")])
        == 2
    )


def test_central_canada_has_tables_of_its_own_and_no_published_ones(tmp_path, capsys):
    out = tmp_path / "central"
    command = ["reproduce-thesis", "--like", "central", "--share", "0.0005", "--quiet", "--out"]
    assert main([*command, str(tmp_path / "independent")]) == 0
    assert "Those of central Canada are the mean of East and West." in capsys.readouterr().out
    assert main([*command, str(out), "--attributes", "dependent"]) == 0
    printed = capsys.readouterr().out
    assert "mean of East and West" not in printed
    assert "Published figures: none of central Canada." in printed
    assert "drawn dependent on each other" in printed
    assert (
        printed.count("\n- held here: ")
        + printed.count("\n- not held here: ")
        + printed.count("\n- nothing decides")
        == 18
    )
    assert "rows of the thesis" not in printed
    assert sorted(path.name for path in (out / "tables").iterdir()) == [
        f"table-0{n}.csv" for n in range(1, 7)
    ]
    first = rows(out / "tables" / "table-01.csv")
    assert {(row["region"], row["classes"], row["regions"]) for row in first} == {
        ("central", "44", "17")
    }
    assert not (out / "side-by-side.csv").exists()


def test_half_a_pair_of_files_is_wrong_usage(tmp_path, capsys):
    assert (
        main(
            [
                "reproduce-thesis",
                "--like",
                "eastern",
                "--records",
                "x.csv",
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 2
    )
    assert "--records and --regions go together" in capsys.readouterr().err
