"""Generalisation hierarchies of the lattice search: nested groups of one column's categories, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.category_meaning import propose_levels
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import MISSING, Categories, ColumnFacts, Grouping, category_order

ALL = "all"
"""The only group of the last level."""


@dataclass(frozen=True, eq=False)
class CodedHierarchy:
    """The levels of one column.

    levels: for each level, the group of every category, in the order of the column's categories. Level 0 leaves the
    categories as they are; each further level joins groups of the level below and never splits one.
    frequencies: int64 per category, its number of records.
    """

    categories: Categories
    levels: tuple[tuple[str, ...], ...]
    frequencies: NDArray[np.int64]

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.categories.column

    def count_groups(self, level: int) -> int:
        """Count the groups of a level."""
        return len(set(self.levels[level]))

    def count_categories(self, level: int) -> int:
        """Count the categories that enter the number of possible classes; on level 0 also those without records."""
        return self.categories.number if level == 0 else self.count_groups(level)

    def get_grouping(self, level: int) -> Grouping | None:
        """Return the recoding that leads to a level; None if it changes no value."""
        pairs = zip(self.categories.values, self.levels[level], strict=True)
        changed = {value: group for value, group in pairs if value != group}
        return Grouping(self.column, changed) if changed else None

    def encode_level(self, level: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the groups of a level in category order, and per category the code of its group among them."""
        if level == 0:
            return self.categories.values, np.arange(len(self.categories.values))
        groups = tuple(category_order(sorted(set(self.levels[level]))))
        code_of_group = {group: code for code, group in enumerate(groups)}
        return groups, np.array([code_of_group[group] for group in self.levels[level]], np.int64)

    def list_labels(self, level: int) -> tuple[str, ...]:
        """List the groups of a level as people read them; a value that is not recoded shows its codebook label."""
        labels = []
        for code, (value, group) in enumerate(
            zip(self.categories.values, self.levels[level], strict=True)
        ):
            labels.append(self.categories.label(code) if value == group else group or MISSING)
        return tuple(dict.fromkeys(labels))

    def compute_entropy(self, level: int) -> float:
        """Compute the entropy of the column's distribution on a level, in bits per record."""
        groups, codes = self.encode_level(level)
        totals = np.bincount(codes, self.frequencies, len(groups))
        shares = totals[totals > 0] / max(1.0, totals.sum())
        return float(max(0.0, -(shares * np.log2(shares)).sum()))


def build_hierarchy(facts: ColumnFacts, levels: Iterable[Mapping[str, str]] = ()) -> CodedHierarchy:
    """Build a hierarchy from the group of each original value on each level.

    A value that a level does not list keeps its group of the level below. A level that changes nothing is left out.
    Raises `InputError` if a level splits a group of the level below.
    """
    assert facts.categories is not None
    assert facts.frequencies is not None
    values = facts.categories.values
    nested = [values]
    for level in levels:
        below = nested[-1]
        groups = tuple(
            level.get(value, group_below) for value, group_below in zip(values, below, strict=True)
        )
        if len(set(zip(below, groups, strict=True))) > len(set(below)):
            raise InputError(
                Finding(
                    "not-nested",
                    f"Level {len(nested)} parts values that the level below it takes together.",
                    "Give every level the groups of the one below, or larger ones.",
                    column=facts.name,
                )
            )
        if groups != below:
            nested.append(groups)
    return CodedHierarchy(facts.categories, tuple(nested), facts.frequencies)


def end_in_one_group(hierarchy: CodedHierarchy) -> CodedHierarchy:
    """Return a hierarchy whose last level takes everything together, missing values included."""
    last = hierarchy.levels[-1]
    if len(set(last)) <= 1:
        return hierarchy
    names = set().union(*hierarchy.levels)
    whole = ALL if ALL not in names else f"{ALL} values"
    return replace(hierarchy, levels=(*hierarchy.levels, (whole,) * len(last)))


def propose_hierarchy(facts: ColumnFacts) -> CodedHierarchy:
    """Propose a hierarchy for the categories of a column, by what their values or the labels of a codebook mean.

    Numbers, intervals and steps of a known scale (low, medium, high) are merged with their neighbours, two, four, eight
    at a time; codes of a classification (A01.1) by their first characters; marital states by whether there is a
    partner. Other categories have no groups that make sense: only all of them are taken together. Missing values stay
    apart until then.
    """
    assert facts.categories is not None
    values = [value for value in facts.categories.values if value != ""]
    labels = facts.categories.labels
    named = {value: labels.get(value) or value for value in values}
    return end_in_one_group(build_hierarchy(facts, propose_levels(named)))
