"""Check whether a release may be handed to an audience that has, or may come to have, earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import format_count
from vbas_desktop.model.value_notation import plain_value

from .alternatives import LedgerVerdict, ReleaseCandidate, ReleaseComparison, describe_refused
from .attribute_disclosure import list_values
from .entry import LedgerEntry, hash_regions
from .entry_builder import count_rows
from .ledger_file import Ledger
from .population_changes import ChangeComparison, PopulationChange
from .same_records import STAGE, compare_same_records, count_exposed_in_current_records


def check_candidate(
    ledger: Ledger,
    candidate: ReleaseCandidate,
    audience: str,
    progress: Progress = NO_PROGRESS,
    k: int | None = None,
) -> LedgerVerdict:
    """Compare the release with everything that the audience has.

    k: least number of people in a group that is told apart; None: the largest k of the releases compared.
    """
    progress.update(STAGE, 0.0)
    new = candidate.entry
    available = [
        entry
        for entry in ledger.list_available_to(audience)
        if not new.released_sha256 or entry.released_sha256 != new.released_sha256
    ]
    origin = _find_origin(ledger, new)
    if origin is not None:
        verdict = LedgerVerdict(audience, _compare_with_origin(ledger, origin, available))
    else:
        verdict = _compare_with_available(ledger, candidate, audience, available, k, progress)
    return replace(verdict, refused=describe_refused(ledger, candidate, audience))


def _compare_with_available(
    ledger: Ledger,
    candidate: ReleaseCandidate,
    audience: str,
    available: Sequence[LedgerEntry],
    k: int | None,
    progress: Progress,
) -> LedgerVerdict:
    """Compare with the releases of the same records, and with those of other records of the same regions."""
    new = candidate.entry
    regions = hash_regions(ledger.key, candidate.regions.ids)
    same_records = []
    other_records = []
    comparisons = []
    largest_k = new.k
    for entry, derived in _trace_to_roots(ledger, available):
        if entry.has_same_records(new):
            same_records.append(entry)
        elif (entry.find_aggregated_regions(regions) >= 0).any():
            other_records.append(entry)
        else:
            text = f"Not compared with {entry.title}: it has none of these regions."
            comparisons.append(ReleaseComparison(entry, True, text))
            continue
        largest_k = max(largest_k, entry.k, *(release.k for release in derived))
    k = k or largest_k
    same_comparisons, joint_risk = compare_same_records(ledger, candidate, same_records, progress, k)
    comparisons += same_comparisons
    if other_records:
        other_comparisons, other_risk = _compare_other_records(
            ledger, candidate, other_records, progress, k
        )
        comparisons += other_comparisons
        joint_risk = " ".join(filter(None, (joint_risk, other_risk)))
    comparisons.sort(key=lambda comparison: comparison.entry.id)
    return LedgerVerdict(audience, tuple(comparisons), joint_risk, k)


def _compare_with_origin(
    ledger: Ledger, origin: LedgerEntry, available: Sequence[LedgerEntry]
) -> tuple[ReleaseComparison, ...]:
    """Compare a release that was made from an earlier one: it adds nothing for those who have that one."""
    if not available:
        return ()
    roots = [root for root, _ in _trace_to_roots(ledger, available)]
    ((root, _),) = _trace_to_roots(ledger, [origin])
    if origin in available or root in roots:
        text = f"It is made from {origin.title} alone, so it tells nothing that this audience does not have."
        return tuple(ReleaseComparison(entry, True, text) for entry in available)
    reason = (
        f"It is made from {origin.title}, which this audience does not have, and cannot be compared with"
    )
    remedy = "the records themselves are needed for that. Make it from the record file."
    return tuple(
        ReleaseComparison(entry, False, f"{reason} {entry.title}: {remedy}") for entry in available
    )


def _trace_to_roots(
    ledger: Ledger, entries: Iterable[LedgerEntry]
) -> list[tuple[LedgerEntry, list[LedgerEntry]]]:
    """Replace releases by those that they were made from: who is safe with all of it is safe with a part.

    Returns each root with the entries that were made from it, directly or not.
    """
    derived_from: dict[int, tuple[LedgerEntry, list[LedgerEntry]]] = {}
    for entry in entries:
        root = entry
        visited = {entry.id}
        origin = _find_origin(ledger, root)
        while origin is not None and origin.id not in visited:
            root = origin
            visited.add(root.id)
            origin = _find_origin(ledger, root)
        derived_from.setdefault(root.id, (root, []))[1].append(entry)
    return list(derived_from.values())


def _find_origin(ledger: Ledger, entry: LedgerEntry) -> LedgerEntry | None:
    """Find the recorded release that another one was made from."""
    return next((other for other in ledger if other is not entry and entry.is_derived_from(other)), None)


def _compare_other_records(
    ledger: Ledger,
    candidate: ReleaseCandidate,
    earlier: Sequence[LedgerEntry],
    progress: Progress,
    k: int,
) -> tuple[list[ReleaseComparison], str]:
    """Compare with releases of other record files, such as last year's, one by one and all together."""
    new = candidate.entry
    rows = count_rows(new, candidate.table, ledger.key, progress) if new.rows is None else new.rows
    columns = {recorded.column for entry in (new, *earlier) for recorded in entry.criteria}
    texts = {
        column: list(dict.fromkeys(map(plain_value, list_values(candidate.table, column))))
        for column in columns
    }
    progress.update(STAGE, 0.9)
    comparison = ChangeComparison(new, rows, k, ledger.key, texts)
    comparisons = [
        _describe_change(ledger, candidate, entry, comparison.compare(entry), k) for entry in earlier
    ]
    if not all(comparison.is_safe for comparison in comparisons):
        return comparisons, ""
    joint = comparison.compare_jointly(earlier)
    if joint.is_safe:
        return comparisons, ""
    ids = ", ".join(str(entry.id) for entry in earlier)
    return comparisons, _describe_exposed(f"Whoever has releases {ids} as well, all of them,", joint, k)


def _describe_change(
    ledger: Ledger, candidate: ReleaseCandidate, entry: LedgerEntry, change: PopulationChange, k: int
) -> ReleaseComparison:
    """Say how the release compares with one of another record file."""
    new = candidate.entry
    receivers = f"Whoever has {entry.title} as well"
    if change.reason:
        people = _count_exposed_today(ledger, candidate, entry, k)
        exposed = f" On the records of now the two would single out {people:,}." if people else ""
        text = f"It cannot be compared with {entry.title}, which is of another record file: {change.reason}.{exposed}"
        return ReleaseComparison(entry, False, f"{text} {_suggest_comparable(new, entry)}", people)
    if change.reveals_location:
        text = (
            f"{receivers} could tell of {format_count(change.people, 'person', 'people')} in which smaller place they "
            f"are: {format_count(change.classes, 'combination')} of place and values that one of the two has in a "
            "larger area the other one has in a smaller one."
        )
        return ReleaseComparison(
            entry, False, f"{text} {_suggest_comparable(new, entry)}", change.people
        )
    if not change.is_safe:
        return ReleaseComparison(entry, False, _describe_exposed(receivers, change, k), change.people)
    text = f"Nobody is told to have come or gone since {entry.title}."
    if not change.compared_columns:
        text += " Only numbers of records were compared, since no further columns are in both."
    return ReleaseComparison(entry, True, text)


def _suggest_comparable(new: LedgerEntry, old: LedgerEntry) -> str:
    """Say what to do where releases of two record files cannot be compared."""
    if old.parents:
        return "Hand over an extract of that release, or give this one to people who do not have it."
    same = "the regions and quasi-identifiers of then"
    return f"Release it without tiers, with {same}." if new.parents else f"Use {same}."


def _describe_exposed(receivers: str, change: PopulationChange, k: int) -> str:
    """Say whom releases of different record files expose, and whose sensitive values."""
    texts = []
    if change.people:
        texts.append(
            f"{receivers} could tell {format_count(change.people, 'person', 'people')} who came or went since then, or "
            "stayed while others went, with all that is released of them: in "
            f"{format_count(change.classes, 'combination')} of region and values fewer than {k:,} did."
        )
    texts += [
        f"{receivers} would learn “{attribute.column}” of {format_count(attribute.people, 'person', 'people')} who "
        "came or went since then, or stayed while others went: they are in groups that miss "
        f"{' or '.join(attribute.criteria)}."
        for attribute in change.disclosed
    ]
    return " ".join(texts)


def _count_exposed_today(ledger: Ledger, candidate: ReleaseCandidate, entry: LedgerEntry, k: int) -> int:
    """Count whom two releases would expose if both were made of the records at hand; 0 if that is not known."""
    categorical = {facts.name for facts in candidate.table.columns if facts.categorical}
    if not categorical.issuperset(entry.quasi_identifiers):
        return 0
    return count_exposed_in_current_records(ledger, candidate, entry, k)
