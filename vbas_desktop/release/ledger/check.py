"""Whether a release may be handed to an audience that has, or may come to have, earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.domain.criteria import Sensitive
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import counted
from vbas_desktop.files.counting.problem import build_problem
from vbas_desktop.files.records.table import RecordTable

from .changes import changes
from .entry import Entry, Rows
from .fates import Atoms, Exposure, Fates, Ints, exposed_together, fates_in, places_in, releases_what_it_lists
from .file import Ledger
from .given_away import Judging, given_away
from .guarded import listed_by_criteria
from .joint import numbered, shown_jointly
from .kernels import REHEARSAL
from .keyed import Hashes, region_hashes, value_hashes
from .making import planned_rows
from .rooms import shown_cells
from .ways import Asked, ways

DIFFERENCING = "differencing"
"""The code of findings about releases that expose people together."""

_STAGE = "Comparing with earlier releases"


@dataclass(frozen=True, eq=False)
class Subject:
    """The release that is to be handed over, and the record file that it is made from.

    ``problem`` has its counts if they are at hand. Without ``rows``, these are counted from the table when needed.
    """

    entry: Entry
    table: RecordTable
    regions: Regions
    problem: Problem | None = None


@dataclass(frozen=True, eq=False)
class Against:
    """How the release fares beside one earlier one. ``people``: how many would be singled out, as far as known."""

    entry: Entry
    safe: bool
    text: str
    people: int = 0


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of the check: safe beside all earlier releases of the audience, or not."""

    audience: str
    against: tuple[Against, ...] = ()
    together: str = ""
    asked: Asked | None = None

    @property
    def safe(self) -> bool:
        """Whether nobody would be singled out."""
        return not self.together and all(each.safe for each in self.against)

    @property
    def people(self) -> int:
        """The most that one earlier release would expose."""
        return max((each.people for each in self.against), default=0)

    @property
    def words(self) -> list[str]:
        """What was found, one sentence or two for each earlier release that matters."""
        told = [each.text for each in self.against if not each.safe]
        return [*told, self.together] if self.together else told

    def as_dict(self, override: str = "") -> dict[str, Any]:
        """The result as plain data, for run.json."""
        return {
            "audience": self.audience,
            "safe": self.safe,
            "compared_with": [
                {"release": each.entry.id, "safe": each.safe, "people": each.people, "text": each.text}
                for each in self.against
            ],
            "together": self.together,
            "override": override if not self.safe else "",
        }


class Exposing(InputError):
    """A release that would single people out; ``earlier`` is the release beside which it would."""

    def __init__(self, findings: Iterable[Finding], earlier: Entry | None = None) -> None:
        super().__init__(findings)
        self.earlier = earlier


def refuse(verdict: Verdict) -> Exposing:
    """The refusal, with the figures and what can be done instead."""
    texts = verdict.words
    findings = [Finding(DIFFERENCING, text) for text in texts[:-1]]
    unsafe = [each.entry for each in verdict.against if not each.safe] or [each.entry for each in verdict.against]
    return Exposing([*findings, Finding(DIFFERENCING, texts[-1], alternatives(unsafe[-1], verdict.asked))], unsafe[-1])


def _asked(ledger: Ledger, subject: Subject, audience: str) -> Asked:
    """What alternatives need to know of the release that is compared."""
    regions, new = subject.regions.source, subject.entry
    place = "REGIONS" if regions is None else regions.path
    return Asked(subject.table.source.path, place, new.source, new.columns, audience, ledger.place)


def alternatives(earlier: Entry, asked: Asked | None) -> str:
    """What can be handed over instead, beside an earlier release, with the commands that make it."""
    found = () if asked is None else ways(earlier, asked)
    listed = [f"({number}) {way.text}: {way.command}" for number, way in enumerate(found, start=1)]
    despite = "Or hand it over all the same and say why: --despite-ledger REASON."
    if not listed:
        return f"The folder of {earlier.title} is not there any more, so nothing can be made from it. {despite}"
    return "\n".join(["Instead:", *listed, despite])


def check(ledger: Ledger, subject: Subject, audience: str, progress: Progress | None = None) -> Verdict:
    """Compare the release with everything that the audience has."""
    verdict = _checked(ledger, subject, audience, progress or Silent())
    return replace(verdict, asked=_asked(ledger, subject, audience))


def _checked(ledger: Ledger, subject: Subject, audience: str, progress: Progress) -> Verdict:
    progress.update(_STAGE, 0.0)
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
    joint, together = _of_same_records(ledger, subject, same, progress)
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


def _of_same_records(
    ledger: Ledger, subject: Subject, earlier: Sequence[Entry], progress: Progress
) -> tuple[list[Against], str]:
    """The releases of the same record file, one by one and all together."""
    if not earlier:
        return [], ""
    progress.update(_STAGE, 0.1)
    new, fine = subject.entry, _atoms(ledger.key, subject, earlier)
    apart = [places_in(entry, fine.regions) for entry in (new, *earlier)]
    atoms, places = fine.merged(apart)
    progress.update(_STAGE, 0.4)
    mine, *theirs = (
        fates_in(entry, atoms, place, _listed(ledger, subject, entry))
        for entry, place in zip((new, *earlier), places, strict=True)
    )
    counts = atoms.records
    if not releases_what_it_lists(new, atoms, mine):
        text = "It cannot be compared with %s: what it releases does not follow from numbers of records alone."
        if new.parents and new.guarded:
            text += " Release it without tiers or without criteria, or hand over an extract of that release."
        return [Against(entry, False, text % entry.title) for entry in earlier], ""
    all_of_them = exposed_together(mine, theirs, counts, new.k)
    # What the audience has already shows nothing more by being handed over again.
    again = any(_tells_no_more(new, mine, entry, each) for entry, each in zip(earlier, theirs, strict=True))
    found = []
    for entry, fates in zip(earlier, theirs, strict=True):
        progress.update(_STAGE, 0.7)
        alone = exposed_together(mine, [fates], counts, new.k) if all_of_them.people else Exposure()
        contained = again or _tells_no_more(entry, fates, new, mine)
        shown = 0 if contained else shown_cells(mine, fates, counts) + shown_cells(fates, mine, counts)
        whole = releases_what_it_lists(entry, atoms, fates)
        found.append(_judged(new, entry, Exposure(alone.people, alone.groups, shown), whole))
    if again or any(not each.safe for each in found):
        return found, ""
    progress.update(_STAGE, 0.9)
    told = _told_together(new, mine, list(zip(earlier, theirs, strict=True)), all_of_them.people, counts)
    if told or not any(entry.guarded for entry in (new, *earlier)):
        return found, told
    both = [np.concatenate(pair).astype(np.int64) for pair in zip(apart, places, strict=True)]
    merged = numbered(both)
    where = np.argsort(merged[fine.regions.size :])[merged[: fine.regions.size]]
    judging = list(_judging(ledger.key, subject, earlier))
    given = [_given_in_words(*each) for each in given_away(judging, atoms, where, [mine, *theirs])]
    return found, " ".join(given)


def _judging(key: bytes, subject: Subject, earlier: Sequence[Entry]) -> Iterator[Judging]:
    """Every release that has criteria, with the records counted by the values of each sensitive column."""
    for number, entry in enumerate((subject.entry, *earlier)):
        for guarded in entry.guarded:
            facts = next((each for each in subject.table.columns if each.name == guarded.column), None)
            if facts is not None and facts.categories is not None:
                chosen = guarded.chosen(key, facts.categories.values)
                yield Judging(number, _counted(subject, earlier, (chosen,)))


def _given_in_words(chosen: Sensitive, people: int) -> str:
    return (
        f"Together with what this audience has, the release would give “{chosen.column}” of "
        f"{counted(people, 'person', 'people')} away: the files divide them into groups that miss "
        f"{' or '.join(each.text for each in chosen.criteria)}."
    )


def _listed(ledger: Ledger, subject: Subject, entry: Entry) -> Hashes | None:
    """What a release with criteria for sensitive values lists, where its own cells do not say it."""
    try:
        return listed_by_criteria(ledger.key, subject.table, subject.regions, entry)
    except InputError:
        # Then its numbers of records are not found again, and it is not compared.
        return None


def _told_together(new: Entry, mine: Fates, earlier: Sequence[tuple[Entry, Fates]], people: int, counts: Ints) -> str:
    """What all releases tell although no two of them do; empty if nothing."""
    many = f"Together with releases {', '.join(str(entry.id) for entry, _ in earlier)}, all of them, this release would"
    if people:
        return f"{many} single out {counted(people, 'person', 'people')}, in groups of fewer than {new.k:,}."
    # What can be worked out from another release adds nothing beside it.
    apart: list[tuple[Entry, Fates]] = []
    for entry, fates in earlier:
        if not any(_tells_no_more(entry, fates, *other) for other in [(new, mine), *apart]):
            apart = [each for each in apart if not _tells_no_more(*each, entry, fates)] + [(entry, fates)]
    if len(apart) < 2:
        return ""
    before = [fates for _, fates in apart]
    shown = shown_jointly([mine, *before], counts)
    if not shown.any() or not (shown & ~shown_jointly(before, counts)).any():
        return ""
    return f"{many} show that combinations which one of them leaves out do occur."


def _same_partition(one: Entry, other: Entry) -> bool:
    """Whether the same initial regions are merged, and classes made of the same columns and groups."""
    if set(one.quasi_identifiers) != set(other.quasi_identifiers) or _groups(one) != _groups(other):
        return False
    place = places_in(other, one.regions).astype(np.int64)
    pairs = np.unique(place * (one.aggregated_regions + 1) + one.membership)
    return bool((place >= 0).all()) and pairs.size == one.aggregated_regions == other.aggregated_regions


def _tells_no_more(one: Entry, mine: Fates, other: Entry, theirs: Fates) -> bool:
    """Whether a release can be worked out from another: the same, or what that one has in aggregated regions."""
    if not _same_partition(one, other) or not mine.same_in_own_regions(theirs):
        return False
    return not one.parents or _same_tiers(one, other)


def _same_tiers(one: Entry, other: Entry) -> bool:
    """Whether releases with the same aggregated regions have the same larger places."""
    if one.places != other.places:
        return False
    mine, theirs = one.membership, places_in(other, one.regions)
    for above, beside in zip(one.parents, other.parents, strict=True):
        mine, theirs = above[mine], beside[theirs]
        if np.unique(mine.astype(np.int64) * (int(theirs.max()) + 1) + theirs).size != int(mine.max()) + 1:
            return False
    return True


def _judged(new: Entry, entry: Entry, exposure: Exposure, whole: bool) -> Against:
    if not whole:
        text = f"It cannot be compared with {entry.title}: the record file does not give what was released then."
        return Against(entry, False, text)
    if exposure.people:
        return Against(
            entry,
            False,
            f"Whoever has {entry.title} as well could single out {counted(exposure.people, 'person', 'people')}: "
            f"the two files together divide the records into smaller groups than each of them does, and "
            f"{exposure.groups:,} of these groups have fewer than {new.k:,} people.",
            exposure.people,
        )
    if exposure.shown:
        return Against(
            entry,
            False,
            f"Whoever has {entry.title} as well would see that combinations which one of the two leaves out do occur "
            f"({counted(exposure.shown, 'group')} of records must be there).",
        )
    return Against(entry, True, f"Nobody is singled out by having {entry.title} as well.")


def _atoms(key: bytes, subject: Subject, earlier: Sequence[Entry]) -> Atoms:
    """The records by region and by all quasi-identifiers that any of the releases has."""
    problem = _counted(subject, earlier)
    values = tuple(value_hashes(key, each.column, each.values) for each in problem.categories)
    regions = region_hashes(key, problem.regions.ids)
    return Atoms(regions, problem.quasi_identifiers, values, problem.counts, grouped=bool(problem.groupings))


def _counted(subject: Subject, earlier: Sequence[Entry], sensitive: Sequence[Sensitive] = ()) -> Problem:
    """The counts at hand if all releases have the same columns and groups, else those of all columns without groups."""
    new, problem = subject.entry, subject.problem
    names = tuple(dict.fromkeys(name for entry in (new, *earlier) for name in entry.quasi_identifiers))
    alike = problem is not None and all(
        set(entry.quasi_identifiers) == set(names) and _groups(entry) == _groups(new) for entry in (new, *earlier)
    )
    if problem is not None and alike and not sensitive:
        return problem
    return build_problem(
        subject.table,
        subject.regions,
        region_column=new.region_column,
        quasi_identifiers=problem.quasi_identifiers if problem is not None and alike else names,
        k=1,
        unknown_regions="suppress",
        groupings=problem.groupings if problem is not None and alike else (),
        sensitive=sensitive,
    )


def _groups(entry: Entry) -> dict[str, list[list[int]]]:
    return {name: sorted(pairs.tolist()) for name, pairs in entry.groups.items()}


def _way_out(new: Entry, old: Entry) -> str:
    """What to do where releases of two record files cannot be compared."""
    if old.parents:
        return "Hand over an extract of that release, or give this one to people who do not have it."
    same = "the regions and quasi-identifiers of then"
    return f"Release it without tiers, with {same}." if new.parents else f"Use {same}."


def _of_other_records(ledger: Ledger, subject: Subject, rows: Rows | None, entry: Entry, progress: Progress) -> Against:
    """A release of another record file with the same regions, such as last year's."""
    progress.update(_STAGE, 0.9)
    new = subject.entry
    change = changes(new, rows, entry)
    if change.reason:
        people = _as_if(ledger, subject, entry)
        told = f" On the records of now the two would single out {people:,}." if people else ""
        text = f"It cannot be compared with {entry.title}, which is of another record file: {change.reason}.{told}"
        return Against(entry, False, f"{text} {_way_out(new, entry)}", people)
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
    atoms = _atoms(ledger.key, subject, [entry])
    places = [places_in(each, atoms.regions) for each in (subject.entry, entry)]
    fates = [fates_in(each, atoms, place) for each, place in zip((subject.entry, entry), places, strict=True)]
    return exposed_together(fates[0], [fates[1]], atoms.records, subject.entry.k).people
