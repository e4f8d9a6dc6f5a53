"""Regions given as a crosswalk: read for the construction “Given”."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vbas_desktop.approaches.construction.given import GivenConstruction
from vbas_desktop.approaches.interface import Approach
from vbas_desktop.io.regions.crosswalk import load_given_partition
from vbas_desktop.model.problem import Problem


def with_given_partition(problem: Problem, constructions: Iterable[Approach]) -> Problem:
    """Return the problem with the partition of the crosswalk that the construction “Given” names.

    If none of the constructions is “Given”, or it names no file, this is the same problem. Raises `InputError` with the
    rows of the crosswalk that are wrong.
    """
    files = [construction.file for construction in constructions if isinstance(construction, GivenConstruction)]
    if not any(files):
        return problem
    return replace(problem, given=load_given_partition(files[0], problem.regions.ids))
