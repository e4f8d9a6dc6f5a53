"""A solution in the form that requirements are checked against: nothing is computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.engine.geographic_representability import HEIGHT, unpack_flags
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import MISSING
from vbas_desktop.model.solution import RepresentabilityMeasures, RequirementCheck, RunResult, Solution

from .elements import mask_small_parts
from .requirement import (
    CriterionOutcome,
    Requirement,
    RequirementRow,
    RequirementStatus,
    check_requirement,
    is_requirement_met,
    rows_as_dicts,
)

_matching: WeakKeyDictionary[Problem, dict[tuple[tuple[str, str], ...], NDArray[np.bool_]]] = (
    WeakKeyDictionary()
)
"""Combinations that have some values, by problem: asked for again for every solution of a list."""


@dataclass(frozen=True, eq=False)
class SolutionCheck:
    """A solution with the facts that requirements are checked against.

    ``problem`` is None until the records are counted: then required classes cannot be looked up.
    ``released_columns``: the columns of the release; None if they are not known. ``is_aggregated``: sensitive
    columns have one value per class in the release.
    """

    solution: Solution
    quasi_identifiers: tuple[str, ...]
    region_column: str
    k: int
    problem: Problem | None = None
    released_columns: Sequence[str] | None = None
    is_aggregated: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that make the classes of a release: the quasi-identifiers and the region."""
        return (*self.quasi_identifiers, self.region_column)

    def check(self, requirement: Requirement) -> list[RequirementRow]:
        """Check every stated criterion."""
        return check_requirement(requirement, self.build_vector(requirement), self)

    def meets(self, requirement: Requirement) -> bool:
        """Tell if no stated criterion is missed."""
        return is_requirement_met(self.check(requirement))

    def build_vector(self, requirement: Requirement | None = None) -> dict[str, Any]:
        """Build the vector, with the weights of the requirement where they fit the columns."""
        measures = self.solution.representability
        weights = self._choose_weights(requirement)
        levels = measures.get("records_by_level", {})
        tiers = self.solution.tiers
        heights = {} if tiers is None else {self.region_column: max(HEIGHT, len(tiers))}
        return {
            "overall": {**measures, **self._compute_precision(measures, weights)},
            "included_quasi_identifiers": list(self.columns),
            "coding": {
                name: {
                    "height": heights.get(name, HEIGHT),
                    "records_by_level": mask_small_parts(levels[name], self.k),
                }
                for name in self.columns
                if name in levels
            },
            "sensitive_aggregated": self.is_aggregated,
            "sensitive_columns": self.released_columns,
            "weights": {"quasi_identifiers": weights},
            "general": {"k": self.k},
        }

    def _choose_weights(self, requirement: Requirement | None) -> dict[str, float]:
        if requirement is not None and set(requirement.weights) == set(self.columns):
            return {name: requirement.weights[name] for name in self.columns}
        return {name: 1 / len(self.columns) for name in self.columns}

    def _compute_precision(
        self, measures: RepresentabilityMeasures, weights: Mapping[str, float]
    ) -> dict[str, float]:
        """Compute the precision with these weights; empty if that of some column is not known."""
        by_column = measures.get("precision_by_column")
        if not by_column or set(by_column) != set(weights):
            return {}
        precision = sum(weights[name] * by_column[name] for name in weights)
        return {
            "precision": precision,
            "precision_with_suppressed": precision * measures.get("sample_size_ratio", 0.0),
        }

    def check_required(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that a class is released. A required region is an initial region, which must stand alone."""
        others = [name for name in values if name not in self.columns]
        if others:
            return CriterionOutcome(f"{others[0]} is no quasi-identifier", RequirementStatus.NOT_MET)
        match = self._match(values)
        if isinstance(match, CriterionOutcome):
            return match
        if match.region is None:
            return CriterionOutcome.of_required_class(bool(match.combinations.any()))
        return CriterionOutcome.of_required_class(
            _is_released_alone(match, self.solution.membership, self.k)
        )

    def check_unwanted(self, values: Mapping[str, str]) -> CriterionOutcome:
        """Check that no record of a class is released. An unwanted region counts even if it is merged with others."""
        others = [name for name in values if name not in self.columns]
        if others:
            return CriterionOutcome.uncheckable(f"{others[0]} is no quasi-identifier")
        match = self._match(values)
        if isinstance(match, CriterionOutcome):
            return match
        if match.region is None:
            return CriterionOutcome.of_unwanted_class(not match.combinations.any())
        return CriterionOutcome.of_unwanted_class(_is_withheld(match, self.solution, self.k))

    def _match(self, values: Mapping[str, str]) -> _Match | CriterionOutcome:
        """Find the released combinations of a class; an outcome says why that is not possible."""
        if self.problem is None:
            return CriterionOutcome.uncheckable("the records are not counted yet")
        flags = unpack_flags(self.solution.released_classes, self.problem.counts.n_combinations)
        if flags is None:
            return CriterionOutcome.uncheckable("not computed: run again")
        stored = {name: "" if value == MISSING else value for name, value in values.items()}
        region = stored.pop(self.region_column, None)
        return _Match(self.problem, flags & find_matching_classes(self.problem, stored), region)


@dataclass(frozen=True, eq=False)
class _Match:
    """The combinations of a class that are released somewhere (flags), and its initial region if it names one."""

    problem: Problem
    combinations: NDArray[np.bool_]
    region: str | None


def _is_withheld(match: _Match, solution: Solution, k: int) -> bool | None:
    """Tell if no record of an initial region and of these combinations is released.

    None if more than the size of classes decides about their release: tiers, or criteria of sensitive columns.
    """
    problem = match.problem
    membership = solution.membership
    if match.region not in problem.regions.ids:
        return True
    number = problem.regions.ids.index(match.region)
    table = problem.counts.table
    own = table.indices[table.indptr[number] : table.indptr[number + 1]]
    own = own[match.combinations[own]]
    if not own.size:
        return True
    if solution.tiers is not None or problem.sensitive:
        return None
    totals = table[np.flatnonzero(membership == membership[number])].sum(axis=0)
    return bool((totals[own] < k).all())


def _is_released_alone(match: _Match, membership: NDArray[np.int32], k: int) -> bool:
    """Tell if an initial region was left by itself and one of these combinations is released in it."""
    problem = match.problem
    if match.region not in problem.regions.ids:
        return False
    number = problem.regions.ids.index(match.region)
    if np.count_nonzero(membership == membership[number]) > 1:
        return False
    table = problem.counts.table
    own = slice(table.indptr[number], table.indptr[number + 1])
    return bool((match.combinations[table.indices[own]] & (table.data[own] >= k)).any())


def find_matching_classes(problem: Problem, values: Mapping[str, str]) -> NDArray[np.bool_]:
    """Flag the combinations that have these values by column."""
    by_values = _matching.setdefault(problem, {})
    key = tuple(sorted(values.items()))
    if key not in by_values:
        flags = np.ones(problem.counts.n_combinations, bool)
        for name, value in values.items():
            q = problem.quasi_identifiers.index(name)
            categories = problem.categories[q].values
            code = categories.index(value) if value in categories else -1
            flags &= problem.counts.decode_column(q) == code
        by_values[key] = flags
    return by_values[key]


def check_solutions(
    result: RunResult,
    problem: Problem,
    requirement: Requirement,
    released_columns: Sequence[str] | None,
    is_aggregated: bool = False,
) -> RunResult:
    """Return the result with the outcome of the check, criterion by criterion, in every solution."""

    def mark(solution: Solution) -> Solution:
        check = SolutionCheck(
            solution,
            problem.quasi_identifiers,
            problem.region_column,
            problem.k,
            problem,
            released_columns,
            is_aggregated,
        )
        rows = check.check(requirement)
        return replace(
            solution, requirement=RequirementCheck(is_requirement_met(rows), rows_as_dicts(rows))
        )

    return replace(result, solutions=tuple(mark(solution) for solution in result.solutions))
