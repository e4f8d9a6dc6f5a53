"""Handle the k-outliers of files in which most classes are small: age × postcode × income × education.

``python tests/benchmarks/bench_outliers.py FOLDER [RECORDS…]`` prints the table alone; numbers of records are 30,000,
100,000 and 300,000 unless they are given.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RECORDS = (30_000, 100_000, 300_000)
COLUMNS = ("age", "postcode", "income", "education")
EDUCATION = ("none", "primary", "secondary", "college", "university", "doctorate")
CPU_SECONDS = 30.0
"""What every way may take for the largest file."""

WAYS = {
    "delete": ["--handle", "delete"],
    "generalise": ["--handle", "generalise", "--hierarchies", "{levels}"],
    "generalise, with the closest class": [
        "--handle",
        "generalise",
        "--with-closest",
        "--hierarchies",
        "{levels}",
    ],
    "generalise, everywhere": ["--handle", "generalise", "--everywhere", "--hierarchies", "{levels}"],
    "generalise, no hierarchies": ["--handle", "generalise", "--with-closest"],
    "merge": ["--handle", "merge"],
    "merge, with tables": ["--handle", "merge", "--distances", "{distances}"],
    "fabricate": ["--handle", "fabricate", "--sensitive", "value"],
}


def make_data(folder: Path, records: int) -> Path:
    """Write a record file, with the hierarchies and a table of distances beside it; the same for the same number."""
    draw = np.random.default_rng(records)
    folder.mkdir(parents=True, exist_ok=True)
    ages = np.clip(draw.normal(45, 20, records), 0, 99).astype(int)
    codes = np.minimum(draw.pareto(0.6, records), 399).astype(int)
    incomes = np.minimum(draw.pareto(1.2, records) * 2, 19).astype(int)
    education = draw.choice(len(EDUCATION), records, p=(0.1, 0.2, 0.3, 0.2, 0.15, 0.05))
    values = draw.integers(20, 60, records)
    rows = zip(ages, codes, incomes, education, values, strict=True)
    path = folder / f"records-{records}.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("age,postcode,income,education,value\n")
        file.writelines(f"{a},P{c:03d},{i}000,{EDUCATION[e]},{v}\n" for a, c, i, e, v in rows)
    _write_hierarchies(folder / "levels")
    _write_distances(folder / "distances")
    return path


def _write_hierarchies(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    lines = {
        "age": [f"{n};{n // 5}x5;{n // 10}x10;{n // 20}x20;*" for n in range(100)],
        "postcode": [f"P{n:03d};P{n // 10:02d}_;P{n // 100}__;*" for n in range(400)],
        "income": [f"{n}000;{n // 2}x2;{n // 4}x4;{n // 8}x8;*" for n in range(20)],
        "education": [f"{name};{'lower' if n < 3 else 'higher'};*" for n, name in enumerate(EDUCATION)],
    }
    for column, values in lines.items():
        (folder / f"{column}.csv").write_text("\n".join(values) + "\n", encoding="utf-8")


def _write_distances(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    lines = [";".join(["", *EDUCATION])]
    for one, name in enumerate(EDUCATION):
        lines.append(";".join([name, *(str(abs(one - other)) for other in range(len(EDUCATION)))]))
    (folder / "education.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def handle(path: Path, way: str) -> None:
    """Run the command in this process."""
    from vbas_desktop.cli.main import main

    folder = path.parent
    more = [word.format(levels=folder / "levels", distances=folder / "distances") for word in WAYS[way]]
    common = ["--quasi-identifiers", ",".join(COLUMNS), "-k", "5", "--replace", "--quiet"]
    code = main(["outliers", str(path), *common, *more, "--out", str(folder / "out.csv")])
    if code:
        raise SystemExit(code)


def measure(path: Path, way: str) -> tuple[float, float]:
    """Run one way in a process of its own, after one that compiles what is not kept yet; CPU seconds and peak MB."""
    command = [sys.executable, __file__, "--one", str(path), way]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[
        -1
    ]
    seconds, megabytes = found.split()
    return float(seconds), float(megabytes)


def measure_all(folder: Path, numbers: tuple[int, ...] = RECORDS) -> list[list[str]]:
    """Measure every way with every number of records; rows of a table."""
    rows = []
    warm = make_data(folder, 10_000)
    for way in WAYS:
        measure(warm, way)
        row = [way]
        for number in numbers:
            seconds, megabytes = measure(make_data(folder, number), way)
            row.append(f"{seconds:.1f} s, {megabytes:,.0f} MB")
        rows.append(row)
    return rows


def test_every_way_of_handling_outliers_stays_near_linear(tmp_path, bench_table):
    rows = measure_all(tmp_path)
    bench_table(
        "Handling k-outliers, CPU seconds and peak memory", ["", *(f"{n:,}" for n in RECORDS)], rows
    )
    slow = [row[0] for row in rows if float(row[-1].split()[0]) > CPU_SECONDS]
    assert slow == []


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        started = time.process_time()
        handle(Path(sys.argv[2]), sys.argv[3])
        used = resource.getrusage(resource.RUSAGE_SELF)
        sys.stdout.write(f"{time.process_time() - started:.2f} {used.ru_maxrss / 1024:.0f}\n")
    else:
        for line in measure_all(Path(sys.argv[1]), tuple(map(int, sys.argv[2:])) or RECORDS):
            sys.stdout.write(" | ".join(line) + "\n")
