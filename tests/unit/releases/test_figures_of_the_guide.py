"""The figures that docs/ledger.md and docs/sensitive-values.md tell of the sample are those of the program."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import vbas_desktop as vbas
from vbas_desktop.algorithms.diversity import shares_of
from vbas_desktop.app.run import RunRequest, run_configuration
from vbas_desktop.approaches.selection import settings_from_options
from vbas_desktop.engine.outcome import suppress_solution
from vbas_desktop.model.criteria import DISTINCT, SHARE
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.releases.ledger import Ledger, ReleaseCandidate, check_candidate, entry_from_plan
from vbas_desktop.releases.ledger.entry_builder import count_rows
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.settings.release import ReleaseOptions

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "sample_data"
OPTIONS = ReleaseOptions(identifiers=("health_number",))


@cache
def guide(name: str) -> str:
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


@cache
def ran(*quasi_identifiers: str, records: Path = SAMPLE / "records.csv", **settings):
    """The records and what a run of them gives."""
    data = vbas.read(
        records, SAMPLE / "regions.geojson", region_column="tract", quasi_identifiers=list(quasi_identifiers),
        identifiers=["health_number"],
    )  # fmt: skip
    options = {
        key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()
    }
    chosen, _ = settings_from_options({**data._options, "k": 5, **options})
    return data._loaded, run_configuration(RunRequest(chosen, data._loaded))


def entry(data, run, solution: int, key: bytes = b"k" * 16):
    return entry_from_plan(
        build_plan(run.problem, run.result.solution(solution)), data.table, OPTIONS, key, "Uni"
    )


def people(earlier, new) -> int:
    """Whom the new release singles out beside the earlier one: each is (records, run, number of the solution)."""
    ledger, _ = Ledger(key=b"k" * 16).add(entry(*earlier))
    data, run, _ = new
    subject = ReleaseCandidate(entry(*new), data.table, run.problem.regions, run.problem)
    (against,) = check_candidate(ledger, subject, "Uni").comparisons
    return against.people


def test_two_solutions_of_one_run_and_other_columns_single_out_as_many_as_the_guide_says():
    text = guide("ledger.md")
    by_sex = ran("age", "sex", site_number="maxcombs")
    by_status = ran("age", "marital_status", site_number="maxcombs")
    regions = [solution.aggregated_regions for solution in by_sex[1].result.solutions]
    assert (regions, {each.suppressed_records for each in by_sex[1].result.solutions}) == (
        [14, 16, 18, 20, 22],
        {0},
    )
    assert "five solutions with 14 to 22 aggregated regions" in text
    found = people((*by_sex, 3), (*by_sex, 4))
    assert f"together they single out {found:,} people" in text
    found = people((*by_sex, 3), (*by_status, 3))
    assert f"they single out {found:,} people" in text


def test_next_year_s_newcomers_are_as_many_as_the_guide_says(tmp_path):
    head, *rows = (SAMPLE / "records.csv").read_text().splitlines()
    before = tmp_path / "before.csv"
    before.write_text(
        "\n".join([head, *(row for number, row in enumerate(rows) if number % 3500)]) + "\n"
    )
    data, run = ran("age", "sex", site_number="maxcombs", records=before)
    earlier = entry(data, run, 3)
    earlier = replace(earlier, rows=count_rows(earlier, data.table, b"k" * 16, NO_PROGRESS))
    ledger, _ = Ledger(key=b"k" * 16).add(earlier)
    now, this_year = ran("age", "sex", site_number="maxcombs")
    # The regions of the year before.
    plan = build_plan(this_year.problem, run.result.solution(3))
    new = entry_from_plan(plan, now.table, OPTIONS, ledger.key, "Uni")
    (against,) = check_candidate(
        ledger, ReleaseCandidate(new, now.table, plan.regions, this_year.problem), "Uni"
    ).comparisons
    assert against.people == 30
    assert "all thirty are found, in 28 combinations" in guide("ledger.md")
    assert "in 28 combinations" in against.text


def test_what_classes_of_the_sample_give_away_is_as_the_guide_says():
    data, run = ran("age", "sex", "marital_status", sensitive=("diagnosis",), benign=("diagnosis=None",))
    text, chosen = guide("sensitive-values.md"), run.result.solution(3)
    found = suppress_solution(run.problem, chosen)
    (values,) = found.values
    released = found.release_values(values, 0)
    shares, sizes = shares_of(values.column.totals), released.class_sizes
    share = released.compute_figures(SHARE, 0.0, shares)
    assert f"there are {chosen.aggregated_regions:,} regions and {len(released):,} classes" in text
    few, many = released.compute_figures(DISTINCT, 0.0, shares) < 3, share > 50
    assert f"in {many.sum():,} classes, with {sizes[many].sum():,} people, more than half" in text
    assert (
        f"in {few.sum():,} classes, with {sizes[few].sum():,} people, there are fewer than three" in text
    )
    assert f"a certainty of {share.max():.0f} %" in text
    alike = released.lengths == 1
    assert not share[alike].any(), "all of one value have the benign one"
    assert (
        f"would count {alike.sum():,} classes with {sizes[alike].sum():,} people as given away" in text
    )
    # The same run, handed over twice.
    finer = run.result.solution(4).aggregated_regions
    told = f"({chosen.aggregated_regions:,} and {finer:,} regions) it is {people((data, run, 3), (data, run, 4)):,}"
    assert told in guide("ledger.md")
