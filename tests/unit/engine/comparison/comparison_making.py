"""Small plans and data for comparisons."""

from __future__ import annotations

import numpy as np

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.comparison.plan import ComparisonPlan
from vbas_desktop.engine.comparison.run import count_scenarios, estimate_work, run_comparison
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping
from vbas_desktop.settings.run import RunSettings

SILENT = NO_PROGRESS
GROUPS = Grouping("age", {"1": "young", "2": "young", "3": "old", "4": "old"})


def write_files(folder, regions=30, records=900, seed=1):
    """A record file (region, age, sex) and a region file (id, x, y)."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    places = [f"{i},{x:.2f},{y:.2f}" for i, (x, y) in enumerate(rng.random((regions, 2)) * 100)]
    (folder / "regions.csv").write_text("id,x,y\n" + "\n".join(places) + "\n")
    columns = (rng.integers(0, n, records) + low for n, low in ((regions, 0), (4, 1), (2, 1)))
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "records.csv").write_text("region,age,sex\n" + "\n".join(rows) + "\n")
    return folder / "records.csv", folder / "regions.csv"


def loaded(folder):
    records, regions = write_files(folder)
    return load_records(records), load_regions(regions)


def plan_of(**changes) -> ComparisonPlan:
    """A plan of all combinations of two numbers of sites and two locations; settings of a run may be changed too."""
    options = {option.name for option in RunSettings.options()}
    chosen = {"region_column": "region", "range_reach": 1, "workers": 2}
    chosen |= {name: changes.pop(name) for name in list(changes) if name in options}
    usual = {
        "settings": RunSettings(**chosen),
        "quasi_identifier_sets": (("age",), ("age", "sex")),
        "ks": (3,),
        "approaches": {
            "site_number": (
                create_approach("site_number", "fixed", {"sites": 6}),
                create_approach("site_number", "fixed", {"sites": 9}),
            ),
            "site_location": (
                create_approach("site_location", "density"),
                create_approach("site_location", "adc", {"seeding": "density"}),
            ),
        },
        "groupings": (GROUPS,),
        "generalised": (False, True),
    }
    return ComparisonPlan(**{**usual, **changes})


def compare_files(plan, table, regions, cache, progress=SILENT):
    """Count the scenarios, estimate the work and run it."""
    prepared = estimate_work(plan, count_scenarios(plan, table, regions), cache)
    return run_comparison(prepared, cache, progress)
