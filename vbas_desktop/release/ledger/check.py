"""Whether a release may be handed to an audience that has, or may come to have, earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import counted

from .changes import changes
from .entry import Entry, Rows
from .fates import places_in
from .file import Ledger
from .kernels import REHEARSAL
from .keyed import region_hashes
from .making import planned_rows
from .same_records import STAGE, beside_same_records, exposed_as_if
from .verdict import Against, Subject, Verdict, asked_of


def check(ledger: Ledger, subject: Subject, audience: str, progress: Progress | None = None) -> Verdict:
    """Compare the release with everything that the audience has."""
    verdict = _checked(ledger, subject, audience, progress or Silent())
    return replace(verdict, asked=asked_of(ledger, subject, audience))


def _checked(ledger: Ledger, subject: Subject, audience: str, progress: Progress) -> Verdict:
    progress.update(STAGE, 0.0)
    make_ready(REHEARSAL, progress)
    new = subject.entry
    has = [each for each in ledger.shared_with(audience) if not new.released or each.released != new.released]
    origin = next((each for each in ledger if each.released == new.source), None)
    if origin is not None:
        return Verdict(audience, _beside_origin(ledger, origin, has))
    rooted = _rooted(ledger, has)
    own = region_hashes(ledger.key, subject.regions.ids)
    same, later, found = [], [], []
    for entry in rooted:
        if entry.source == new.source:
            same.append(entry)
        elif (places_in(entry, own) >= 0).any():
            later.append(entry)
        else:
            found.append(Against(entry, True, f"Not compared with {entry.title}: it has none of these regions."))
    joint, together = beside_same_records(ledger, subject, same, progress)
    found += joint
    if later:
        rows = planned_rows(new, subject.table, ledger.key, progress) if new.rows is None else new.rows
        found += [_of_other_records(ledger, subject, rows, entry, progress) for entry in later]
    return Verdict(audience, tuple(sorted(found, key=lambda each: each.entry.id)), together)


def _beside_origin(ledger: Ledger, origin: Entry, has: Sequence[Entry]) -> tuple[Against, ...]:
    """A release that was made from an earlier one adds nothing for those who have that one."""
    if not has:
        return ()
    roots = _rooted(ledger, has)
    root = _rooted(ledger, [origin])[0]
    if origin in has or root in roots:
        text = f"It is made from {origin.title} alone, so it tells nothing that this audience does not have."
        return tuple(Against(each, True, text) for each in has)
    text = (
        f"It is made from {origin.title}, which this audience does not have, and cannot be compared with %s: the "
        "records themselves are needed for that. Make it from the record file."
    )
    return tuple(Against(each, False, text % each.title) for each in has)


def _rooted(ledger: Ledger, entries: Iterable[Entry]) -> list[Entry]:
    """The releases that others were made from in their place: whoever is safe with all of it is safe with a part."""
    released = {entry.released: entry for entry in ledger}
    found: dict[int, Entry] = {}
    for entry in entries:
        while entry.source in released and released[entry.source] is not entry:
            entry = released[entry.source]
        found[entry.id] = entry
    return list(found.values())


def _way_out(new: Entry, old: Entry) -> str:
    """What to do where releases of two record files cannot be compared."""
    if old.parents:
        return "Hand over an extract of that release, or give this one to people who do not have it."
    same = "the regions and quasi-identifiers of then"
    return f"Release it without tiers, with {same}." if new.parents else f"Use {same}."


def _of_other_records(ledger: Ledger, subject: Subject, rows: Rows | None, entry: Entry, progress: Progress) -> Against:
    """A release of another record file with the same regions, such as last year's."""
    progress.update(STAGE, 0.9)
    new = subject.entry
    change = changes(new, rows, entry)
    if change.reason:
        people = _as_if(ledger, subject, entry)
        told = f" On the records of now the two would single out {people:,}." if people else ""
        text = f"It cannot be compared with {entry.title}, which is of another record file: {change.reason}.{told}"
        return Against(entry, False, f"{text} {_way_out(new, entry)}", people)
    if change.moved:
        return Against(
            entry,
            False,
            f"Whoever has {entry.title} as well could tell of {counted(change.people, 'person', 'people')} in which "
            f"smaller place they are: {counted(change.cells, 'combination')} of place and values that one of the two "
            f"has in a larger place the other one has in a smaller one. {_way_out(new, entry)}",
            change.people,
        )
    if change.people:
        return Against(
            entry,
            False,
            f"Whoever has {entry.title} as well could tell {counted(change.people, 'person', 'people')} who came or "
            f"went since then, with all that is released of them: in {counted(change.cells, 'combination')} of region "
            f"and values fewer than {new.k:,} did.",
            change.people,
        )
    how = "" if change.by_rows else " Only numbers of records were compared, since the columns differ."
    return Against(entry, True, f"Nobody is told to have come or gone since {entry.title}.{how}")


def _as_if(ledger: Ledger, subject: Subject, entry: Entry) -> int:
    """How many the two partitions would single out if both were made of the records of now; 0 if that is not known."""
    known = {facts.name for facts in subject.table.columns if facts.categorical}
    if not known.issuperset(entry.quasi_identifiers):
        return 0
    return exposed_as_if(ledger, subject, entry)
