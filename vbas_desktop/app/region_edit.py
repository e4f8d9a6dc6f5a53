"""Edit the aggregated regions of a solution by hand, with figures that follow every change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from vbas_desktop.algorithms.region_graph import Pairs
from vbas_desktop.io.output import check_target
from vbas_desktop.io.regions.crosswalk import write_partition
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.text import format_count

_MAX_CACHED_TOTALS = 8
"""Aggregated regions whose classes are kept counted: a stroke changes two at a time."""


@dataclass(frozen=True)
class EditFigures:
    """Figures of the release of an edited partition with classes below k suppressed, without tiers and criteria.

    regions: aggregated regions. in_pieces: those of them that fall into several pieces.
    suppressed: records of the file that would not be released, those of unknown regions included.
    smallest_class: records of the smallest released class; None if nothing would be released.
    """

    regions: int
    in_pieces: int
    suppressed: int
    smallest_class: int | None


@dataclass(frozen=True, eq=False)
class EditStep:
    """One step of an edit: its name, the initial regions that it moved, whence and where, and what it locked."""

    name: str
    moved: NDArray[np.intp]
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    locked_before: frozenset[int]
    locked_after: frozenset[int]


class RegionEdit:
    """The aggregated regions of a solution while somebody edits them.

    Aggregated regions have the numbers that they have in the solution; new ones get further numbers. A change counts
    only the initial regions that move and the classes and pieces of the regions that it changes, so that it takes
    milliseconds however many regions there are.

    problem: the counted records. membership: int32 per initial region, its aggregated region.
    pairs: the initial regions that touch, (number, 2). codes: what the aggregated regions of the solution are called.
    """

    def __init__(
        self, problem: Problem, membership: NDArray[np.int32], pairs: Pairs, codes: Sequence[str] = ()
    ) -> None:
        self._problem = problem
        self._start = membership.copy()
        self._membership = membership.copy()
        self._codes = tuple(codes)
        n_regions = len(membership)
        self._n_before = int(membership.max()) + 1
        ones = np.ones(2 * len(pairs), np.int8)
        ends = np.concatenate([pairs, pairs[:, ::-1]]).T
        self._touching = csr_array((ones, (ends[0], ends[1])), shape=(n_regions, n_regions))
        n_most = self._n_before + n_regions
        self._sizes = np.bincount(membership, minlength=n_most)
        self._suppressed = np.zeros(n_most, np.int64)
        self._smallest = np.zeros(n_most, np.int64)
        self._pieces = np.zeros(n_most, np.int32)
        self._totals: dict[int, NDArray[np.int64]] = {}
        self._past: list[EditStep] = []
        self._future: list[EditStep] = []
        self._stroke: tuple[str, NDArray[np.int32], frozenset[int]] | None = None
        self.locked: frozenset[int] = frozenset()
        for region in np.flatnonzero(self._sizes).tolist():
            self._recount(region)

    # What there is now

    @property
    def membership(self) -> NDArray[np.int32]:
        """The aggregated region of each initial region."""
        return self._membership

    @property
    def figures(self) -> EditFigures:
        """The figures of the partition as it is now."""
        released = self._smallest[self._smallest > 0]
        return EditFigures(
            regions=int(np.count_nonzero(self._sizes)),
            in_pieces=int(np.count_nonzero(self._pieces > 1)),
            suppressed=int(self._suppressed.sum()) + self._problem.unknown_region_records,
            smallest_class=int(released.min()) if released.size else None,
        )

    @property
    def moved(self) -> NDArray[np.intp]:
        """The initial regions that are in another aggregated region than in the solution."""
        return np.flatnonzero(self._membership != self._start)

    def name(self, region: int) -> str:
        """Return what an aggregated region is called: its code in the solution, or “new 1” and so on."""
        if region >= self._n_before:
            return f"new {region - self._n_before + 1:,}"
        return self._codes[region] if region < len(self._codes) else str(region + 1)

    def exists(self, region: int) -> bool:
        """Tell whether an aggregated region has initial regions."""
        return 0 <= region < self._sizes.size and bool(self._sizes[region])

    def list_members(self, region: int) -> NDArray[np.intp]:
        """List the initial regions of an aggregated region."""
        return np.flatnonzero(self._membership == region)

    def list_touching(self, region: int) -> NDArray[np.intp]:
        """List the initial regions of other aggregated regions that touch this one."""
        touching = np.unique(self._touching[self.list_members(region)].indices)
        return touching[self._membership[touching] != region].astype(np.intp)

    def list_neighbours(self, region: int) -> list[int]:
        """List the aggregated regions that touch this one."""
        return [int(other) for other in np.unique(self._membership[self.list_touching(region)])]

    def describe(self, region: int) -> str:
        """Describe an aggregated region in a sentence."""
        members = self.list_members(region)
        records = int(self._count_classes(region).sum())
        lock = ", locked" if region in self.locked else ""
        pieces = f" in {int(self._pieces[region]):,} pieces" if self._pieces[region] > 1 else ""
        return (
            f"{self.name(region)}{lock}: {format_count(members.size, 'initial region')}{pieces}, "
            f"{format_count(records, 'record')}, {int(self._suppressed[region]):,} suppressed"
        )

    # Changes

    @contextmanager
    def stroke(self, name: str) -> Iterator[None]:
        """Make everything that happens in the block one step of undo; nothing if it changes nothing."""
        self.begin_stroke(name)
        try:
            yield
        finally:
            self.end_stroke()

    def begin_stroke(self, name: str) -> None:
        """Begin a step of undo that lasts until `end_stroke`."""
        self._stroke = name, self._membership.copy(), self.locked

    def end_stroke(self) -> None:
        """Remember what happened since `begin_stroke` as one step, unless nothing did."""
        if self._stroke is None:
            return
        name, before, locked = self._stroke
        self._stroke = None
        moved = np.flatnonzero(before != self._membership)
        if moved.size or locked != self.locked:
            after = self._membership[moved]
            self._past.append(EditStep(name, moved, before[moved], after, locked, self.locked))
            self._future.clear()

    def move(self, regions: NDArray[np.integer] | Sequence[int], target: int) -> int:
        """Move initial regions into an aggregated region; return how many moved.

        Locked regions neither gain nor lose.
        """
        if target in self.locked or not self.exists(target):
            return 0
        regions = np.unique(np.asarray(regions, np.intp))
        owners = self._membership[regions]
        is_free = (owners != target) & ~np.isin(owners, list(self.locked))
        return self._put(regions[is_free], np.full(int(is_free.sum()), target, np.int32))

    def merge(self, region: int, other: int) -> int:
        """Move all initial regions of an aggregated region into another one; return how many moved."""
        with self.stroke(f"merging {self.name(region)} into {self.name(other)}"):
            return self.move(self.list_members(region), other)

    def split(self, region: int) -> int:
        """Split an aggregated region into its pieces, or, if it is one, into halves; return the number of parts.

        The largest piece keeps the number of the region. Halves have about as many records each; they lie along the
        longest direction of the region. A locked region, or one of a single initial region, stays as it is.
        """
        members = self.list_members(region)
        if region in self.locked or members.size < 2:
            return 1
        number, part = self._find_pieces(members)
        if number == 1:
            number, part = 2, self._halve(members)
        largest = int(np.bincount(part).argmax())
        with self.stroke(f"splitting {self.name(region)}"):
            for piece in range(number):
                if piece != largest:
                    chosen = members[part == piece]
                    self._put(chosen, np.full(chosen.size, self._next_number(), np.int32))
        return number

    def lock(self, region: int, on: bool) -> None:
        """Lock an aggregated region, or unlock it."""
        with self.stroke(f"{'locking' if on else 'unlocking'} {self.name(region)}"):
            self.locked = self.locked | {region} if on else self.locked - {region}

    @property
    def undo_name(self) -> str | None:
        """The name of the step that `undo` reverts."""
        return self._past[-1].name if self._past else None

    @property
    def redo_name(self) -> str | None:
        """The name of the step that `redo` makes again."""
        return self._future[-1].name if self._future else None

    def undo(self) -> str | None:
        """Revert the last step and return its name; None if there is none."""
        self.end_stroke()
        if not self._past:
            return None
        step = self._past.pop()
        self._future.append(step)
        self._put(step.moved, step.before)
        self.locked = step.locked_before
        return step.name

    def redo(self) -> str | None:
        """Make the step again that was reverted last and return its name; None if there is none."""
        self.end_stroke()
        if not self._future:
            return None
        step = self._future.pop()
        self._past.append(step)
        self._put(step.moved, step.after)
        self.locked = step.locked_after
        return step.name

    def save(self, path: Path, inputs: Sequence[Path] = ()) -> None:
        """Write the partition as a crosswalk, for the construction “Given”. Raises `InputError` for a file in use."""
        check_target(path, inputs=inputs, replace=True)
        write_partition(path, self._problem.regions.ids, self._membership)

    # Counting

    def _put(self, regions: NDArray[np.intp], targets: NDArray[np.int32]) -> int:
        """Move initial regions to these aggregated regions, and count again what that changes."""
        owners = self._membership[regions]
        table = self._problem.counts.table
        for changed in (owners, targets):
            for region in np.unique(changed).tolist():
                if region in self._totals:
                    sums = np.asarray(table[regions[changed == region]].sum(axis=0), np.int64)
                    self._totals[region] = self._totals[region] + (sums if changed is targets else -sums)
        self._membership[regions] = targets
        np.subtract.at(self._sizes, owners, 1)
        np.add.at(self._sizes, targets, 1)
        for region in np.unique(np.concatenate([owners, targets])).tolist():
            self._recount(region)
        return regions.size

    def _recount(self, region: int) -> None:
        """Count the suppressed records, the smallest released class and the pieces of one aggregated region."""
        sizes = self._count_classes(region)
        is_released = sizes >= self._problem.k
        self._suppressed[region] = sizes.sum(where=~is_released)
        self._smallest[region] = (
            sizes.min(where=is_released, initial=np.iinfo(np.int64).max) if is_released.any() else 0
        )
        self._pieces[region] = self._find_pieces(self.list_members(region))[0]

    def _count_classes(self, region: int) -> NDArray[np.int64]:
        """Count the records of each combination in an aggregated region, those of regions that changed last at once."""
        totals = self._totals.pop(region, None)
        if totals is None:
            table = self._problem.counts.table
            totals = np.asarray(table[self.list_members(region)].sum(axis=0), np.int64)
        self._totals[region] = totals
        for oldest in list(self._totals)[:-_MAX_CACHED_TOTALS]:
            del self._totals[oldest]
        return totals

    def _find_pieces(self, members: NDArray[np.intp]) -> tuple[int, NDArray[np.int32]]:
        """Find the pieces of some initial regions: their number, and the piece of each."""
        if members.size == 0:
            return 0, np.zeros(0, np.int32)
        number, piece = connected_components(self._touching[members][:, members], directed=False)
        return int(number), piece

    def _halve(self, members: NDArray[np.intp]) -> NDArray[np.int32]:
        """Divide initial regions across their longest direction into two parts of about as many records."""
        points = self._problem.regions.points[members]
        centred = points - points.mean(axis=0)
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        order = np.argsort(centred @ direction, kind="stable")
        weights = self._problem.counts.region_totals[members][order] + 1.0 / members.size
        reached = np.cumsum(weights)
        n_first = 1 + int(np.argmin(np.abs(reached[:-1] - reached[-1] / 2)))
        part = np.ones(members.size, np.int32)
        part[order[:n_first]] = 0
        return part

    def _next_number(self) -> int:
        """Find the first number beyond those of the solution that no aggregated region has."""
        return self._n_before + int(np.argmin(self._sizes[self._n_before :]))
