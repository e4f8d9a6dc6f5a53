"""Small plans and data for comparisons."""

from __future__ import annotations

import numpy as np

from vbas_desktop.approaches.registry import make
from vbas_desktop.comparison.plan import Plan
from vbas_desktop.comparison.run import count_scenarios, prepare, run_prepared
from vbas_desktop.io.records.table import load_records
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.model.progress import Silent
from vbas_desktop.model.records import Grouping

SILENT = Silent()
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


def plan_of(**changes) -> Plan:
    usual = {
        "region_column": "region",
        "quasi_identifier_sets": (("age",), ("age", "sex")),
        "ks": (3,),
        "approaches": {
            "site_number": (make("site_number", "fixed", {"sites": 6}), make("site_number", "fixed", {"sites": 9})),
            "site_location": (make("site_location", "density"), make("site_location", "adc", {"seeding": "density"})),
        },
        "groupings": (GROUPS,),
        "generalised": (False, True),
        "range_reach": 1,
        "workers": 2,
    }
    return Plan(**{**usual, **changes})


def run_comparison(plan, table, regions, keeper, progress=SILENT):
    """Count, prepare and run."""
    prepared = prepare(plan, count_scenarios(plan, table, regions), keeper)
    return run_prepared(prepared, keeper, progress)
