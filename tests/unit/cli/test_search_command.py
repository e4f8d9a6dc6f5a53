"""`vbas search`: files, options, outputs, and mistakes."""

import csv
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.hierarchies import read_codebook
from vbas_desktop.io.paths import sample_data_folder
from vbas_desktop.model.records import Categories

RECORDS, REGIONS = (str(sample_data_folder() / name) for name in ("records.csv", "regions.geojson"))
SAMPLE = [RECORDS, REGIONS, "--region-column", "tract", "--quiet"]
GROUPS = str(sample_data_folder() / "generalise.csv")


def search(*more, names="age,sex,marital_status"):
    return main(["search", *SAMPLE, "--quasi-identifiers", names, *more])


def test_the_folder_has_the_table_the_page_and_groups_that_a_run_understands(capsys, tmp_path):
    out = tmp_path / "found"
    assert search("--ladder", GROUPS, "--pin", "sex", "--out", str(out)) == 0
    text = capsys.readouterr().out
    assert "Recommended: node 2, age 7, sex 2, marital_status 4 → 2: " in text
    assert f"vbas run … --generalise {out}/groups/2.csv" in text
    rows = list(csv.DictReader((out / "search.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["status"] for row in rows] == ["found"] * 9
    best = rows[1]
    assert best["recommended"] == best["front"] == "yes"
    picture = (out / "search.html").read_text(encoding="utf-8").split("<svg")[1].split("</svg>")[0]
    texts = re.findall(r'text-anchor="(\w+)"[^>]*>([^<]*)<', picture)
    # Each letter stands at its line and once more before the line's name.
    assert [text for _, text in texts if text in ("A", "B", "C")] == ["A", "B", "C", "A", "B", "C"]
    assert [text for anchor, text in texts if anchor == "start"] == [
        "sex 2, marital_status 4",
        "sex 2, marital_status 2",
        "sex 2, marital_status 1",
    ]
    names = ["--quasi-identifiers", "age,sex,marital_status", "--range-reach", "0", "--json"]
    assert main(["run", *SAMPLE, *names, "--generalise", str(out / "groups" / "2.csv")]) == 0
    (solution,) = json.loads(capsys.readouterr().out)["solutions"]
    assert str(solution["aggregated_regions"]) == best["aggregated_regions"]
    assert str(solution["measures"]["suppressed_records"]) == best["suppressed_records"]
    assert str(solution["measures"]["place_information_loss"]) == best["place_information_loss"]


def test_hierarchies_are_made_up_and_minima_kept(capsys):
    assert search("--minimum", "age=4", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert {node["age_categories"] for node in document["nodes"]} == {7, 4}
    assert document["hierarchies"]["age"][1]["15-24"] == "0-24"


def test_a_second_search_takes_what_is_kept(capsys, tmp_path):
    out = tmp_path / "found"
    assert search("--out", str(out), names="age,sex") == 0
    kept = sorted(path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir())
    first = (out / "search.csv").read_bytes()
    assert search("--out", str(out), "--workers", "1", names="age,sex") == 0
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir()) == kept
    assert (out / "search.csv").read_bytes() == first


_KILLED = """
import os, signal, sys
from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.result_cache import DiskCache

keep, kept = DiskCache.put, []

def put(self, settings, found):
    kept.append(keep(self, settings, found))
    if len(kept) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept[-1]

DiskCache.put = put
main(sys.argv[1:])
"""


def test_a_killed_search_goes_on_where_it_was_and_ends_in_the_same_bytes(tmp_path):
    out, whole = tmp_path / "found", tmp_path / "whole"
    given = [
        "search",
        *SAMPLE,
        "--quasi-identifiers",
        "age,sex,marital_status",
        "--workers",
        "1",
        "--out",
    ]
    killed = subprocess.run([sys.executable, "-c", _KILLED, *given, str(out)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir()}
    assert len(before) == 3
    assert main([*given, str(out)]) == main([*given, str(whole)]) == 0
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "found.nodes").iterdir()}
    assert len(after) > 3
    assert before.items() <= after.items()
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    assert [(out / file).read_bytes() for file in files] == [
        (whole / file).read_bytes() for file in files
    ]


_SHARE = ["--sensitive", "diagnosis", "--criterion", "share:90"]


@pytest.mark.parametrize(
    "more",
    [["--tiers", "auto"], ["--refinement", "boundaries", "--set", "boundaries.effort=20"], _SHARE],
)
def test_a_node_in_tiers_or_refined_is_what_its_run_gives(capsys, tmp_path, more):
    out = tmp_path / "found"
    assert (
        search("--allowed-loss", "10", "--minimum", "age=4", "--out", str(out), *more, names="age,sex")
        == 0
    )
    capsys.readouterr()
    rows = list(csv.DictReader((out / "search.csv").read_text(encoding="utf-8").splitlines()))
    best = next(row for row in rows if row["recommended"] == "yes")
    names = ["--quasi-identifiers", "age,sex", "--range-reach", "0", "--json", "--allowed-loss", "10"]
    groups = ["--generalise", str(out / "groups" / f"{best['node']}.csv")]
    assert main(["run", *SAMPLE, *names, *groups, *more]) == 0
    (solution,) = json.loads(capsys.readouterr().out)["solutions"]
    assert str(solution["aggregated_regions"]) == best["aggregated_regions"]
    assert str(solution["measures"]["suppressed_records"]) == best["suppressed_records"]
    assert str(solution["measures"]["place_information_loss"]) == best["place_information_loss"]


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--pin", "age=x"], 2, "write it as COLUMN=N"),
        (["--pin", "age=9"], 1, "The hierarchy has no level 9"),
        (["--minimum", "colour=2"], 1, "The column is no quasi-identifier"),
        (["--ladder", "age=nowhere.csv"], 1, "nowhere.csv"),
        (["--allowed-loss", "200"], 2, "at most 100"),
    ],
)
def test_mistakes_are_told(capsys, more, code, words):
    assert search(*more) == code
    assert words in capsys.readouterr().err


def test_the_sample_codebook_is_read():
    book = read_codebook(sample_data_folder() / "codebook.csv")
    assert book["sex"] == {"Female": "Female", "Male": "Male"}
    assert list(book["age"])[:2] == ["0-14", "15-24"]


def test_a_codebook_may_call_its_columns_otherwise(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text(
        "attribute,code,label,probability\nsex,1,Female,0.5\nsex,2,Male,0.5\n", encoding="utf-8"
    )
    book = read_codebook(path)
    assert book == {"sex": {"1": "Female", "2": "Male"}}
    labelled = Categories("sex", ("", "1", "9"), None, book["sex"])
    assert [labelled.label(code) for code in range(3)] == ["(missing)", "1 (Female)", "9"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "does not name the columns column, value and label"),
        ("column,value,label\nsex,1\n", "row 2"),
        ("column,value,label\nsex,1,F\nsex,1,M\n", "another label above"),
    ],
)
def test_mistakes_of_a_codebook_are_told(capsys, tmp_path, text, words):
    path = tmp_path / "codes.csv"
    path.write_text(text, encoding="utf-8")
    assert search("--codebook", str(path)) == 1
    assert words in capsys.readouterr().err


def test_labels_of_a_codebook_reach_runs_and_hierarchies(capsys, tmp_path):
    regions, records, book = (tmp_path / name for name in ("regions.csv", "records.csv", "codes.csv"))
    regions.write_text("id,x,y\na,0,0\nb,1,0\n", encoding="utf-8")
    records.write_text("region,age\n" + "a,1\n" * 9 + "b,2\n" * 9 + "a,3\n" * 3, encoding="utf-8")
    book.write_text("column,value,label\nage,1,0-4\nage,2,5-9\nage,3,10+\n", encoding="utf-8")
    given = [
        str(records),
        str(regions),
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--quiet",
    ]
    assert main(["search", *given, "--codebook", str(book), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hierarchies"]["age"][1] == {
        "1": "0-9",
        "2": "0-9",
        "3": "10+",
    }
    found = tmp_path / "found"
    assert main(["search", *given, "--codebook", str(book), "--out", str(found)]) == 0
    page = (found / "search.html").read_text(encoding="utf-8")
    assert "1 (0-4), 2 (5-9), 3 (10+)" in page
    assert "0-9, 10+" in page
    out = tmp_path / "out"
    assert main(["run", *given, "--codebook", str(book), "--allowed-loss", "50", "--out", str(out)]) == 0
    assert "3 (10+)" in (out / "internal" / "report.html").read_text(encoding="utf-8")
    assert "3 (10+)" not in (out / "release" / "anonymized.csv").read_text(encoding="utf-8")


def test_the_limits_in_force_are_listed_with_what_they_do_not_meet(capsys, tmp_path):
    assert search("--json", names="age,sex") == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["limits"] == {}
    assert "unmet_size_targets" not in plain["nodes"][0]
    places = json.loads(Path(REGIONS).read_text(encoding="utf-8"))
    for number, feature in enumerate(places["features"]):
        feature["properties"]["county"] = "ABC"[number % 3]
    (tmp_path / "regions.geojson").write_text(json.dumps(places))
    words = [
        "search",
        RECORDS,
        str(tmp_path / "regions.geojson"),
        *SAMPLE[2:],
        "--quasi-identifiers",
        "age,sex",
    ]
    words += ["--within", "county", "--min-records", "100000"]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["limits"] == {"within": ["county"], "min_records": 100_000}
    found = [node for node in document["nodes"] if node["status"] == "found"]
    assert (
        [node["aggregated_regions"] for node in found]
        == [node["unmet_size_targets"] for node in found]
        == [3] * len(found)
    )
    assert found
    assert main([*words, "--out", str(tmp_path / "found")]) == 0
    assert "Limits: Never across: county; Records at least: 100000." in capsys.readouterr().out
    assert json.loads((tmp_path / "found" / "search.json").read_text())["limits"] == document["limits"]
    assert "Never across: county" in (tmp_path / "found" / "search.html").read_text()


def rare_job(tmp_path, rare):
    """Sixteen regions with 24 records each, of which ``rare`` are smiths: without the job nothing need be merged."""
    regions, records, ladder = (tmp_path / name for name in ("regions.csv", "records.csv", "jobs.csv"))
    places = [f"r{number},{number % 4},{number // 4}" for number in range(16)]
    regions.write_text("\n".join(["id,x,y", *places]) + "\n", encoding="utf-8")
    rows = [
        f"r{place},{'young' if copy % 2 else 'old'},{'smith' if copy < rare else 'cook'}"
        for place in range(16)
        for copy in range(24)
    ]
    records.write_text("\n".join(["region,age,job", *rows]) + "\n", encoding="utf-8")
    ladder.write_text("smith;any\ncook;any\n", encoding="utf-8")
    columns = ["--region-column", "region", "--quasi-identifiers", "age,job", "--pin", "age", "--quiet"]
    return ["search", str(records), str(regions), *columns, "--ladder", f"job={ladder}"]


def test_emptying_a_column_is_recommended_only_if_nothing_else_is_within_the_loss(capsys, tmp_path):
    given = rare_job(tmp_path, rare=2)
    assert main([*given, "-k", "5", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    full, emptied = document["nodes"]
    assert [full["job_categories"], emptied["job_categories"]] == [2, 1]
    assert full["front"]
    assert emptied["front"]

    def product(node):
        return node["detail_percent"] * (1 - node["place_information_loss"])

    assert product(emptied) > product(full), "otherwise this shows nothing"
    assert full["recommended"]
    assert not emptied["recommended"]
    assert main([*given, "-k", "5"]) == 0
    assert "leaves only one category" not in capsys.readouterr().out
    assert main([*given, "-k", "20"]) == 0
    assert (
        "It leaves only one category of job: nothing that keeps more is within 1 %."
        in capsys.readouterr().out
    )


def test_a_recommended_node_that_is_beaten_only_by_emptying_a_column_is_listed_too(capsys, tmp_path):
    given = [option for option in rare_job(tmp_path, rare=2) if option not in ("--pin", "age")]
    # Eight ages with 48 cooks and three smiths each: only two ages keep the jobs, only one job keeps the ages.
    cooks = [f"r{number % 16},{number // 48},cook" for number in range(384)]
    smiths = [f"r{(2 * age + copy) % 16},{age},smith" for age in range(8) for copy in range(3)]
    rows = [*cooks, *smiths]
    (tmp_path / "records.csv").write_text("\n".join(["region,age,job", *rows]) + "\n", encoding="utf-8")
    ages = tmp_path / "ages.csv"
    ages.write_text(
        "".join(f"{age};{'young' if age < 4 else 'old'}\n" for age in range(8)), encoding="utf-8"
    )
    assert main([*given, "--ladder", f"age={ages}", "-k", "5", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    best = next(node for node in nodes if node["recommended"])
    assert (best["age_categories"], best["job_categories"], best["front"]) == (2, 2, False)
    assert main([*given, "--ladder", f"age={ages}", "-k", "5"]) == 0
    said = capsys.readouterr().out
    assert f"\n>{best['node']} " in said
    assert "only combinations that leave one category of an attribute dominate it" in said


def test_in_tiers_the_places_that_occur_in_the_release_are_counted(capsys, tmp_path):
    out, target = tmp_path / "found", tmp_path / "release"
    assert search("--tiers", "auto", "--out", str(out), names="age,sex") == 0
    said = capsys.readouterr().out
    best = next(
        node for node in json.loads((out / "search.json").read_text())["nodes"] if node["recommended"]
    )
    names = [
        "--quasi-identifiers",
        "age,sex",
        "--range-reach",
        "0",
        "--no-pdf",
        "--columns",
        "tract,age,sex",
    ]
    groups = ["--generalise", str(out / "groups" / f"{best['node']}.csv")]
    assert main(["run", *SAMPLE, *names, *groups, "--tiers", "auto", "--out", str(target)]) == 0
    with (target / "release" / "anonymized.csv").open(encoding="utf-8") as file:
        occurring = {row["tract"] for row in csv.DictReader(file)}
    assert best["released_places"] == len(occurring) != best["aggregated_regions"]
    assert f": {len(occurring):,} places, " in said
