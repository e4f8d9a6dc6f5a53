"""Compare releases of the same record file: two at a time, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from .alternatives import ReleaseCandidate, ReleaseComparison
from .attribute_disclosure import (
    CriteriaCounts,
    ReleaseView,
    find_disclosed_attributes,
    list_values,
    recompute_listed_classes,
)
from .cross_release_groups import Exposure, JointCounts, ListedClasses
from .entry import Ints, LedgerEntry, hash_regions, hash_values
from .joint_inference import find_occupied_cells
from .joint_releases import JointReleases
from .ledger_file import Ledger

STAGE = "Comparing with earlier releases"


def compare_same_records(
    ledger: Ledger,
    candidate: ReleaseCandidate,
    earlier: Sequence[LedgerEntry],
    progress: Progress,
    k: int,
) -> tuple[list[ReleaseComparison], str]:
    """Compare a release with earlier ones of the same records, one by one and all together.

    k: least number of people in a group that is told apart. Returns the comparisons, and what all releases disclose
    together although no two of them do (empty if nothing, or if a pair is unsafe).
    """
    if not earlier:
        return [], ""
    progress.update(STAGE, 0.1)
    counts = count_joint_cells(ledger.key, candidate, earlier)
    joint = _join_releases(ledger, candidate, earlier, counts)
    progress.update(STAGE, 0.4)
    pairs = [joint.select_pair(0, number) for number in range(1, len(joint.releases))]
    if not pairs[0].reproduces(0):
        return _list_incomparable(candidate.entry, earlier), ""
    # What the audience has already reveals nothing more by being handed over again.
    is_known = any(pair.adds_nothing(0, 1) for pair in pairs)
    progress.update(STAGE, 0.5)
    exposures = [pair.find_exposure(k) for pair in pairs]
    if any(exposure.people for exposure in exposures) and not joint.find_exposure(k).people:
        # The earlier releases expose all of these people already.
        exposures = [Exposure()] * len(pairs)
    comparisons = []
    for entry, pair, exposure in zip(earlier, pairs, exposures, strict=True):
        progress.update(STAGE, 0.7)
        revealed = 0 if is_known or pair.adds_nothing(1, 0) else pair.count_revealed()
        comparisons.append(
            _describe_pair(k, entry, replace(exposure, revealed=revealed), pair.reproduces(1))
        )
    if is_known or any(not comparison.is_safe for comparison in comparisons):
        return comparisons, ""
    progress.update(STAGE, 0.9)
    joint_risk = _describe_joint_exposure(joint, k) or _describe_disclosed_attributes(
        ledger, candidate, counts, joint
    )
    return comparisons, joint_risk


def count_exposed_in_current_records(
    ledger: Ledger, candidate: ReleaseCandidate, entry: LedgerEntry, k: int
) -> int:
    """Count whom two releases would expose together if both were made of the records at hand."""
    counts = count_joint_cells(ledger.key, candidate, [entry])
    return _join_releases(ledger, candidate, [entry], counts).find_exposure(k).people


def count_joint_cells(
    key: bytes, candidate: ReleaseCandidate, earlier: Sequence[LedgerEntry]
) -> JointCounts:
    """Count the records by initial region and by all quasi-identifiers that any of the releases has."""
    problem = _build_joint_problem(candidate, earlier)
    values = tuple(
        hash_values(key, categories.column, categories.values) for categories in problem.categories
    )
    regions = hash_regions(key, problem.regions.ids)
    return JointCounts(
        regions, problem.quasi_identifiers, values, problem.counts, is_recoded=bool(problem.groupings)
    )


def _build_joint_problem(
    candidate: ReleaseCandidate,
    earlier: Sequence[LedgerEntry],
    sensitive: Sequence[SensitiveColumn] = (),
) -> Problem:
    """Use the counts at hand if all releases have the same combinations; otherwise count all columns, not recoded."""
    new = candidate.entry
    problem = candidate.problem
    if not all(new.has_same_combinations(entry) for entry in earlier):
        problem = None
    if problem is not None and not sensitive:
        return problem
    columns = dict.fromkeys(name for entry in (new, *earlier) for name in entry.quasi_identifiers)
    return build_problem(
        candidate.table,
        candidate.regions,
        region_column=new.region_column,
        quasi_identifiers=tuple(columns) if problem is None else problem.quasi_identifiers,
        k=1,
        unknown_regions="suppress",
        groupings=() if problem is None else problem.groupings,
        sensitive=sensitive,
    )


def _join_releases(
    ledger: Ledger, candidate: ReleaseCandidate, earlier: Sequence[LedgerEntry], counts: JointCounts
) -> JointReleases:
    """Find the classes of the new release and of the earlier ones in their joint counts."""
    entries = (candidate.entry, *earlier)
    return JointReleases.build(
        counts, entries, [_recompute_listed(ledger, candidate, entry) for entry in entries]
    )


def _recompute_listed(
    ledger: Ledger, candidate: ReleaseCandidate, entry: LedgerEntry
) -> ListedClasses | None:
    """Work out which classes a release lists; None if that is not needed, or if the records do not allow it."""
    try:
        return recompute_listed_classes(ledger.key, candidate.table, candidate.regions, entry)
    except InputError:
        # Its numbers of records are not reproduced then, and it counts as not comparable.
        return None


def _list_incomparable(new: LedgerEntry, earlier: Sequence[LedgerEntry]) -> list[ReleaseComparison]:
    """Say of each earlier release that the new one cannot be compared with it, and what to do."""
    remedy = ""
    if new.parents and new.criteria:
        remedy = (
            " Release it without tiers or without criteria, or hand over an extract of that release."
        )
    reason = "what it releases does not follow from numbers of records alone."
    return [
        ReleaseComparison(entry, False, f"It cannot be compared with {entry.title}: {reason}{remedy}")
        for entry in earlier
    ]


def _describe_pair(
    k: int, entry: LedgerEntry, exposure: Exposure, is_reproduced: bool
) -> ReleaseComparison:
    """Say how the release compares with one earlier release."""
    if not is_reproduced:
        text = f"It cannot be compared with {entry.title}: the record file does not give what was released then."
        return ReleaseComparison(entry, False, text)
    if exposure.people:
        people = format_count(exposure.people, "person", "people")
        text = (
            f"Whoever has {entry.title} as well could single out {people}: "
            "the two files together divide the records into smaller groups than each of them does, and "
            f"{exposure.groups:,} of these groups have fewer than {k:,} people."
        )
        return ReleaseComparison(entry, False, text, exposure.people)
    if exposure.revealed:
        text = (
            f"Whoever has {entry.title} as well would see that combinations which one of the two leaves out do occur "
            f"({format_count(exposure.revealed, 'group')} of records must be there)."
        )
        return ReleaseComparison(entry, False, text)
    return ReleaseComparison(entry, True, f"Nobody is singled out by having {entry.title} as well.")


def _describe_joint_exposure(joint: JointReleases, k: int) -> str:
    """Say what all releases show about single people or missing classes although no two of them do."""
    ids = ", ".join(str(release.entry.id) for release in joint.releases[1:])
    prefix = f"Together with releases {ids}, all of them, this release would"
    people = joint.find_exposure(k).people
    if people:
        return f"{prefix} single out {format_count(people, 'person', 'people')}, in groups of fewer than {k:,}."
    informative = _list_informative(joint)
    if len(informative) < 2:
        return ""
    earlier = [joint.outcomes[number] for number in informative]
    occupied = find_occupied_cells([joint.outcomes[0], *earlier], joint.cells.sizes)
    if not occupied.any() or not (occupied & ~find_occupied_cells(earlier, joint.cells.sizes)).any():
        return ""
    return f"{prefix} show that combinations which one of them leaves out do occur."


def _list_informative(joint: JointReleases) -> list[int]:
    """List the earlier releases that cannot be derived from the new one or from each other."""
    informative: list[int] = []
    for number in range(1, len(joint.releases)):
        if any(joint.adds_nothing(number, other) for other in (0, *informative)):
            continue
        informative = [other for other in informative if not joint.adds_nothing(other, number)]
        informative.append(number)
    return informative


def _describe_disclosed_attributes(
    ledger: Ledger, candidate: ReleaseCandidate, counts: JointCounts, joint: JointReleases
) -> str:
    """Say of how many people all releases together disclose sensitive values; an empty text if of nobody."""
    criteria = list(
        _count_criteria(ledger.key, candidate, [release.entry for release in joint.releases[1:]])
    )
    if not criteria:
        return ""
    texts = []
    views = [
        ReleaseView(outcome, release.entry.columns)
        for outcome, release in zip(joint.outcomes, joint.releases, strict=True)
    ]
    for column, people in find_disclosed_attributes(
        criteria, joint.cells, _find_merged_rows(counts, joint), views
    ):
        missed = " or ".join(criterion.text for criterion in column.criteria)
        texts.append(
            f"Together with what this audience has, the release would give “{column.column}” of "
            f"{format_count(people, 'person', 'people')} away: the files divide them into groups that miss {missed}."
        )
    return " ".join(texts)


def _find_merged_rows(counts: JointCounts, joint: JointReleases) -> Ints:
    """Find the row of the merged counts that each initial region is in."""
    if joint.cells is counts:
        return np.arange(counts.regions.size)
    memberships = [release.entry.find_aggregated_regions(counts.regions) for release in joint.releases]
    return number_combinations(memberships)[0]


def _count_criteria(
    key: bytes, candidate: ReleaseCandidate, earlier: Sequence[LedgerEntry]
) -> Iterator[CriteriaCounts]:
    """Count the records by the values of each sensitive column for which some release has criteria."""
    for number, entry in enumerate((candidate.entry, *earlier)):
        for recorded in entry.criteria:
            values = list_values(candidate.table, recorded.column)
            if values:
                sensitive = (recorded.restore(key, values),)
                yield CriteriaCounts(number, _build_joint_problem(candidate, earlier, sensitive))
