"""Releases of the same record file: whether they expose people together, two at a time and all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted

from .changes import all_places
from .entry import Entry
from .fates import (
    Atoms,
    Exposure,
    Fates,
    Released,
    exposed_together,
    fates_in,
    places_in,
    released_cells,
    releases_what_it_lists,
)
from .file import Ledger
from .given_away import Judging, Shown, given_away
from .guarded import listed_by_criteria
from .joint import shown_cells, shown_jointly
from .keyed import Listed, region_hashes, value_hashes
from .verdict import Against, Subject

STAGE = "Comparing with earlier releases"


@dataclass(frozen=True, eq=False)
class _Placed:
    """A release, its place for each region of the atoms, and the cells that it has (None: the rule says it)."""

    entry: Entry
    place: NDArray[np.int32]
    cells: Released | None


@dataclass(frozen=True, eq=False)
class _Together:
    """Releases beside each other: the atoms that they tell apart, and the fates of these in each release."""

    atoms: Atoms
    releases: tuple[_Placed, ...]

    @classmethod
    def of(cls, fine: Atoms, entries: Sequence[Entry], listed: Sequence[Listed | None]) -> _Together:
        """With all classes; regions that no release tells apart are taken together."""
        atoms, places = fine.merged([places_in(entry, fine.regions) for entry in entries])
        releases = (
            _Placed(entry, place, released_cells(entry, atoms, place, known))
            for entry, place, known in zip(entries, places, listed, strict=True)
        )
        return cls(atoms, tuple(releases))

    def of_two(self, one: int, other: int) -> _Together:
        """Two of several releases: they tell far fewer atoms apart."""
        if len(self.releases) == 2:
            return self
        pair = self.releases[one], self.releases[other]
        atoms, places = self.atoms.merged([each.place for each in pair], [each.entry for each in pair])
        return _Together(atoms, tuple(replace(each, place=place) for each, place in zip(pair, places, strict=True)))

    @cached_property
    def fates(self) -> tuple[Fates, ...]:
        """The fates of the atoms in each release."""
        return tuple(fates_in(each.entry, self.atoms, each.place, each.cells) for each in self.releases)

    def exposed(self, k: int) -> Exposure:
        """Whom the first release exposes beside the others, in groups of fewer than k."""
        return exposed_together(self.fates[0], self.fates[1:], self.atoms.records, k)

    def shown(self) -> int:
        """How many groups of records prove of cells which one of two releases lacks that somebody is in them."""
        one, other = self.fates
        return shown_cells(one, other, self.atoms.records) + shown_cells(other, one, self.atoms.records)

    def whole(self, number: int) -> bool:
        """Whether the records give what a release lists."""
        return releases_what_it_lists(self.releases[number].entry, self.atoms, self.fates[number])

    def tells_no_more(self, one: int, other: int) -> bool:
        """Whether a release can be worked out from another."""
        entries = self.releases[one].entry, self.releases[other].entry
        return _tells_no_more(entries[0], self.fates[one], entries[1], self.fates[other])


def _together(ledger: Ledger, subject: Subject, earlier: Sequence[Entry]) -> tuple[_Together, Atoms]:
    """The release and earlier ones, and the atoms by initial region."""
    entries, fine = (subject.entry, *earlier), atoms_of(ledger.key, subject, earlier)
    return _Together.of(fine, entries, [_listed(ledger, subject, entry) for entry in entries]), fine


def exposed_as_if(ledger: Ledger, subject: Subject, entry: Entry, k: int) -> int:
    """How many the two releases would single out if both were made of the records at hand."""
    return _together(ledger, subject, [entry])[0].exposed(k).people


def beside_same_records(
    ledger: Ledger, subject: Subject, earlier: Sequence[Entry], progress: Progress, k: int
) -> tuple[list[Against], str]:
    """The releases of the same records, one by one and all together; groups must have k people."""
    if not earlier:
        return [], ""
    progress.update(STAGE, 0.1)
    new = subject.entry
    every, fine = _together(ledger, subject, earlier)
    progress.update(STAGE, 0.4)
    pairs = [every.of_two(0, number) for number in range(1, len(every.releases))]
    if not pairs[0].whole(0):
        text = "It cannot be compared with %s: what it releases does not follow from numbers of records alone."
        if new.parents and new.guarded:
            text += " Release it without tiers or without criteria, or hand over an extract of that release."
        return [Against(entry, False, text % entry.title) for entry in earlier], ""
    # What the audience has already shows nothing more by being handed over again.
    again = any(pair.tells_no_more(0, 1) for pair in pairs)
    progress.update(STAGE, 0.5)
    exposed = [pair.exposed(k) for pair in pairs]
    if any(each.people for each in exposed) and not every.exposed(k).people:
        # All of them are told apart by the earlier releases already.
        exposed = [Exposure()] * len(pairs)
    found = []
    for entry, pair, alone in zip(earlier, pairs, exposed, strict=True):
        progress.update(STAGE, 0.7)
        shown = 0 if again or pair.tells_no_more(1, 0) else pair.shown()
        found.append(_judged(k, entry, replace(alone, shown=shown), pair.whole(1)))
    if again or any(not each.safe for each in found):
        return found, ""
    progress.update(STAGE, 0.9)
    told = _told_together(every, k)
    if told or not any(entry.guarded for entry in (new, *earlier)):
        return found, told
    places = [places_in(each.entry, fine.regions) for each in every.releases]
    merged = np.arange(fine.regions.size) if every.atoms is fine else number_combinations(places)[0]
    judging = list(_judging(ledger.key, subject, earlier))
    columns = [Shown(fates, each.entry.columns) for fates, each in zip(every.fates, every.releases, strict=True)]
    given = [_given_in_words(*each) for each in given_away(judging, every.atoms, merged, columns)]
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


def _listed(ledger: Ledger, subject: Subject, entry: Entry) -> Listed | None:
    """What a release with criteria for sensitive values lists, where its own cells do not say it."""
    try:
        return listed_by_criteria(ledger.key, subject.table, subject.regions, entry)
    except InputError:
        # Then its numbers of records are not found again, and it is not compared.
        return None


def _told_together(every: _Together, k: int) -> str:
    """What all releases tell although no two of them do; empty if nothing."""
    earlier = [each.entry for each in every.releases[1:]]
    many = f"Together with releases {', '.join(str(entry.id) for entry in earlier)}, all of them, this release would"
    people = every.exposed(k).people
    if people:
        return f"{many} single out {counted(people, 'person', 'people')}, in groups of fewer than {k:,}."
    # What can be worked out from another release adds nothing beside it.
    apart: list[int] = []
    for each in range(1, len(every.releases)):
        if not any(every.tells_no_more(each, other) for other in (0, *apart)):
            apart = [*(other for other in apart if not every.tells_no_more(other, each)), each]
    if len(apart) < 2:
        return ""
    mine, before = every.fates[0], [every.fates[each] for each in apart]
    shown = shown_jointly([mine, *before], every.atoms.records)
    if not shown.any() or not (shown & ~shown_jointly(before, every.atoms.records)).any():
        return ""
    return f"{many} show that combinations which one of them leaves out do occur."


def _same_partition(one: Entry, other: Entry) -> bool:
    """Whether the same initial regions are merged, and classes made of the same columns and groups."""
    if not one.has_classes_of(other):
        return False
    place = places_in(other, one.regions).astype(np.int64)
    pairs = np.unique(place * (one.aggregated_regions + 1) + one.membership)
    return bool((place >= 0).all()) and pairs.size == one.aggregated_regions == other.aggregated_regions


def _tells_no_more(one: Entry, mine: Fates, other: Entry, theirs: Fates) -> bool:
    """Whether a release can be worked out from another: the same, or what that one has in aggregated regions."""
    if not _same_partition(one, other) or not mine.same_in_own_regions(theirs):
        return False
    # What goes up follows from what does not, unless sensitive values decided about that too.
    return not one.parents or (_same_tiers(one, other) and np.array_equal(mine.tier, theirs.tier))


def _same_tiers(one: Entry, other: Entry) -> bool:
    """Whether releases with the same aggregated regions have the same larger places."""
    same = np.zeros(other.aggregated_regions, np.int64)
    same[places_in(other, one.regions)] = one.membership
    return all_places(one, other, same) is not None


def _judged(k: int, entry: Entry, exposure: Exposure, whole: bool) -> Against:
    if not whole:
        text = f"It cannot be compared with {entry.title}: the record file does not give what was released then."
        return Against(entry, False, text)
    if exposure.people:
        return Against(
            entry,
            False,
            f"Whoever has {entry.title} as well could single out {counted(exposure.people, 'person', 'people')}: "
            f"the two files together divide the records into smaller groups than each of them does, and "
            f"{exposure.groups:,} of these groups have fewer than {k:,} people.",
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


def atoms_of(key: bytes, subject: Subject, earlier: Sequence[Entry]) -> Atoms:
    """The records by region and by all quasi-identifiers that any of the releases has."""
    problem = _counted(subject, earlier)
    values = tuple(value_hashes(key, each.column, each.values) for each in problem.categories)
    regions = region_hashes(key, problem.regions.ids)
    return Atoms(regions, problem.quasi_identifiers, values, problem.counts, grouped=bool(problem.groupings))


def _counted(subject: Subject, earlier: Sequence[Entry], sensitive: Sequence[Sensitive] = ()) -> Problem:
    """The counts at hand if all releases have the same columns and groups, else those of all columns without groups."""
    new, problem = subject.entry, subject.problem
    names = tuple(dict.fromkeys(name for entry in (new, *earlier) for name in entry.quasi_identifiers))
    if not all(new.has_classes_of(entry) for entry in earlier):
        problem = None
    if problem is not None and not sensitive:
        return problem
    return build_problem(
        subject.table,
        subject.regions,
        region_column=new.region_column,
        quasi_identifiers=names if problem is None else problem.quasi_identifiers,
        k=1,
        unknown_regions="suppress",
        groupings=() if problem is None else problem.groupings,
        sensitive=sensitive,
    )
