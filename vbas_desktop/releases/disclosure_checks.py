"""Find what could undo a release: columns that reveal person, place or category, the order of the rows, the sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.approaches.interface import SiteLocation
from vbas_desktop.approaches.registry import disclosure_notes, list_approaches
from vbas_desktop.audit.column_tests import (
    Disclosure,
    choose_combinations,
    disclosing_columns,
    disclosing_combinations,
)
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.release import ReleaseOptions

from .column_statistics import column_statistics
from .notation import CountableRecords
from .plan import ReleasePlan

DISCLOSIVE_COLUMN = "disclosive-column"
"""The code of findings about columns that disclose too much."""
SITES_REVEALED = "sites-revealed"
"""The code of the refusal to reveal sites that were placed by the records."""

CONFIRM_HINT = " If you agree to that, add --confirm-sites."

_UNION = "Release the union of the initial regions (--shapes union)."

MIXED = 0.5
"""Rows count as mixed from this share of the changes of region that a random order would have."""


def find_disclosive_partition(solution: Solution) -> tuple[Finding, ...]:
    """Warn if the way in which the regions were made shows where classes were small."""
    return tuple(
        Finding(
            "disclosive-partition",
            f"The released regions reveal something about the records. {text}",
            "If that matters, place the sites by density or balanced density.",
            Severity.WARNING,
        )
        for text in disclosure_notes(solution.approaches, solution.parameters)
    )


def check_disclosure(
    records: CountableRecords, options: ReleaseOptions, progress: Progress
) -> tuple[Finding, ...]:
    """Refuse columns that would undo the release; return warnings of those that are allowed knowingly all the same."""
    problem = records.plan.problem
    header = records.table.file_format.header
    used = {problem.region_column, *problem.quasi_identifiers}
    exempt = options.class_columns(header, used)
    columns = [name for name, _ in options.released_columns(header) if name not in {*used, *exempt}]
    disclosures = find_disclosures(records, columns, progress, options)
    refuse_disclosures(disclosures, options)
    allowed = (_make_finding(disclosure) for disclosure in disclosures)
    return tuple(
        replace(finding, remedy="It was allowed knowingly.", severity=Severity.WARNING)
        for finding in allowed
    )


def refuse_disclosures(disclosures: Sequence[Disclosure], options: ReleaseOptions) -> None:
    """Raise `InputError` for columns, pairs and triples that disclose too much and are not allowed."""
    refused = [
        _make_finding(disclosure)
        for disclosure in disclosures
        if not _is_allowed(disclosure.columns, options.allow_columns)
    ]
    if refused:
        raise InputError(refused)


def find_disclosive_columns(
    records: CountableRecords,
    columns: Sequence[str],
    progress: Progress,
    options: ReleaseOptions | None = None,
) -> tuple[Finding, ...]:
    """Return a finding for each column, pair (``A+B``) and triple of columns that discloses too much."""
    return tuple(map(_make_finding, find_disclosures(records, columns, progress, options)))


def find_disclosures(
    records: CountableRecords,
    columns: Sequence[str],
    progress: Progress,
    options: ReleaseOptions | None = None,
) -> list[Disclosure]:
    """Test columns, pairs and triples; a column that discloses too much alone is in no pair.

    All pairs are tested; triples only with those of the written file, which `choose_combinations` chooses.
    """
    options = options or ReleaseOptions()
    statistics = column_statistics(records, columns, progress)
    tested = [statistics.column(records.table.facts(name)) for name in columns]
    disclosures = list(disclosing_columns(statistics, tested, progress))
    disclosing = {name for disclosure in disclosures for name in disclosure.columns}
    others = [column for column in tested if column.name not in disclosing]
    tried = choose_combinations(others, every_pair=True).tried
    if not options.pair_tests:
        tried = tuple(combination for combination in tried if len(combination) == 2)
    return [*disclosures, *disclosing_combinations(statistics, tried, progress)]


def _make_finding(disclosure: Disclosure) -> Finding:
    name = "+".join(disclosure.columns)
    words = {
        1: ("it", "it", "it"),
        2: ("one of the two", "one", "the pair"),
        3: ("one of the three", "one", "the three"),
    }
    return Finding(
        DISCLOSIVE_COLUMN,
        disclosure.text,
        _describe_remedies(name, *words[len(disclosure.columns)]),
        column=name,
    )


def _is_allowed(columns: Sequence[str], allowed: Sequence[str]) -> bool:
    """Return whether all the columns are allowed, or the combination of them is, in any order."""
    if all(name in allowed for name in columns):
        return True
    return any("+".join(order) in allowed for order in permutations(columns))


def _describe_remedies(name: str, left_out: str, recoded: str, allowed: str) -> str:
    name_in_shell = f'"{name}"' if " " in name or "," in name else name
    return (
        f"Leave {left_out} out (as an identifier); make {recoded} a quasi-identifier; group its values or make them "
        f"coarser; or allow {allowed} knowingly: --allow-column {name_in_shell}."
    )


def find_disclosive_order(plan: ReleasePlan, table: CodedRecords) -> tuple[Finding, ...]:
    """Warn if rows that are released in their order stand together by initial region."""
    region = plan.problem.region_column
    frequencies = table.facts(region).frequencies
    codes = table.codes(region)
    if frequencies is None or table.rows < 2:
        return ()
    together = float(((frequencies / table.rows) ** 2).sum())
    if np.count_nonzero(codes[1:] != codes[:-1]) >= MIXED * (1 - together) * table.rows:
        return ()
    return (
        Finding(
            "disclosive-order",
            "The rows are released in the order of the record file, in which those of a region stand together: "
            "neighbouring rows reveal the place in more detail than the aggregated region.",
            "Shuffle the rows.",
            Severity.WARNING,
        ),
    )


def use_site_cells(plan: ReleasePlan, options: ReleaseOptions) -> ReleasePlan:
    """Return the plan with the sites whose cells are its shapes, if cells are wanted.

    Raises `InputError` if the cells would not be the released regions, or if they reveal sites that were placed by the
    records and nobody agreed to that.
    """
    if options.shapes != "cells":
        return plan
    solution = plan.solution
    reason = _reason_not_to_use_cells(solution)
    if reason:
        message = f"The cells of the sites cannot be the shapes of these regions: {reason}."
        raise InputError(Finding("shapes", message, _UNION))
    assert solution.sites is not None
    sites = solution.sites[solution.owners_used]
    if not np.array_equal(find_nearest_sites(plan.regions.points, sites), plan.membership):
        message = "The cells of the sites cannot be the shapes of these regions: limits gave some to another site."
        raise InputError(Finding("shapes", message, _UNION))
    if uses_records(solution) and not options.confirm_sites:
        raise InputError(
            Finding(SITES_REVEALED, _describe_revealed_sites(solution), _UNION + CONFIRM_HINT)
        )
    return replace(plan, cell_sites=sites)


def uses_records(solution: Solution) -> bool:
    """Tell whether the sites of a solution were placed by the records, not by the initial regions alone."""
    approach = _find_site_location(solution)
    return approach is None or approach.uses_records


def _find_site_location(solution: Solution) -> type[SiteLocation] | None:
    """Return the approach that placed the sites; None if this program does not know it."""
    approach = list_approaches("site_location").get(solution.approaches.get("site_location", ""))
    return approach if approach is not None and issubclass(approach, SiteLocation) else None


def find_disclosive_cells(plan: ReleasePlan) -> tuple[Finding, ...]:
    """Warn that the released cells reveal sites that were placed by the records."""
    if plan.cell_sites is None or not uses_records(plan.solution):
        return ()
    return (
        Finding(
            "cells-reveal-sites",
            _describe_revealed_sites(plan.solution),
            "This was confirmed.",
            Severity.WARNING,
        ),
    )


def _describe_revealed_sites(solution: Solution) -> str:
    approach = _find_site_location(solution)
    title = "another approach" if approach is None else approach.metadata.title
    return (
        f"The cells reveal the exact sites, which were placed by the records (“{title}”): anybody can compute the "
        "sites from the borders, and learns from them where records are."
    )


def _reason_not_to_use_cells(solution: Solution) -> str:
    """Return why a solution is not a plain Voronoi diagram; empty if it is one."""
    construction = solution.approaches.get("construction", "")
    refinement = solution.approaches.get("refinement", "none")
    if construction != "voronoi":
        return f"the construction is “{construction}”, and only “voronoi” gives every place to its nearest site"
    if refinement != "none":
        return f"the refinement “{refinement}” gave initial regions to other sites than the nearest"
    if solution.tiers is not None:
        return "the release is in tiers, whose larger areas have no sites"
    return "" if solution.sites is not None else "there are no sites"
