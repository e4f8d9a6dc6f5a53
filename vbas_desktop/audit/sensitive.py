"""The sensitive values of input and release, as the verification sees them: which classes must have been left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.criteria import Criterion
from vbas_desktop.model.errors import Check
from vbas_desktop.model.sensitive import SensitiveCounts, enforced

from .blocks import Unreadable
from .criteria import Spread, order_of
from .expected_values import alone, expected_forms
from .fingerprints import Case, Seen, hashed

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_COMPARED = ("closeness", "ordered-closeness")


@dataclass(frozen=True, eq=False)
class Judged:
    """A column with criteria, and how its values are spread over the classes of a file."""

    column: str
    criteria: tuple[Criterion, ...]
    spread: Spread

    @property
    def compared(self) -> tuple[Criterion, ...]:
        """The criteria that depend on what else is released."""
        return tuple(each for each in self.criteria if each.kind in _COMPARED)


def judged_columns(case: Case, seen: Seen) -> list[Judged]:
    """The spread of every column with criteria that the file has."""
    keys = seen.tally.classes().keys
    order = np.argsort(keys)
    found = []
    for each in enforced(case.problem.sensitive):
        if each.column not in seen.values:
            continue
        _, counts, _, notes = seen.values[each.column].classes()
        known, value = np.unique(notes[:, 1], return_inverse=True)
        group = order[np.searchsorted(keys, notes[:, 0], sorter=order)].astype(np.int64)
        spread = Spread(keys.size, group, value.ravel().astype(np.int64), counts, *_meaning(case, each, known))
        found.append(Judged(each.column, each.chosen.criteria, spread))
    return found


def _meaning(case: Case, sensitive: SensitiveCounts, known: NDArray[np.uint64]) -> tuple[Flags, Numbers | None]:
    """Which of the values, of which only the hashes are known, do harm, and in which order they are."""
    claim, chosen = case.claim, sensitive.chosen
    given: Sequence[str] = claim.values.get(sensitive.column, sensitive.values)
    is_text = sensitive.column in claim.values
    written = [alone(value) for value in given] if is_text else list(given)
    hashes = hashed(written, case.encoding, claim.escaped)
    benign = [any(map(chosen.is_benign, expected_forms(value) if is_text else (value,))) for value in given]
    harmful = ~np.isin(known, hashes[np.array(benign, np.bool_)])
    if not any(each.kind == "ordered-closeness" for each in chosen.criteria):
        return harmful, None
    text_of = dict(zip(hashes.tolist(), written, strict=True))
    texts = [text_of.get(each) for each in known.tolist()]
    order = None if None in texts else order_of([text for text in texts if text is not None])
    if order is None:
        raise Unreadable(f"the values of “{sensitive.column}” have no order")
    return harmful, order


def barring_by(columns: Sequence[Judged]) -> Callable[[Numbers, int, Flags], Flags]:
    """What says which groups of classes must not be released, by all records of the input."""

    def barred(group: Numbers, groups: int, left: Flags) -> Flags:
        bad = np.zeros(groups, np.bool_)
        for each in columns:
            bad |= each.spread.joined(group, groups, left).failing(each.criteria, each.spread.totals)
        return bad

    return barred


def settled(columns: Sequence[Judged], place: Numbers, released: Flags) -> Flags:
    """The classes that stay released if all that does not meet the criteria by the released records is taken out.

    ``place`` is the same for classes that are released as one.
    """
    compared = [each for each in columns if each.compared]
    if not compared:
        return released
    groups, group = np.unique(place, return_inverse=True)
    group = group.ravel().astype(np.int64)
    while True:
        bad = np.zeros(groups.size, np.bool_)
        for each in compared:
            spread = each.spread.joined(group, groups.size, released)
            bad |= spread.failing(each.criteria, spread.totals)
        left = released & ~bad[group]
        if np.array_equal(left, released):
            return released
        released = left


def criteria_check(columns: Sequence[Judged], names: Mapping[str, str]) -> list[Check]:
    """Whether the released file meets every criterion, by what it holds itself; columns have their ``names`` there."""
    checks = []
    for each in columns:
        bad = each.spread.failing(each.criteria, each.spread.totals)
        told = ", ".join(one.text for one in each.criteria)
        name = f"the values of “{names[each.column]}” meet the criteria in every combination"
        failed = f"; {int(bad.sum()):,} do not" if bad.any() else ""
        checks.append(Check(name, not bad.any(), f"{told}{failed}"))
    return checks
