"""Counting sensitive values and judging them, against loading the records: CPU seconds of this process.

.venv/bin/python tests/benchmarks/bench_sensitive.py RECORDS REGIONS [COLUMN [CRITERION]]
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from vbas_desktop.algorithms.suppression import Aggregation, suppress_locally
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion

QUASI_IDENTIFIERS = ("age", "gender", "marital")
GROUPS = 400


def timed(work):
    """What some work gives, and the CPU seconds that it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def main(records: str, regions: str, column: str = "income", criterion: str = "closeness:0.3") -> None:
    """Load, count without and with the sensitive column, decide about one partition; print the ratios."""
    places = load_regions(regions)
    table, loading = timed(lambda: load_records(records))
    rule = parse_criterion(criterion).of(column)

    def counted(*sensitive):
        given = {"region_column": "region", "quasi_identifiers": QUASI_IDENTIFIERS, "k": 5}
        return build_problem(table, places, sensitive=sensitive, **given)

    chosen = SensitiveColumn(column, (), (rule,))
    counted(chosen)  # the loops are compiled now
    plain, without = timed(counted)
    problem, with_values = timed(lambda: counted(chosen))
    owner = (np.arange(len(places)) * GROUPS // len(places)).astype(np.int32)
    merged = Aggregation(problem.counts, 5, owner, GROUPS, None, problem.sensitive)
    suppress_locally(merged)
    _, by_size = timed(lambda: suppress_locally(Aggregation(plain.counts, 5, owner, GROUPS)))
    found, judged = timed(lambda: suppress_locally(merged))
    cells = problem.sensitive[0].cells.table.nnz
    more = with_values - without + judged - by_size
    told = (
        f"{table.rows:,} records, {len(places):,} regions, {column} {criterion}: {cells:,} cells, {cells * 12:,} bytes",
        f"loading {loading:.2f} s; counting {without:.2f} s, with values {with_values:.2f} s",
        f"deciding {by_size:.2f} s, with criteria {judged:.2f} s; released {found.records:,}",
        f"sensitive values cost {more:.2f} s = {more / loading:.2f} x loading",
    )
    sys.__stdout__.write("\n".join(told) + "\n")


@pytest.mark.parametrize("scenario", ["income closeness:0.3", "religion share:50"])
@pytest.mark.parametrize("name", ["eastern", "western"])
def test_sensitive_values_against_loading(bench_data, name, scenario):
    data = bench_data(name)
    main(str(data.records), str(data.regions), *scenario.split())


if __name__ == "__main__":
    main(*sys.argv[1:])
