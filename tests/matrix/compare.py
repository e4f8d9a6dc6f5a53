"""Compare two checkouts: the same matrix of releases must have equal solutions, measures and released records.

``make matrix OTHER=/path/to/other/checkout`` runs every case with the ``vbas`` of both, in their own environments.
Measures may differ by a relative 1e-12; records are compared as multisets of rows.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tests.matrix.inputs import SAMPLE, write_inputs

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-12
# Times differ in every run; the others name versions, paths or keys drawn at random.
IGNORED_KEYS = {
    "seconds",
    "total_seconds",
    "program_version",
    "inputs",
    "options",
    "release",
    "rows_hash",
}
COMMON = [
    "--region-column",
    "tract",
    "--identifiers",
    "health_number",
    "--no-pdf",
    "--json",
    "--allow-column",
    "note,diagnosis",
]
THREE = ["--quasi-identifiers", "age,sex,marital_status"]
TWO = ["--quasi-identifiers", "age,sex"]
FIXED = ["--site-number", "fixed", "--sites", "60"]

# The name of a case: its record file and its options.
CASES: dict[str, tuple[str, list[str]]] = {
    "csv": ("records.csv", THREE),
    "csv, not shuffled": ("records.csv", [*THREE, "--no-shuffle"]),
    "csv to parquet": ("records.csv", [*THREE, "--format", "parquet"]),
    "latin-1, semicolons": ("semicolon-latin-1.csv", TWO),
    "utf-16": ("utf-16.csv", TWO),
    "byte-order mark, CRLF": ("bom-crlf.csv", TWO),
    "gzip": ("records.csv.gz", TWO),
    "category counts": ("category-counts.csv", [*TWO, "--site-number", "maxcombs"]),
    "parquet": ("records.parquet", THREE),
    "parquet to csv": ("records.parquet", [*TWO, "--format", "csv"]),
    "typed parquet": ("typed.parquet", [*TWO, "--no-shuffle"]),
    "wide": (
        "wide.csv",
        [
            *TWO,
            "--columns",
            "tract,age,sex,note,free_text,item_1,item_7",
            "--allow-column",
            "note,diagnosis,free_text",
        ],
    ),
    "wide, all columns": (
        "wide.csv",
        [*TWO, "--no-pair-tests", "--allow-column", "note,diagnosis,free_text"],
    ),
    "formulas escaped": ("records.csv", [*TWO, "--escape-formulas", "--no-shuffle"]),
    "renamed": (
        "records.csv",
        [*TWO, "--rename", "age=age group", "--rename", "note=remark", "--release-delimiter", ";"],
    ),
    "class size, record key": ("records.csv", [*TWO, "--class-size", "n", "--record-key", "key"]),
    "aggregated": ("records.csv", [*TWO, "--aggregate", "visits", "--aggregate-classes", "below:40"]),
    "aggregated, parquet": ("typed.parquet", [*TWO, "--aggregate", "visits"]),
    "filtered": (
        "records.csv",
        [*TWO, "--keep-records", "required.csv", "--drop-records", "unwanted.csv"],
    ),
    "region map": ("areas.csv", [*TWO, "--region-map", "region-map.csv"]),
    "generalised": ("records.csv", [*THREE, "--generalise", str(SAMPLE / "generalise.csv")]),
    "no global suppression": ("records.csv", [*THREE, "--no-global-suppression", "-k", "11"]),
    "tiers": ("records.csv", [*THREE, *FIXED, "--tiers", "auto"]),
    "tiers, allowed loss": ("records.csv", [*THREE, "--tiers", "auto"]),
    "tiers, parquet": ("records.parquet", [*THREE, *FIXED, "--tiers", "auto", "--tier-factor", "5"]),
    "distinct": ("records.csv", [*TWO, "--sensitive", "diagnosis", "--criterion", "distinct:3"]),
    "entropy": ("records.csv", [*TWO, "--sensitive", "diagnosis", "--criterion", "entropy:1.5"]),
    "recursive": ("records.csv", [*TWO, "--sensitive", "diagnosis", "--criterion", "recursive:4,2"]),
    "closeness": ("records.csv", [*TWO, "--sensitive", "diagnosis", "--criterion", "closeness:0.4"]),
    "ordered closeness": (
        "records.csv",
        [*TWO, "--sensitive", "visits", "--criterion", "ordered-closeness:0.4"],
    ),
    "share, tiers": (
        "records.csv",
        [
            *TWO,
            "--sensitive",
            "diagnosis",
            "--benign",
            "diagnosis=None",
            "--criterion",
            "share:60",
            *FIXED,
            "--tiers",
            "auto",
        ],
    ),
    "maxcombs": ("records.csv", [*TWO, "--site-number", "maxcombs"]),
    "entropy number": ("records.csv", [*TWO, "--site-number", "entropy", "--gaps-model", "western"]),
    "anonymity number": ("records.csv", [*TWO, "--site-number", "anonymity"]),
    "fixed": ("records.csv", [*TWO, "--site-number", "fixed", "--sites", "25", "--range-reach", "4"]),
    "random": ("records.csv", [*TWO, "--site-location", "random", "--random-seed", "7"]),
    "density": ("records.csv", [*TWO, "--site-location", "density"]),
    "density peaks": ("records.csv", [*TWO, "--site-location", "density-peaks"]),
    "anonymity": ("records.csv", [*TWO, "--site-location", "anonymity"]),
    "centroidal": ("records.csv", [*TWO, "--site-location", "centroidal"]),
    "adc": (
        "records.csv",
        [*THREE, "--site-number", "fixed", "--sites", "20", "--site-location", "adc"],
    ),
    "refine-sites": (
        "records.csv",
        [*TWO, "--site-number", "fixed", "--sites", "20", "--site-location", "refine-sites"],
    ),
    "boundaries": (
        "records.csv",
        [*TWO, "--site-number", "fixed", "--sites", "20", "--refinement", "boundaries"],
    ),
    "contiguous": ("records.csv", [*TWO, "--refinement", "contiguous"]),
    "growth": ("records.csv", [*TWO, "--construction", "growth"]),
    "crop": ("records.csv", [*TWO, "--construction", "crop"]),
    "limited sizes": ("records.csv", [*TWO, "--min-records", "400", "--max-records", "4000"]),
}
# Other commands: {inputs} is the folder of inputs, {sample} that of the sample, {out} where the command writes.
COMMANDS: dict[str, str] = {
    "compare": "compare {inputs}/records.csv {sample}/regions.geojson --region-column tract --quasi-identifiers age,sex"
    " -k 3,5 --site-location balanced-density,centroidal,random --tiers none;auto --out {out}",
    "search": "search {inputs}/records.csv {sample}/regions.geojson --region-column tract"
    " --quasi-identifiers age,sex,marital_status --out {out}",
    "risky": "risky {inputs}/records.csv --columns age,sex,marital_status,diagnosis -k 3 --apply"
    " --identifiers health_number --shuffle-seed {seed} --out {out}",
    "representability": "representability {inputs}/records.csv {inputs}/records.parquet --key health_number"
    " --quasi-identifiers age,sex,marital_status --sensitive diagnosis --out {out}",
    "outliers, merged": "outliers {sample}/people.csv --quasi-identifiers postcode,sex,age -k 3 --handle merge"
    " --shuffle-seed {seed} --out {out}.csv",
    "outliers, merged at size": "outliers {inputs}/records.csv"
    " --quasi-identifiers tract,age,sex,marital_status,housing -k 3 --handle merge"
    " --identifiers health_number --shuffle-seed {seed} --out {out}.csv",
    "outliers, made up": "outliers {inputs}/records.csv --quasi-identifiers tract,age,sex -k 3 --handle fabricate"
    " --identifiers health_number --shuffle-seed {seed} --out {out}.csv",
    "appointments": "appointments {sample}/people.csv {sample}/slots.csv --quasi-identifiers postcode,sex,age"
    " --id-column id --out {out}",
    "appointments, greedy": "appointments {sample}/people.csv {sample}/slots.csv --quasi-identifiers postcode,sex,age"
    " --id-column id --planner heuristic --out {out}",
    "generate": "generate --like eastern --records 50000 --regions 300 --seed 4 --out {out}",
}
SEED = "00112233445566778899aabbccddeeff" * 2
DUCKDB_CASES: dict[str, tuple[str, list[str]]] = {
    "duckdb, csv": ("duckdb:{folder}/records.csv", TWO),
    "duckdb, parquet": ("duckdb:{folder}/records.parquet", THREE),
    "duckdb, tiers": (
        "duckdb:{folder}/records.parquet",
        [*TWO, *FIXED, "--tiers", "auto", "--format", "parquet"],
    ),
}


def run_case(
    checkout: Path, inputs: Path, records: str, options: list[str], out: Path
) -> tuple[int, dict[str, Any]]:
    """Run one case with the environment of a checkout; return the exit code and what it printed as JSON."""
    if not records.startswith("duckdb:"):
        records = str(inputs / records)
    files = {name: str(inputs / name) for name in ("required.csv", "unwanted.csv", "region-map.csv")}
    arguments = [files.get(option, option) for option in options]
    command = [
        checkout / ".venv/bin/vbas",
        "run",
        records,
        SAMPLE / "regions.geojson",
        *COMMON,
        *arguments,
    ]
    done = subprocess.run([*command, "--out", out], capture_output=True, text=True, cwd=checkout)
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def find_differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the places at which two JSON values differ. What only the second one says is no difference."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() - IGNORED_KEYS):
            if key in other:
                yield from find_differences(one[key], other[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: only in the first"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from find_differences(left, right, f"{path}[{number}]")
    elif isinstance(one, float) or isinstance(other, float):
        if not (one == other or math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)):
            yield f"{path}: {one} and {other}"
    elif one != other:
        yield f"{path}: {str(one)[:80]} and {str(other)[:80]}"


def compare_releases(one: Path, other: Path, fixed_order: bool) -> Iterator[str]:
    """Yield how the released files differ."""
    for name in ("crosswalk.csv", "aggregated_regions.csv", "aggregated_regions.geojson"):
        if (one / name).read_bytes() != (other / name).read_bytes():
            yield f"{name} differs"
    left, right = _read_release(one), _read_release(other)
    if list(left.columns) != list(right.columns):
        yield "the columns of the records differ"
    elif not _sorted_rows(left).equals(_sorted_rows(right)):
        yield "the records differ"
    elif fixed_order and not left.equals(right):
        yield "the order of the records differs"


def _read_release(folder: Path) -> pd.DataFrame:
    """Read the released records; keys of records are drawn at random and left out."""
    (path,) = folder.glob("anonymized.*")
    if path.suffix == ".parquet":
        records = pd.read_parquet(path)
    else:
        records = pd.read_csv(
            path,
            dtype=str,
            keep_default_na=False,
            sep=None,
            engine="python",
            encoding=_find_encoding(path),
        )
    return records.drop(columns=[name for name in records.columns if name == "key"])


def _find_encoding(path: Path) -> str:
    beginning = path.read_bytes()[:2]
    if beginning in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _sorted_rows(records: pd.DataFrame) -> pd.DataFrame:
    texts = records.astype(str)
    return texts.sort_values(list(texts.columns)).reset_index(drop=True)


def compare_run(
    other: Path, inputs: Path, case: tuple[str, list[str]], scratch: Path
) -> tuple[bool, list[str]]:
    """Run one case with both checkouts; return whether it was refused, and the differences."""
    records, options = case
    outs = [scratch / side for side in ("other", "own")]
    source = records.format(folder=inputs)
    (code, before), (new_code, after) = (
        run_case(checkout, inputs, source, options, out)
        for checkout, out in zip((other, ROOT), outs, strict=True)
    )
    if code or new_code:
        errors = [_last_line(result.get("error", "")) for result in (before, after)]
        is_equal = code == new_code and errors[0] == errors[1]
        return True, [] if is_equal else [f"exit codes {code} and {new_code}: {errors[0]} / {errors[1]}"]
    differences = list(find_differences(before, after))
    releases = (out / "release" for out in outs)
    return False, differences + list(compare_releases(*releases, fixed_order="--no-shuffle" in options))


def compare_command(other: Path, inputs: Path, command: str, scratch: Path) -> tuple[bool, list[str]]:
    """Run another command with both checkouts and compare what it prints and the tables that it writes."""
    texts = []
    for checkout, side in ((other, "other"), (ROOT, "own")):
        (scratch / side).mkdir(parents=True)
        out = scratch / side / "out"
        arguments = command.format(inputs=inputs, sample=SAMPLE, out=out, seed=SEED).split()
        done = subprocess.run(
            [checkout / ".venv/bin/vbas", *arguments],
            capture_output=True,
            text=True,
            cwd=checkout,
            check=False,
        )
        printed = done.stdout.replace(str(scratch / side), "")
        if done.returncode:
            printed = _last_line(done.stderr)
        texts.append((done.returncode, printed))
    differences = [] if texts[0] == texts[1] else [f"printed: {texts[0]} and {texts[1]}"[:300]]
    tables = [_find_tables(scratch / side) for side in ("other", "own")]
    if tables[0].keys() != tables[1].keys():
        differences.append(f"other files: {sorted(tables[0].keys() ^ tables[1].keys())}")
    common = sorted(tables[0].keys() & tables[1].keys())
    differences += [f"{name} differs" for name in common if tables[0][name] != tables[1][name]]
    return texts[0][0] != 0, differences


def _find_tables(folder: Path) -> dict[str, bytes]:
    """Read the CSV files that a command wrote; times in them are left out."""
    found = {}
    for path in sorted(folder.rglob("*.csv")):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table[[name for name in table.columns if "seconds" not in name]]
        found[str(path.relative_to(folder))] = table.to_csv(index=False).encode()
    return found


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1]


def _print_line(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> int:
    """Run the matrix; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="another checkout with its own .venv")
    parser.add_argument("--only", default="", help="run only the cases whose name contains this")
    parser.add_argument("--duckdb", action="store_true", help="also read the records through DuckDB")
    chosen = parser.parse_args()
    other = chosen.other.resolve()
    cases = CASES | (DUCKDB_CASES if chosen.duckdb else {})
    names = [name for name in (*cases, *COMMANDS) if chosen.only in name]
    n_different = 0
    with tempfile.TemporaryDirectory(prefix="vbas-matrix-") as folder:
        inputs = Path(folder) / "inputs"
        write_inputs(inputs)
        for number, name in enumerate(names):
            scratch = Path(folder) / str(number)
            if name in cases:
                is_refused, differences = compare_run(other, inputs, cases[name], scratch)
            else:
                is_refused, differences = compare_command(other, inputs, COMMANDS[name], scratch)
            verdict = "refused by both" if is_refused else "equal"
            _print_line(f"{'DIFFERENT' if differences else verdict:<16}{name}")
            for difference in differences[:12]:
                _print_line(f"    {difference}")
            n_different += bool(differences)
    _print_line(f"{len(names) - n_different} of {len(names)} cases are equal")
    return min(1, n_different)


if __name__ == "__main__":
    sys.exit(main())
