"""Whether a release may be handed to an audience that has, or may come to have, earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.value_notation import plain_value
from vbas_desktop.model.words import counted

from .changes import Change, changes, joint_changes
from .entry import Entry
from .fates import places_in
from .file import Ledger
from .keyed import region_hashes
from .making import planned_rows
from .same_records import STAGE, beside_same_records, exposed_as_if
from .verdict import Against, Subject, Verdict, asked_of


def check(
    ledger: Ledger, subject: Subject, audience: str, progress: Progress | None = None, k: int | None = None
) -> Verdict:
    """Compare the release with everything that the audience has.

    ``k`` is the least number of people in a group that is told apart; None: the largest k of the releases compared.
    """
    verdict = _checked(ledger, subject, audience, progress or Silent(), k)
    return replace(verdict, asked=asked_of(ledger, subject, audience))


def _checked(ledger: Ledger, subject: Subject, audience: str, progress: Progress, k: int | None) -> Verdict:
    progress.update(STAGE, 0.0)
    new = subject.entry
    has = [each for each in ledger.shared_with(audience) if not new.released or each.released != new.released]
    origin = next((each for each in ledger if new.is_made_from(each)), None)
    if origin is not None:
        return Verdict(audience, _beside_origin(ledger, origin, has))
    own = region_hashes(ledger.key, subject.regions.ids)
    same, later, found = [], [], []
    least = k or new.k
    for entry, derived in _rooted(ledger, has):
        if entry.has_records_of(new):
            same.append(entry)
        elif (places_in(entry, own) >= 0).any():
            later.append(entry)
        else:
            found.append(Against(entry, True, f"Not compared with {entry.title}: it has none of these regions."))
            continue
        if k is None:
            least = max(least, entry.k, *(each.k for each in derived))
    joint, together = beside_same_records(ledger, subject, same, progress, least)
    found += joint
    if later:
        others, told = _beside_other_records(ledger, subject, later, progress, least)
        found += others
        together = " ".join(filter(None, (together, told)))
    against = tuple(sorted(found, key=lambda each: each.entry.id))
    return Verdict(audience, against, together, least)


def _beside_origin(ledger: Ledger, origin: Entry, has: Sequence[Entry]) -> tuple[Against, ...]:
    """A release that was made from an earlier one adds nothing for those who have that one."""
    if not has:
        return ()
    roots = [root for root, _ in _rooted(ledger, has)]
    ((root, _),) = _rooted(ledger, [origin])
    if origin in has or root in roots:
        text = f"It is made from {origin.title} alone, so it tells nothing that this audience does not have."
        return tuple(Against(each, True, text) for each in has)
    text = (
        f"It is made from {origin.title}, which this audience does not have, and cannot be compared with %s: the "
        "records themselves are needed for that. Make it from the record file."
    )
    return tuple(Against(each, False, text % each.title) for each in has)


def _rooted(ledger: Ledger, entries: Iterable[Entry]) -> list[tuple[Entry, list[Entry]]]:
    """The releases that others were made from in their place, with these: who is safe with all is safe with a part."""
    found: dict[int, tuple[Entry, list[Entry]]] = {}
    for entry in entries:
        root, seen = entry, {entry.id}
        while (origin := _origin(ledger, root)) is not None and origin.id not in seen:
            root = origin
            seen.add(root.id)
        found.setdefault(root.id, (root, []))[1].append(entry)
    return list(found.values())


def _origin(ledger: Ledger, entry: Entry) -> Entry | None:
    """Find the release that another one was made from."""
    return next((each for each in ledger if each is not entry and entry.is_made_from(each)), None)


def _way_out(new: Entry, old: Entry) -> str:
    """What to do where releases of two record files cannot be compared."""
    if old.parents:
        return "Hand over an extract of that release, or give this one to people who do not have it."
    same = "the regions and quasi-identifiers of then"
    return f"Release it without tiers, with {same}." if new.parents else f"Use {same}."


def _beside_other_records(
    ledger: Ledger, subject: Subject, earlier: Sequence[Entry], progress: Progress, k: int
) -> tuple[list[Against], str]:
    """Compare with releases of other record files, such as last year's, one by one and all together."""
    new = subject.entry
    rows = planned_rows(new, subject.table, ledger.key, progress) if new.rows is None else new.rows
    texts = {guarded.column: _texts(subject, guarded.column) for entry in (new, *earlier) for guarded in entry.guarded}
    progress.update(STAGE, 0.9)
    found = []
    for entry in earlier:
        change = changes(new, rows, entry, k, ledger.key, texts)
        found.append(_judge_change(ledger, subject, entry, change, k))
    if not all(each.safe for each in found):
        return found, ""
    together = joint_changes(new, rows, earlier, k, ledger.key, texts)
    if together.safe:
        return found, ""
    who = f"Whoever has releases {', '.join(str(entry.id) for entry in earlier)} as well, all of them,"
    return found, _exposed_in_words(who, together, k)


def _texts(subject: Subject, column: str) -> Sequence[str]:
    """List the values that the record file has in a column, without habits of notation."""
    facts = next((each for each in subject.table.columns if each.name == column), None)
    if facts is None or facts.categories is None:
        return ()
    return list(dict.fromkeys(map(plain_value, facts.categories.values)))


def _judge_change(ledger: Ledger, subject: Subject, entry: Entry, change: Change, k: int) -> Against:
    """Say how the release fares beside one of another record file."""
    new = subject.entry
    if change.reason:
        people = _as_if(ledger, subject, entry, k)
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
    if not change.safe:
        text = _exposed_in_words(f"Whoever has {entry.title} as well", change, k)
        return Against(entry, False, text, change.people)
    how = "" if change.compared else " Only numbers of records were compared, since no further columns are in both."
    return Against(entry, True, f"Nobody is told to have come or gone since {entry.title}.{how}")


def _exposed_in_words(who: str, change: Change, k: int) -> str:
    """Say whom releases of different record files expose, and whose sensitive values."""
    texts = []
    if change.people:
        texts.append(
            f"{who} could tell {counted(change.people, 'person', 'people')} who came or went since then, or stayed "
            f"while others went, with all that is released of them: in {counted(change.cells, 'combination')} of "
            f"region and values fewer than {k:,} did."
        )
    texts += [
        f"{who} would learn “{each.column}” of {counted(each.people, 'person', 'people')} who came or went since then, "
        f"or stayed while others went: they are in groups that miss {' or '.join(each.criteria)}."
        for each in change.disclosed
    ]
    return " ".join(texts)


def _as_if(ledger: Ledger, subject: Subject, entry: Entry, k: int) -> int:
    """How many the two partitions would single out if both were made of the records of now; 0 if that is not known."""
    known = {facts.name for facts in subject.table.columns if facts.categorical}
    if not known.issuperset(entry.quasi_identifiers):
        return 0
    return exposed_as_if(ledger, subject, entry, k)
