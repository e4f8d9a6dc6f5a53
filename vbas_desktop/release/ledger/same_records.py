"""Releases of the same record file: whether they expose people together, two at a time and all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vbas_desktop.domain.criteria import Sensitive
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.words import counted
from vbas_desktop.files.counting.problem import build_problem

from .entry import Entry
from .fates import Atoms, Exposure, Fates, Ints, exposed_together, fates_in, places_in, releases_what_it_lists
from .file import Ledger
from .given_away import Judging, given_away
from .guarded import listed_by_criteria
from .joint import numbered, shown_jointly
from .keyed import Hashes, region_hashes, value_hashes
from .rooms import shown_cells
from .verdict import Against, Subject

STAGE = "Comparing with earlier releases"


def beside_same_records(
    ledger: Ledger, subject: Subject, earlier: Sequence[Entry], progress: Progress
) -> tuple[list[Against], str]:
    """The releases of the same record file, one by one and all together."""
    if not earlier:
        return [], ""
    progress.update(STAGE, 0.1)
    new, fine = subject.entry, atoms_of(ledger.key, subject, earlier)
    apart = [places_in(entry, fine.regions) for entry in (new, *earlier)]
    atoms, places = fine.merged(apart)
    progress.update(STAGE, 0.4)
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
        progress.update(STAGE, 0.7)
        alone = exposed_together(mine, [fates], counts, new.k) if all_of_them.people else Exposure()
        contained = again or _tells_no_more(entry, fates, new, mine)
        shown = 0 if contained else shown_cells(mine, fates, counts) + shown_cells(fates, mine, counts)
        whole = releases_what_it_lists(entry, atoms, fates)
        found.append(_judged(new, entry, Exposure(alone.people, alone.groups, shown), whole))
    if again or any(not each.safe for each in found):
        return found, ""
    progress.update(STAGE, 0.9)
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
