"""What a solution would lose in tiers: the question to ask whenever records are lost."""

from __future__ import annotations

from vbas_desktop.algorithms.released import decide
from vbas_desktop.approaches.base import Situation
from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.sensitive import enforced
from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.words import share_in_words

from .limits import boundaries_of
from .parts import tiers_within

USUAL_TIERS = "auto"
"""The approach that is offered."""


def suppressed_in_tiers(problem: Problem, solution: Solution, progress: Progress) -> int | None:
    """How many records would be suppressed with the same aggregated regions in tiers; None if tiers save nothing.

    Larger places keep to the boundaries that the solution keeps to, as they do in a run.
    """
    if solution.tiers is not None or not solution.suppressed_local:
        return None
    situation = Situation(problem.regions, problem.counts, problem.k, sensitive=problem.sensitive)
    limits = boundaries_of(problem, solution)
    tiers = tiers_within(limits, make("tiers", USUAL_TIERS), situation, solution.membership, progress)
    judged, groups = enforced(problem.sensitive), solution.aggregated_regions
    found = decide(problem.counts, judged, problem.k, solution.membership, groups, tiers, progress)
    lost = problem.records - found.records
    return lost if lost < solution.suppressed_records else None


def in_tiers_in_words(lost: int, in_tiers: int, records: int) -> str:
    """What tiers would save, at once and in few words."""
    return f"{share_in_words(lost, records)} of the records are lost; in tiers {share_in_words(in_tiers, records)}."
