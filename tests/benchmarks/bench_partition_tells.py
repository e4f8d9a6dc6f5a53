"""What the borders of aggregated regions tell of the records: an informed recipient guesses from the crosswalk alone.

The recipient knows the points of the initial regions, the crosswalk and which approach placed the sites. Of each
aggregated region he guesses the initial region whose point would make the best site: taken as the site, it contradicts
the fewest owners. With `anonymity` the sites are the regions with the smallest classes, so that a right guess names one
of them. With ADC he also places the sites as its seeding would, which needs only the population of each initial region,
and sees which aggregated regions were moved: ADC moves those with the smallest classes.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from vbas_desktop.algorithms.aggregation import aggregate, smallest_classes
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.cli.main import main
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.settings.run import RunSettings

SEEDS = range(10)
REGIONS, RECORDS, SITES, K = 600, 60_000, 50, 5
APPROACHES = ("anonymity", "adc", "balanced-density", "density")


def show(line):
    """To the terminal, past what pytest captures."""
    sys.__stdout__.write(f"{line}\n")


def problem_of(folder, seed):
    """Synthetic records, another draw for each seed."""
    size = ["--records", str(RECORDS), "--regions", str(REGIONS), "--seed", str(seed)]
    assert main(["generate", "--like", "eastern", "--out", str(folder), "--quiet", *size]) == 0
    table, regions = load_records(folder / "records.csv"), load_regions(folder / "regions.csv")
    return build_problem(
        table, regions, region_column="region", quasi_identifiers=("age", "gender"), k=K
    )


def membership(problem, approach):
    """The crosswalk."""
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": SITES}),
        create_approach("site_location", approach),
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    return run(request).chosen.membership


def contradictions(points, owner, rounds=6):
    """How many owners would be wrong if a region's point were the site of its aggregated region, and the guesses."""
    distance = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    groups = owner.max() + 1
    own = owner[:, None] == owner[None]
    sites = np.array([points[owner == group].mean(axis=0) for group in range(groups)])
    for _ in range(rounds):
        to_site = np.hypot(*(points[:, None] - sites[None]).transpose(2, 0, 1))
        mine = to_site[np.arange(len(points)), owner]
        others = np.where(np.arange(groups)[None] == owner[:, None], np.inf, to_site).min(axis=1)
        wrong = ((distance < mine[None]) & ~own).sum(axis=1) + ((distance > others[None]) & own).sum(
            axis=1
        )
        # Among equals, the one nearest to the place that fitted before.
        order = np.lexsort((mine, wrong, owner))
        guesses = order[np.searchsorted(owner[order], np.arange(groups))]
        sites = points[guesses]
    return wrong, guesses


def auc(score, truth):
    """The chance that a region for which it is true scores higher than one for which it is not."""
    _, place = np.unique(score, return_inverse=True)
    counts = np.bincount(place)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    yes = truth.sum()
    return (ranks[truth].sum() - yes * (yes + 1) / 2) / (yes * (len(score) - yes))


def lowest(problem):
    """The regions of lowest anonymity, as many as there are sites."""
    anonymity, classes = smallest_classes(problem.counts)
    order = np.lexsort((-classes, np.where(anonymity > 0, anonymity, np.iinfo(np.int64).max)))
    truth = np.zeros(len(order), bool)
    truth[order[:SITES]] = True
    return truth


def twins(before, after):
    """The aggregated region of ``after`` that has most of each one of ``before``."""
    shared = np.zeros((before.max() + 1, after.max() + 1), int)
    np.add.at(shared, (before, after), 1)
    return shared.argmax(axis=1)


def moved(problem, before, after):
    """How far the middle of each aggregated region went, in terms of its width."""
    points, far = problem.regions.points, []
    for group, twin in enumerate(twins(before, after)):
        old, new = points[before == group], points[after == twin]
        far.append(np.hypot(*(new.mean(axis=0) - old.mean(axis=0))) / (np.ptp(old, axis=0).max() or 1.0))
    return np.array(far)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Problems and their partitions by every approach."""
    made = []
    for seed in SEEDS:
        problem = problem_of(tmp_path_factory.mktemp("world"), seed)
        made.append((problem, {name: membership(problem, name) for name in APPROACHES}))
    return made


def test_which_initial_regions_have_the_smallest_classes(worlds):
    rows = {}
    for name in APPROACHES:
        figures = []
        for problem, owners in worlds:
            truth = lowest(problem)
            wrong, guesses = contradictions(problem.regions.points, owners[name])
            figures.append((truth.mean(), truth[guesses].mean(), auc(-wrong, truth)))
        rows[name] = np.mean(figures, axis=0)
    show(f"\n{SITES} lowest of {REGIONS}, {len(SEEDS)} draws: by chance, of the guesses right, AUC")
    for name, (base, right, area) in rows.items():
        show(f"{name:18} {base:.3f} {right:.3f} {area:.3f}")
    assert rows["anonymity"][1] > 3 * rows["density"][1]


def test_which_aggregated_regions_had_the_smallest_classes_before_adc_moved_them(worlds):
    figures = []
    for problem, owners in worlds:
        before = owners["balanced-density"]
        anonymity, _ = smallest_classes(aggregate(problem.counts, before, int(before.max()) + 1))
        truth = anonymity == anonymity[anonymity > 0].min()
        figures.append((truth.mean(), auc(moved(problem, before, owners["adc"]), truth)))
    share, area = np.mean(figures, axis=0)
    show(
        f"\nADC, at the lowest anonymity before its moves: {share:.3f} of the aggregated regions, AUC {area:.3f}"
    )
    assert area > 0.6
