"""An attacker with all files of a release learns nothing about the combinations that it lacks.

The files are read as a recipient would read them, every number in them that depends on suppressed records becomes a
constraint, and a solver looks for the fewest and the most records that a missing cell can have. Then the other way
round: record files that differ in suppressed records only have to give the same files.
"""

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from release_making import GRID, Case, write_records, write_regions
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

QUASI = ("age", "sex")
AGES = ("10", "20", "30")
RUNS = 200


def load(folder, counts, k, sites):
    """A case from the number of records of each (initial region, age, sex). Sites by density do not see records."""
    folder.mkdir(exist_ok=True)
    rows = [
        [age, sex, f"r{region}"] for (region, age, sex), n in sorted(counts.items()) for _ in range(n)
    ]
    table = load_records(
        write_records(folder, rows, ["age", "sex", "region"]), RecordReading(category_counts="no")
    )
    problem = build_problem(
        table, load_regions(write_regions(folder)), region_column="region", quasi_identifiers=QUASI, k=k
    )
    approaches = (
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "density"),
    )
    return Case(
        table,
        problem,
        run(
            Request(
                problem,
                *approaches,
                create_approach("construction", "voronoi"),
                settings=RunSettings(range_reach=1),
            )
        ),
    )


def random_counts(seed):
    """Counts with some small classes, k, and a number of sites."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 5))
    places = generator.choice(GRID * GRID, int(generator.integers(2, 8)), replace=False).tolist()
    few, most = 0.2 + generator.random() * 0.6, k * int(generator.choice([3, 10, 60]))
    counts = {
        (place, age, sex): int(
            generator.integers(0, k) if generator.random() < few else generator.integers(k, most)
        )
        for place in places
        for age in AGES
        for sex in "fm"
    }
    return {cell: n for cell, n in counts.items() if n}, k, int(generator.integers(1, 7))


@dataclass
class Seen:
    """What a recipient reads in the files: cells of the released file, and sums of missing cells with bounds."""

    released: Counter
    missing: list
    sums: list
    states_a_share: bool

    def range_of(self, cell, k):
        """The fewest and the most records that a missing cell can have, by integer programming."""
        bounds = Bounds(0, [k - 1] * len(self.missing) + [np.inf])
        rows = [LinearConstraint(weights, low, high) for weights, low, high in self.sums]
        found = []
        for sign in (1, -1):
            goal = [sign * float(other == cell) for other in self.missing] + [0.0]
            best = milp(goal, constraints=rows, bounds=bounds, integrality=1)
            assert best.success, "the truth itself fits"
            found.append(sign * round(best.fun))
        return tuple(found)


def read(folder, k):
    """Every number about suppressed records in the released files, as bounds of sums of missing cells.

    The last unknown stands for records of classes that are released nowhere. Who knows that there are none has more to
    go on: it is 0 wherever that is possible.
    """
    with (folder / "anonymized.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    released = Counter((row["region"], *(row[name] for name in QUASI)) for row in rows)
    with (folder / "crosswalk.csv").open(newline="") as file:
        regions = sorted({row["aggregated_region"] for row in csv.DictReader(file)})
    values = [sorted({row[name] for row in rows}) for name in QUASI]
    missing = [cell for cell in product(regions, *values) if cell not in released]
    sums = [(_where(missing, lambda cell: True), *bounds) for bounds in _totals(folder, len(rows))]
    for heading, body in _tables(folder):
        if "records suppressed" not in heading:
            continue
        place = (*QUASI, "aggregated region").index(heading[0])
        for row in body:
            text, label = row[heading.index("records suppressed")], row[0]
            bounds = (0, k - 1) if text.startswith("fewer") else (_number(text), _number(text))
            sums.append(
                (_where(missing, lambda cell, p=place, x=label: cell[(p + 1) % 3] == x), *bounds)
            )
    stated = any(low > 0 or high < np.inf for _, low, high in sums)
    if all(low <= (k - 1) * sum(weights[:-1]) for weights, low, _ in sums):
        sums.append((np.array([0.0] * len(missing) + [1.0]), 0, 0))
    return Seen(released, missing, sums, stated)


def _totals(folder, released):
    vector = json.loads((folder / "representability.json").read_text())
    overall = vector["overall"]
    for number in (
        vector["excluded_classes"]["unnamed_records"],
        vector["general"]["approaches"]["delete"],
    ):
        if number is not None:
            yield number, number
    if overall["sample_size_ratio"] is not None:
        total = round(released / overall["sample_size_ratio"]) - released
        yield total, total
    low, high = (overall.get(f"sample_size_ratio_at_{name}") for name in ("most", "least"))
    if high is not None:
        yield from _percents(round(100 - 100 * low), round(100 - 100 * high), released)
    page = (folder / "report.html").read_text()
    stated = re.search(
        r"([\d,]+) records were suppressed|Fewer than ([\d,]+) records were suppressed", page
    )
    if stated:
        yield (_number(stated[1]),) * 2 if stated[1] else (0, _number(stated[2]) - 1)
    share = re.search(r"per cent of the file: (?:(\d+) to (\d+) %|below (\d+) %|(\d+) % or more)", page)
    if share:
        below, from_on = share[2] or share[3] or 100, share[1] or share[4] or 0
        yield from _percents(int(from_on), int(below), released)


def _percents(low, high, released):
    """Suppressed records s with low ≤ 100·s/(s + released) < high."""
    most = np.inf if high == 100 else -(-high * released // (100 - high)) - 1
    yield -(-low * released // (100 - low)), most


def _where(missing, wanted):
    return np.array([float(wanted(cell)) for cell in missing] + [1.0])


def _tables(folder):
    page = (folder / "report.html").read_text()
    for table in re.findall(r"<table>.*?</table>", page, flags=re.S):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
        cells = [
            [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
            for row in rows
        ]
        yield cells[0], cells[1:]


def _number(text):
    return int(text.replace(",", ""))


def test_a_solver_narrows_no_missing_cell_of_200_random_runs(tmp_path):
    cells = stated = 0
    for seed in range(RUNS):
        counts, k, sites = random_counts(seed)
        case = load(tmp_path / "in", counts, k, sites)
        if not case.solution.measures["discernibility"]:
            continue
        seen = read(case.release(tmp_path / "out").folder, k)
        # Cells that are in the same sums are alike to the solver.
        alike = {
            tuple(column): cell
            for cell, *column in zip(seen.missing, *(sums[0][:-1] for sums in seen.sums), strict=True)
        }
        for cell in alike.values():
            assert seen.range_of(cell, k) == (0, k - 1), (seed, cell)
        cells += len(seen.missing)
        stated += seen.states_a_share
    assert cells > 1000, "there was something to find out"
    assert stated > 80, "and something to find it out from"


def owners(folder):
    with (folder / "crosswalk.csv").open(newline="") as file:
        return {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def world_with(cell, value, seen, k, total, homes):
    """Missing cells' records by initial region: this one has ``value``, the others the rest of the total if it fits."""
    rest = max(0, total - value)
    world = {(homes[cell[0]], *cell[1:]): value}
    for other in seen.missing:
        if other != cell and rest:
            taken = min(rest, k - 1)
            world[homes[other[0]], *other[1:]] = taken
            rest -= taken
    return world


@pytest.mark.parametrize("seed", range(7))
def test_whatever_a_missing_cell_holds_there_is_a_record_file_that_gives_the_same_release(
    tmp_path, seed
):
    counts, k, sites = random_counts(1000 + seed)
    options = ReleaseOptions(
        shuffle=False, class_size="size", pdf=seed == 0, geometry=("geojson", "gpkg")
    )
    case = load(tmp_path / "in", counts, k, sites)
    folder = case.release(tmp_path / "out", options).folder
    truth, seen, owner = files_of(folder), read(folder, k), owners(folder)
    homes = {code: int(region[1:]) for region, code in sorted(owner.items(), reverse=True)}
    kept = {cell: n for cell, n in counts.items() if (owner[f"r{cell[0]}"], *cell[1:]) in seen.released}
    total = sum(counts.values()) - sum(kept.values())
    compared = 0
    for cell, value in product(seen.missing, range(k)):
        made = {**kept, **world_with(cell, value, seen, k, total, homes)}
        again = load(tmp_path / "in", {each: n for each, n in made.items() if n}, k, sites)
        files = files_of(again.release(tmp_path / "out", options).folder)
        assert files == truth, (cell, value)
        compared += 1
    assert compared == len(seen.missing) * k
