"""A solution in the form that requirements are checked against: nothing is computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.engine.place import HEIGHT, unpacked
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import MISSING
from vbas_desktop.model.solution import Representability, RequirementCheck, RunResult, Solution

from .requirement import Criterion, Requirement, Verdict, as_rows, check, none_missed, not_released, released
from .words import parts_shown

_matching: WeakKeyDictionary[Problem, dict[tuple[tuple[str, str], ...], NDArray[np.bool_]]] = WeakKeyDictionary()
"""The classes that a wanted class stands for, by problem: asked for again for every solution of a list."""


@dataclass(frozen=True, eq=False)
class Checked:
    """What a requirement needs to know of a solution beside itself.

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
        """All that make the classes of a release: the quasi-identifiers and the place."""
        return (*self.quasi_identifiers, self.region_column)

    def criteria(self, requirement: Requirement) -> list[Criterion]:
        """Every stated criterion against the solution."""
        return check(requirement, self.vector(requirement), self.has_class, self.lacks_class)

    def meets(self, requirement: Requirement) -> bool:
        """Whether no stated criterion is missed."""
        return none_missed(self.criteria(requirement))

    def vector(self, requirement: Requirement | None = None) -> dict[str, Any]:
        """The vector, with the weights of the requirement where they fit the columns."""
        facts = self.solution.representability
        weights = self._weights(requirement)
        levels = facts.get("records_by_level", {})
        tiers = self.solution.tiers
        heights = {} if tiers is None else {self.region_column: max(HEIGHT, len(tiers))}
        return {
            "overall": {**facts, **self._precision(facts, weights)},
            "included_quasi_identifiers": list(self.columns),
            "coding": {
                name: {"height": heights.get(name, HEIGHT), "records_by_level": parts_shown(levels[name], self.k)}
                for name in self.columns
                if name in levels
            },
            "sensitive_aggregated": self.is_aggregated,
            "sensitive_columns": self.released_columns,
            "weights": {"quasi_identifiers": weights},
            "general": {"k": self.k},
        }

    def _weights(self, requirement: Requirement | None) -> dict[str, float]:
        if requirement is not None and set(requirement.weights) == set(self.columns):
            return {name: requirement.weights[name] for name in self.columns}
        return {name: 1 / len(self.columns) for name in self.columns}

    def _precision(self, facts: Representability, weights: Mapping[str, float]) -> dict[str, float]:
        by_column = facts.get("precision_by_column")
        if not by_column or set(by_column) != set(weights):
            return {}
        found = sum(weights[name] * by_column[name] for name in weights)
        return {"precision": found, "precision_with_suppressed": found * facts.get("sample_size_ratio", 0.0)}

    def has_class(self, wanted: Mapping[str, str]) -> tuple[str, Verdict]:
        """Whether a class is released. A wanted place is an initial region, which must stand alone."""
        strange = [name for name in wanted if name not in self.columns]
        if strange:
            return f"{strange[0]} is no quasi-identifier", Verdict.NOT_MET
        if self.problem is None:
            return "the records are not counted yet", Verdict.NOT_CHECKABLE
        flags = unpacked(self.solution.released_classes, self.problem.counts.n_combinations)
        if flags is None:
            return "not computed: run again", Verdict.NOT_CHECKABLE
        values = {name: "" if value == MISSING else value for name, value in wanted.items()}
        place = values.pop(self.region_column, None)
        classes = classes_like(self.problem, values)
        return released(bool((flags & classes).any()) if place is None else self._alone(place, classes))

    def lacks_class(self, unwanted: Mapping[str, str]) -> tuple[str, Verdict]:
        """Check that no record of a class is released. An unwanted region counts even if it is merged with others."""
        strange = [name for name in unwanted if name not in self.columns]
        if strange:
            return f"{strange[0]} is no quasi-identifier", Verdict.NOT_CHECKABLE
        if self.problem is None:
            return "the records are not counted yet", Verdict.NOT_CHECKABLE
        flags = unpacked(self.solution.released_classes, self.problem.counts.n_combinations)
        if flags is None:
            return "not computed: run again", Verdict.NOT_CHECKABLE
        values = {name: "" if value == MISSING else value for name, value in unwanted.items()}
        region = values.pop(self.region_column, None)
        classes = flags & classes_like(self.problem, values)
        if region is None:
            return not_released(not classes.any())
        return not_released(self._withholds(region, classes))

    def _withholds(self, region: str, classes: NDArray[np.bool_]) -> bool | None:
        """Find out whether no record of an initial region and of these classes is released.

        None if more than the size of classes decides about their release: tiers, or criteria of sensitive columns.
        """
        problem, membership = self.problem, self.solution.membership
        assert problem is not None
        if region not in problem.regions.ids:
            return True
        number = problem.regions.ids.index(region)
        table = problem.counts.table
        own = table.indices[table.indptr[number] : table.indptr[number + 1]]
        own = own[classes[own]]
        if not own.size:
            return True
        if self.solution.tiers is not None or problem.sensitive:
            return None
        totals = table[np.flatnonzero(membership == membership[number])].sum(axis=0)
        return bool((totals[own] < self.k).all())

    def _alone(self, place: str, classes: NDArray[np.bool_]) -> bool:
        """Whether an initial region was left by itself and one of these classes is released in it."""
        problem, membership = self.problem, self.solution.membership
        assert problem is not None
        if place not in problem.regions.ids:
            return False
        region = problem.regions.ids.index(place)
        if np.count_nonzero(membership == membership[region]) > 1:
            return False
        table = problem.counts.table
        mine = slice(table.indptr[region], table.indptr[region + 1])
        return bool((classes[table.indices[mine]] & (table.data[mine] >= self.k)).any())


def classes_like(problem: Problem, wanted: Mapping[str, str]) -> NDArray[np.bool_]:
    """Which classes have these values."""
    kept = _matching.setdefault(problem, {})
    key = tuple(sorted(wanted.items()))
    if key not in kept:
        found = np.ones(problem.counts.n_combinations, bool)
        for name, value in wanted.items():
            q = problem.quasi_identifiers.index(name)
            values = problem.categories[q].values
            code = values.index(value) if value in values else -1
            found &= problem.counts.decode_column(q) == code
        kept[key] = found
    return kept[key]


def marked(
    result: RunResult,
    problem: Problem,
    requirement: Requirement,
    released_columns: Sequence[str] | None,
    is_aggregated: bool = False,
) -> RunResult:
    """The same result; every solution says whether it meets the requirement, and how it fares by criterion."""

    def mark(solution: Solution) -> Solution:
        columns = (
            problem.quasi_identifiers,
            problem.region_column,
            problem.k,
            problem,
            released_columns,
            is_aggregated,
        )
        criteria = Checked(solution, *columns).criteria(requirement)
        return replace(solution, requirement=RequirementCheck(none_missed(criteria), as_rows(criteria)))

    return replace(result, solutions=tuple(mark(each) for each in result.solutions))
