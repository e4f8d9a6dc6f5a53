"""What a refinement handed over between two aggregated regions, and what that is good for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.words import agreeing, counted

from .region_table import sizes_in


@dataclass(frozen=True)
class Handover:
    """Initial regions that one aggregated region has from, or gave to, another one.

    ``kept`` is how many records fewer are suppressed than if they were handed back and all else stayed (before larger
    places are looked at); None where criteria for sensitive values decide, too.
    """

    other: int
    regions: int
    gained: bool
    kept: int | None


def handovers(problem: Problem, solution: Solution, region: int) -> tuple[Handover, ...]:
    """Those of one aggregated region, what it gained first, more initial regions first; none without a refinement."""
    if solution.unrefined is None:
        return ()
    former = np.searchsorted(solution.owners_used, solution.unrefined.owner)
    now, found = solution.membership, []
    for gained in (True, False):
        mine, theirs = (now, former) if gained else (former, now)
        moved = (mine == region) & (theirs != region)
        for other in np.unique(theirs[moved]).tolist():
            part = moved & (theirs == other)
            taker, giver = (region, other) if gained else (other, region)
            kept = None if problem.judged_columns else _kept(problem, now, part, taker, giver)
            found.append(Handover(other, int(part.sum()), gained, kept))
    return tuple(sorted(found, key=lambda each: (not each.gained, -each.regions, each.other)))


def _kept(problem: Problem, now: NDArray[np.int32], part: NDArray[np.bool_], taker: int, giver: int) -> int:
    moved, k = sizes_in(problem.counts, np.flatnonzero(part)), problem.k
    taken, left = (sizes_in(problem.counts, np.flatnonzero(now == each)) for each in (taker, giver))
    back = _suppressed(taken - moved, k) + _suppressed(left + moved, k)
    return back - _suppressed(taken, k) - _suppressed(left, k)


def _suppressed(sizes: NDArray[np.int64], k: int) -> int:
    return int(sizes[sizes < k].sum())


def in_sentences(found: tuple[Handover, ...], codes: tuple[str, ...], most: int = 10) -> tuple[str, ...]:
    """Where initial regions came from or went to by the refinement, and why; so many neighbours are told one by one."""
    told, rest = [_sentence(each, codes[each.other]) for each in found[:most]], found[most:]
    if rest:
        number = sum(each.regions for each in rest)
        told.append(f"{number:,} more came from or went to {counted(len(rest), 'other neighbour')}.")
    return tuple(told)


def _sentence(handover: Handover, code: str) -> str:
    number, kept = handover.regions, handover.kept
    moved = f"{counted(number, 'initial region')} {'came from' if handover.gained else 'went to'} {code}"
    if kept is None:
        return f"{moved}."
    if kept > 0:
        return f"{moved} because {counted(kept, 'record')} fewer {agreeing(kept, 'is', 'are')} suppressed."
    if kept == 0:
        return f"{moved}; by itself that keeps no record."
    return f"{moved}; by itself that costs {counted(-kept, 'record')}, but other moves build on it."
