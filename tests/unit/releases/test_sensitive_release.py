"""Released files meet the criteria for sensitive values; the auditor refuses those that do not."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

import vbas_desktop.releases.plan as planning
from tests.release_making import write_records, write_regions
from tests.unit.algorithms.naive_criteria import meets
from vbas_desktop.algorithms.suppression import suppress_locally
from vbas_desktop.audit import row_comparison
from vbas_desktop.cli.main import main
from vbas_desktop.engine.outcome import aggregate_solution
from vbas_desktop.model.criteria import parse_criterion
from vbas_desktop.model.progress import NO_PROGRESS

HEADER = ["age", "sex", "region", "illness", "cost"]
RELEASED = ["--allow-column", "cost,illness", "--no-pdf", "--quiet", "--range-reach", "0"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    draw = np.random.default_rng(7)
    rows = []
    for _ in range(900):
        age, region = int(draw.integers(0, 5)), int(draw.integers(0, 16))
        ill = draw.choice(["none", "flu", "hiv", "gout", ""], p=[0.4, 0.3, 0.1, 0.15, 0.05])
        if age == 3 and region < 6:
            ill = "hiv"
        cost = draw.choice(["1", "1.0", "2", "5", "5.0", "9"])
        rows.append([f"{age}0", "fm"[int(draw.integers(2))], f"r{region}", ill, cost])
    write_records(tmp_path, rows, HEADER)
    write_regions(tmp_path)
    monkeypatch.chdir(tmp_path)
    return rows


def released(*more: str, sites: int = 4, k: int = 3, quasi: str = "age,sex") -> int:
    words = [
        "run",
        "records.csv",
        "regions.csv",
        "--region-column",
        "region",
        "--quasi-identifiers",
        quasi,
    ]
    return main([*words, "-k", str(k), "--sites", str(sites), *RELEASED, *more, "--out", "out"])


def classes_of(path: Path, column: str, quasi: tuple[str, ...] = ("region", "age", "sex")) -> dict:
    found: dict[tuple, Counter] = defaultdict(Counter)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found[tuple(row[name] for name in quasi)][row[column]] += 1
    return dict(found)


CASES = [
    ("illness", "share:50", ("none",)),
    ("illness", "share:30", ("none", "")),
    ("illness", "distinct:3", ()),
    ("illness", "entropy:2", ("none",)),
    ("illness", "recursive:2,2", ("none",)),
    ("illness", "closeness:0.35", ()),
    ("illness", "closeness:0.3", ("none",)),
    ("cost", "ordered-closeness:0.2", ()),
    ("cost", "distinct:3", ()),
]


@pytest.mark.parametrize("tiers", ["none", "auto"])
@pytest.mark.parametrize(("column", "criterion", "benign"), CASES)
def test_every_released_class_has_k_records_and_meets_the_criterion(
    files, tiers, column, criterion, benign
):
    named = [each or "(missing)" for each in benign]
    more = ["--benign", f"{column}={','.join(named)}"] if benign else []
    assert released("--sensitive", column, "--criterion", criterion, *more, "--tiers", tiers) == 0
    path = Path("out/release/anonymized.csv")
    classes = classes_of(path, column)
    everybody = sum(classes.values(), Counter())
    assert min(sum(values.values()) for values in classes.values()) >= 3
    assert all(
        meets(values, parse_criterion(criterion), set(benign), everybody) for values in classes.values()
    )
    told = json.loads(Path("out/run.json").read_text())["solutions"][0]
    assert sum(everybody.values()) == told["released_records"]
    verify = [
        "verify",
        str(path),
        "--quasi-identifiers",
        "age,sex",
        "--region-column",
        "region",
        "-k",
        "3",
        "--quiet",
    ]
    assert main([*verify, "--sensitive", column, "--criterion", criterion, *more]) == 0


def test_without_tiers_exactly_the_classes_that_fail_are_left_out(files):
    assert released("--sensitive", "illness", "--benign", "illness=none") == 0
    before = classes_of(Path("out/release/anonymized.csv"), "illness")
    assert released("--sensitive", "illness", "--benign", "illness=none", "--criterion", "share:50") == 0
    after = classes_of(Path("out/release/anonymized.csv"), "illness")
    rule = parse_criterion("share:50")
    assert after == {
        key: values for key, values in before.items() if meets(values, rule, {"none"}, Counter())
    }
    assert 0 < len(after) < len(before)
    told = json.loads(Path("out/run.json").read_text())["solutions"][0]
    lost = [sum(values.values()) for key, values in before.items() if key not in after]
    assert told["suppressed_sensitive"] == sum(lost)
    assert told["sensitive"]["illness"]["largest_share_percent"] <= 50


def test_values_that_are_written_alike_count_as_one(files):
    assert released("--sensitive", "cost") == 0
    told = json.loads(Path("out/run.json").read_text())["solutions"][0]["sensitive"]["cost"]
    seen = classes_of(Path("out/release/anonymized.csv"), "cost")
    assert told["least_distinct"] == min(len(values) for values in seen.values())
    assert {value for values in seen.values() for value in values} == {"1", "2", "5", "9"}


def test_a_parquet_release_is_audited_too(files):
    assert released("--sensitive", "illness", "--criterion", "distinct:3", "--format", "parquet") == 0
    frame = pa_parquet.read_table("out/release/anonymized.parquet").to_pandas()
    assert frame.groupby(["region", "age", "sex"])["illness"].nunique(dropna=False).min() >= 3


def test_a_column_that_is_not_released_is_protected_all_the_same(files):
    assert (
        released(
            "--sensitive", "illness", "--criterion", "distinct:3", "--columns", "region,age,sex,cost"
        )
        == 0
    )
    told = json.loads(Path("out/run.json").read_text())["solutions"][0]
    assert told["suppressed_sensitive"] > 0


def without_criteria(problem, solution, progress=NO_PROGRESS):
    """A fault: everything that has k records is released."""
    return suppress_locally(replace(aggregate_solution(problem, solution), sensitive=()), progress)


@pytest.mark.parametrize(
    "criterion", ["share:50", "distinct:3", "closeness:0.3", "entropy:2", "recursive:2,2"]
)
def test_the_auditor_refuses_a_release_that_does_not_meet_the_criterion(
    files, monkeypatch, capsys, criterion
):
    monkeypatch.setattr(planning, "suppress_solution", without_criteria)
    monkeypatch.setattr(planning, "VerificationFailed", lambda text: None)
    stated = planning.ReleasePlan.records_suppressed
    monkeypatch.setattr(
        planning.ReleasePlan,
        "records_suppressed",
        property(lambda plan: _Any(stated.fget(plan))),
    )
    assert released("--sensitive", "illness", "--criterion", criterion) != 0
    said = capsys.readouterr().err
    assert "the values of “illness” meet the criteria in every combination: no" in said
    assert not Path("out").exists()
    assert "hiv" not in said


class _Any(int):
    """A number that passes for any other, so that the fault reaches the auditor."""

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


def test_the_auditor_alone_decides_by_the_file(files, monkeypatch):
    """Nothing but what was read back makes the check: with the check gone, the fault would go through."""
    seen = []
    real = row_comparison.check_criteria
    monkeypatch.setattr(
        row_comparison,
        "check_criteria",
        lambda columns, names: seen.append(columns) or real(columns, names),
    )
    assert released("--sensitive", "illness", "--criterion", "share:50", "--benign", "illness=none") == 0
    ((one,),) = seen
    assert one.distribution.groups == len(classes_of(Path("out/release/anonymized.csv"), "illness"))


def test_verify_finds_a_planted_class(files, capsys):
    assert released("--sensitive", "illness", "--criterion", "distinct:3") == 0
    path = Path("out/release/anonymized.csv")
    verify = [
        "verify",
        str(path),
        "--quasi-identifiers",
        "age,sex",
        "--region-column",
        "region",
        "-k",
        "3",
    ]
    options = ["--sensitive", "illness", "--criterion", "distinct:3", "--criterion", "share:90"]
    assert main([*verify, *options]) == 0
    capsys.readouterr()
    with path.open("a") as file:
        file.write("77,f,r0,hiv,1\n" * 4)
    assert main([*verify, *options]) == 3
    found = capsys.readouterr()
    told = json.loads(found.out)
    assert told["violating_records"] == 0
    assert told["sensitive"]["illness"]["criteria"] == {
        "distinct:3": {"violating_classes": 1, "violating_records": 4},
        "share:90": {"violating_classes": 1, "violating_records": 4},
    }
    assert "illness: 4 records are in 1 class that misses distinct:3." in found.err
    assert main([*verify, "--sensitive", "illness"]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--criterion", "share:50"], "--criterion needs --sensitive"),
        (["--benign", "illness=none"], "--benign needs --sensitive"),
        (["--sensitive", "age"], "“age” is both sensitive and a quasi-identifier"),
        (["--sensitive", "region"], "is the region column"),
        (["--sensitive", "ilness"], "There is no column “ilness”"),
        (["--sensitive", "illness", "--criterion", "cost=share:50"], "“cost” is not sensitive"),
        (["--sensitive", "illness", "--criterion", "most:50"], "is not a valid criterion"),
        (
            ["--sensitive", "illness", "--benign", "illness=healthy"],
            "No record has the benign value “healthy”",
        ),
        (
            ["--sensitive", "illness", "--criterion", "ordered-closeness:0.2"],
            "Not all values of the column are numbers",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(files, capsys, options, words):
    status: object = None
    try:
        status = released(*options)
    except SystemExit as ended:
        status = ended.code
    assert status in (1, 2)
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not Path("out").exists()


FILES = [
    "records.csv",
    "regions.csv",
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age,sex",
    "-k",
    "3",
]
ASKED = ["--sensitive", "illness", "--benign", "illness=none", "--criterion", "share:50"]


def test_a_search_counts_what_fails_and_keeps_its_nodes_apart(files, capsys):
    words = ["search", *FILES, "--allowed-loss", "4", "--quiet", "--json", "--out", "found"]
    found = []
    for more in ([], ASKED, []):
        assert main([*words, *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["nodes"])
    plain, asked, again = found
    assert plain == again
    regions = [sum(node["aggregated_regions"] or 0 for node in nodes) for nodes in (plain, asked)]
    assert regions[1] < regions[0]


def test_a_comparison_counts_what_fails_and_keeps_its_runs_apart(files, capsys):
    words = [
        "compare",
        *FILES,
        "--site-number",
        "fixed",
        "--sites",
        "6",
        "--range-reach",
        "0",
        "--quiet",
        "--out",
        "table",
    ]
    suppressed = []
    for more in ([], ASKED, []):
        assert main([*words, *more]) == 0
        with next(Path("table").glob("*.csv")).open(newline="") as file:
            suppressed.append([int(row["suppressed_records"]) for row in csv.DictReader(file)])
    assert suppressed[0] == suppressed[2]
    assert all(asked > plain for plain, asked in zip(suppressed[0], suppressed[1], strict=True))


def test_an_export_keeps_to_the_criteria_of_its_run(files):
    assert released(*ASKED) == 0
    assert main(["export", "out", "--out", "again", "--quiet"]) == 0
    first, second = (Path(name) / "release" / "anonymized.csv" for name in ("out", "again"))
    assert first.read_bytes() == second.read_bytes()


def test_the_recipient_reads_of_the_column_by_its_new_name_alone(files):
    assert released(*ASKED, "--rename", "illness=condition") == 0
    page = Path("out/release/report.html").read_text(encoding="utf-8")
    assert "Every released class also meets the criteria for “condition”; see Sensitive values." in page
    assert "share a sensitive value, further protection" not in page
    assert "he values of “condition” meet the criteria in every combination" in page
    assert "at most 50 % of the records with the commonest harmful value" in page
    assert "illness" not in page
    assert "“none”" not in page


@pytest.mark.parametrize("benign", [(), ("--benign", "cost=1.50")])
def test_values_with_a_type_are_judged_as_they_are_released(tmp_path, monkeypatch, benign):
    """Decimals of a Parquet file are released with all their digits, text is not."""
    monkeypatch.chdir(tmp_path)
    costs = pa.array(
        [Decimal(cost) for cost in ("0.00", "1.50", "1.50", "3.00") * 10], pa.decimal128(8, 2)
    )
    pa_parquet.write_table(
        pa.table({"region": ["r0"] * 40, "age": ["10"] * 40, "cost": costs}), "records.parquet"
    )
    write_regions(tmp_path)
    words = [
        "run",
        "records.parquet",
        "regions.csv",
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
    ]
    judged = [
        "--sensitive",
        "cost",
        "--criterion",
        "ordered-closeness:0.4",
        "--criterion",
        "share:50",
        *benign,
    ]
    assert main([*words, *judged, "-k", "3", "--sites", "1", "--no-pdf", "--quiet", "--out", "out"]) == 0
    found = classes_of(tmp_path / "out" / "release" / "anonymized.csv", "cost", ("region", "age"))
    assert [dict(each) for each in found.values()] == [{"0.00": 10, "1.50": 20, "3.00": 10}]


@pytest.mark.parametrize("tiers", ["none", "auto"])
@pytest.mark.parametrize("odd", [None, "abc"])
def test_values_that_are_written_alike_count_as_one_whatever_is_suppressed(
    tmp_path, monkeypatch, tiers, odd
):
    """Old people have 7 alone, as 7 and 07: a suppressed word does not make two values of it."""
    rows = [["60", "fm"[n % 2], f"r{n % 16}", ["7", "07"][n // 2 % 2], "1"] for n in range(320)]
    rows += [["30", "fm"[n % 2], f"r{n % 16}", ["7", "8", "+8"][n % 3], "1"] for n in range(320)]
    rows.append(["99", "f", "r1", odd or "9", "1"])
    write_records(tmp_path, rows, HEADER)
    write_regions(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert released("--sensitive", "illness", "--criterion", "distinct:2", "--tiers", tiers) == 0
    path = Path("out/release/anonymized.csv")
    assert {age for _, age, _ in classes_of(path, "illness")} == {"30"}
    assert set.union(*(set(values) for values in classes_of(path, "illness").values())) == {"7", "8"}
    words = ["--quasi-identifiers", "age,sex", "--region-column", "region", "-k", "3", "--quiet"]
    assert (
        main(["verify", str(path), *words, "--sensitive", "illness", "--criterion", "distinct:2"]) == 0
    )


def test_verify_counts_values_that_differ_in_notation_as_one(tmp_path, monkeypatch):
    """A file of another program may hold 7 and 07: that is one value."""
    write_records(
        tmp_path, [["60", "f", "r1", ["7", "07", " 7"][n % 3], "1"] for n in range(12)], HEADER
    )
    monkeypatch.chdir(tmp_path)
    words = ["--quasi-identifiers", "age,sex", "--region-column", "region", "-k", "3", "--quiet"]
    assert (
        main(["verify", "records.csv", *words, "--sensitive", "illness", "--criterion", "distinct:2"])
        == 3
    )
