"""Compute what stands beside the published tables, by the commands of the program as users call them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PARV = ROOT / "tests" / "data" / "parv"
HOUSEHOLD = ROOT / "docs" / "examples" / "household"
CLIENTS = ROOT / "docs" / "examples" / "clients.csv"

THESIS_FILES = {
    "eastern": "thesis-tables-07-12.csv",
    "western": "thesis-tables-13-18.csv",
    "pei": "thesis-tables-19-22.csv",
}
PARTS = (*THESIS_FILES, "parv", "rules", "screening")

DOMAIN_RULES = """PostalCode,Candidate,Candidate-1
PostalCode,Candidate,Candidate-3
Gender,Threshold Greater,7
ALL,Candidate,Candidate-4
"""
"""Table 1 of the paper on rule mining."""

FILTER_RULES = """id, -3
id, -2
id, -1
id, null
age, null
gender, null
region, -1
region, -1
region, -1
region, null
married, null
children, null
first time, null
current, null
long term, null
has health, null
has sin, null
"""
"""Listing 4 of the paper on rule mining."""

CLIENT_COLUMNS = (
    "Age,Gender,Region,Income,Married,First Visit,Health Coverage,"
    "Current Client,Long Term Client,SIN Available"
)
CLASSES = "zip,gender,age,people\n88888,male,50-54,4\n11111,male,55-59,4\n11111,female,55-59,5\n88888,female,55-59,2\n"
SLOTS = "centre,time,capacity\nA,9,4\nA,13,2\nB,9,4\nB,13,3\nC,13,2\n"
"""Table 7 of the paper on screening: classes and slots of its running example."""

FILLS = ("closest", "listing", "largest")
"""How the heuristic splits classes: as the text of Algorithm 2 says, as its listing says, into the largest slot."""

APPOINTMENTS = [
    "88888 male A9",
    "11111 male A9",
    "11111 female A9",
    "88888 female A9",
    "88888 male A13",
    "11111 female A13",
    "11111 female B9",
    "11111 male B9",
    "11111 female B9",
    "88888 female B9",
    "11111 male B13",
    "11111 female B13",
    "88888 male C13",
    "88888 male C13",
    "11111 male B13",
]
"""Table 6 of the paper on screening: quasi-identifiers with the appointment (each ZIP and gender has one age)."""


def run_command(*arguments: str | Path) -> str:
    """Run `vbas` and return what it prints."""
    command = [sys.executable, "-m", "vbas_desktop.cli", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"vbas {arguments[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def compute_part(part: str, results: Path) -> None:
    """Compute one part and store it in a file of ``results``."""
    with tempfile.TemporaryDirectory() as folder:
        if part in THESIS_FILES:
            (results / THESIS_FILES[part]).write_text(
                compute_thesis(part, Path(folder)), encoding="utf-8"
            )
            return
        computed = {"parv": compute_parv, "rules": compute_rules, "screening": compute_screening}[part](
            Path(folder)
        )
    text = json.dumps(computed, indent=1, ensure_ascii=False)
    (results / f"{part}.json").write_text(text + "\n", encoding="utf-8")


def compute_thesis(like: str, folder: Path) -> str:
    """Run the experiments of one part of Canada at full size; return ours beside the published rows as CSV."""
    run_command("reproduce-thesis", "--like", like, "--out", folder / "out", "--quiet")
    text = (folder / "out" / "side-by-side.csv").read_text(encoding="utf-8")
    rows = [[_rounded(field) for field in row] for row in csv.reader(io.StringIO(text))]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _rounded(field: str) -> str:
    """Shorten decimals to six digits; whole numbers and words stay."""
    try:
        value = float(field)
    except ValueError:
        return field
    return (
        field
        if value.is_integer() and "." not in field
        else f"{value:.6g}"
        if abs(value) < 1e6
        else f"{value:.0f}"
    )


def compute_parv(folder: Path) -> dict[str, Any]:
    """Analyse the releases C3 to C7 of C2, and make C5 and C6 anew."""
    common = ("--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet")
    levels = ("--hierarchies", HOUSEHOLD / "levels")
    vectors = {}
    for name in ("C3", "C4", "C5", "C6", "C7"):
        files = (
            PARV / "C2.csv",
            PARV / f"{name}.csv",
            "--key",
            "Key",
            "--sensitive",
            "Value,Illness,PSA",
        )
        vectors[name] = json.loads(run_command("representability", *files, *common, *levels, "--json"))
    columns = {"C1": "Hh,Age,Gender,Education,Job,Smoker", "C2": "Hh,Job"}
    counted = {}
    for name, names in columns.items():
        file = PARV / f"{name}.csv"
        counted[name] = run_command(
            "outliers", file, "--quasi-identifiers", names, "-k", "3", "--quiet"
        ).strip()
    handled = {}
    for way, more in {"delete": (), "merge": (), "generalise": levels}.items():
        target = folder / f"{way}.csv"
        run_command("outliers", PARV / "C2.csv", *common, "--handle", way, *more, "--out", target)
        handled[way] = _classes(target)
    published = {name: _classes(PARV / f"{name}.csv") for name in ("C2", "C3", "C5", "C6")}
    return {
        "outliers": counted,
        "overall": {name: vector["overall"] for name, vector in vectors.items()},
        "approaches": {name: vector["general"]["approaches"] for name, vector in vectors.items()},
        "sensitive_values": {name: vectors[name]["sensitive_values"] for name in ("C3", "C7")},
        "classes_handled": handled,
        "classes_published": published,
    }


def _classes(path: Path) -> dict[str, int]:
    """Count the records of each class of a file with the columns Hh and Job."""
    with path.open(encoding="utf-8", newline="") as stream:
        return dict(
            sorted(Counter(f"{row['Hh']}/{row['Job']}" for row in csv.DictReader(stream)).items())
        )


def compute_rules(folder: Path) -> dict[str, Any]:
    """Search and coarsen 600 clients with the columns and categories of Table 3."""
    (folder / "domain.csv").write_text(DOMAIN_RULES, encoding="utf-8")
    (folder / "filter.csv").write_text(FILTER_RULES, encoding="utf-8")
    common = ("risky", CLIENTS, "--columns", CLIENT_COLUMNS, "-k", "3", "--json", "--quiet")
    rules = {
        "no rules": (),
        "domain rules of Table 1": ("--domain-rules", folder / "domain.csv", "--allow-exempted"),
        "filter rules of Listing 4": ("--filter-rules", folder / "filter.csv"),
    }
    searched = {}
    applied = {}
    for name, options in rules.items():
        finding = tuple(option for option in options if option != "--allow-exempted")
        found = json.loads(run_command(*common, *finding, "--most", "100000"))
        sizes = Counter(str(one["size"]) for one in found["combinations"])
        searched[name] = {
            "number": found["number"],
            "exempted": found["exempted"],
            "by_size": dict(sizes),
        }
        for strategy in ("paper", "cover", "gentle"):
            target = folder / f"{strategy}-{len(applied)}"
            more = ("--strategy", strategy, "--apply", "--identifiers", "ID", "--out", target)
            done = json.loads(run_command(*common, *options, *more))
            emptied = sum(one["values_after"] == 1 for one in done["detail"])
            applied[f"{name}, {strategy}"] = {
                "steps": len(done["steps"]),
                "columns_emptied": emptied,
                "anonymity": done["anonymity"],
                "suppressed_records": done["suppressed_records"],
                "columns_kept_percent": 100 * (1 - emptied / len(done["detail"])),
            }
    return {"searched": searched, "applied": applied}


def compute_screening(folder: Path) -> dict[str, Any]:
    """Solve the running example by every planner, and run both experiments."""
    from vbas_desktop.appointments.anonymity_vector import (
        AnonymityVector,
        compute_indices,
        count_partitions,
    )

    (folder / "classes.csv").write_text(CLASSES, encoding="utf-8")
    (folder / "slots.csv").write_text(SLOTS, encoding="utf-8")
    files = (
        "appointments",
        folder / "classes.csv",
        folder / "slots.csv",
        "--quasi-identifiers",
        "zip,gender,age",
    )
    plans = {}
    ways = {name: ("--planner", name) for name in ("optimal", "random")}
    ways |= {fill: ("--set", f"heuristic.fill={fill}") for fill in FILLS}
    for name, way in ways.items():
        plan = json.loads(run_command(*files, "--count-column", "people", *way, "--json", "--quiet"))
        plans[name] = {key: plan[key] for key in ("vector_before", "vector", "k", "proof")}
    table_5 = {"a": (1, 1, 1, 5), "b": (1, 1, 6), "c": (1, 2, 5), "d": (1, 3, 4)}
    vectors = {name: AnonymityVector.of_sizes(list(sizes)) for name, sizes in table_5.items()}
    table_6 = AnonymityVector.of_sizes(list(Counter(APPOINTMENTS).values()))
    experiment = ("appointments-experiment", "--programmes", "100", "--largest-optimal", "50", "--quiet")
    sizes = ("--people", "20,25,30,35,40,45,50,100,250,500,1000")
    many = ("--people", "1000", "--classes", "N/10+5")
    set_fill = {fill: ("--set", f"heuristic.fill={fill}") for fill in FILLS}
    return {
        "table_5": {name: list(vector.counts) for name, vector in vectors.items()},
        "table_5_indices": {name: compute_indices(vector)[0] for name, vector in vectors.items()},
        "table_6": list(table_6.counts),
        "plans": plans,
        "partitions_of_15": count_partitions(15),
        "table_10": {
            fill: _markdown_rows(run_command(*experiment, *sizes, *set_fill[fill])) for fill in FILLS
        },
        "many_classes": {
            fill: _markdown_rows(run_command(*experiment, *many, *set_fill[fill])) for fill in FILLS
        },
        "table_11": _markdown_rows(run_command("appointments-experiment", "--country", "--quiet")),
    }


def _markdown_rows(text: str) -> list[dict[str, str]]:
    """Read the rows of a printed Markdown table, by the names of its columns, without the published figures."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
    return [{name: cell for name, cell in row.items() if name != "published"} for row in rows]
