"""Prepares what the map, the regions tab and the comparison show, in a thread, and keeps the last few."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import Solution
from vbas_desktop.session.map_look import MapLook
from vbas_desktop.session.results import Entry
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.worker import Recent

from .differences import Pair, prepare_pair
from .geometry import BaseGeometry, MapGeometry, prepare_base
from .overlay import Overlay, is_complete, label_key, prepare_overlay
from .shown import Shown, prepare_shown
from .site_cells import lacks_cells, with_cells

_KEPT = 12
"""So many solutions stay prepared, so that going back and forth is instant."""

_KEPT_PAIRS = 4
"""So many comparisons stay known."""

_KEPT_BASES = 3
"""The loaded regions, and those of the two solutions that can be shown: files that were read again may differ."""

Key = tuple[int, int, int]
"""Number, problem and owners of a solution; see `key_of`."""


class Preparer(QObject):
    """Follows the session: prepares the regions, the selected solution, the one compared with it, and what differs
    between the two, one at a time.

    `changed` is emitted whenever `base`, `shown`, `compared` or `pair` is another one.
    """

    changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(context.model)
        self._context = context
        self._bases: list[BaseGeometry] = []
        self._kept: Recent[Key, Shown] = Recent(_KEPT)
        self._pairs: Recent[tuple[Key, Key], Pair] = Recent(_KEPT_PAIRS)
        self._given_up: set[Hashable] = set()
        self._beside: int | None = None
        self._cells = False
        self.overlay: Overlay | None = None
        """Context layers, outlines and labels of the session's regions, as far as they are prepared."""
        self._told: set[str] = set()
        model = context.model
        for signal in (
            model.data_loaded,
            model.problem_counted,
            model.selection_changed,
            model.solutions_changed,
            model.look_changed,
        ):
            signal.connect(self._on_wish_changed)
        context.quiet_runner.job_ended.connect(self._prepare_next)
        self._on_wish_changed()

    @property
    def base(self) -> BaseGeometry | None:
        """The initial regions of the session, once they are prepared."""
        base, problem = self._base_of(self._regions(None)), self._context.session.problem
        return base if base is None or problem is None else base.with_records(problem.counts.region_totals)

    @property
    def shown(self) -> Shown | None:
        """The selected solution, once it is prepared."""
        return self._prepared(self._context.session.selected)

    @property
    def compared(self) -> Shown | None:
        """The solution that the selected one is compared with, once it is prepared."""
        return self._prepared(self._context.session.compared)

    def read_context_again(self, path: str) -> None:
        """Read a layer anew: the file may be there by now, or be another one."""
        if self.overlay is not None and path in self.overlay.context:
            others = {name: drawn for name, drawn in self.overlay.context.items() if name != path}
            self.overlay = replace(self.overlay, context=others)
            self._told.discard(path)
            self._bases = [base for base in self._bases if base.coast != path]
            self._given_up = {what for what in self._given_up if not isinstance(what, MapLook)}
            self._prepare_next()

    @property
    def pair(self) -> Pair | None:
        """The two with what differs between them, once that is known."""
        shown, compared = self.shown, self.compared
        if shown is None or compared is None:
            return None
        pair = self._pairs.get((key_of(shown), key_of(compared)))
        return pair if pair is not None and pair.is_of(shown, compared) else None

    @property
    def beside(self) -> Shown | None:
        """The solution that a page shows beside the selected one, once it is prepared."""
        return self._prepared(self._beside_entry)

    def prepare_beside(self, number: int | None) -> None:
        """Prepare one more solution, which the map itself does not show."""
        if number != self._beside:
            self._beside = number
            self._on_wish_changed()

    def want_cells(self, wanted: bool) -> None:
        """Whether the cells of the sites are shown: those around obstacles take long and are made only then."""
        self._cells = wanted
        self._prepare_next()

    @property
    def _beside_entry(self) -> Entry | None:
        return None if self._beside is None else self._context.session.entry(self._beside)

    def _prepared(self, entry: Entry | None) -> Shown | None:
        shown = None if entry is None else self._kept.get(key_of(entry))
        if shown is None or not self._ashore(shown):
            return None
        return shown if shown.named_after == self._named_after(shown) else None

    def _ashore(self, shown: Shown) -> bool:
        """Whether it ends where it is to end now."""
        base = shown.geometry.base
        return base.coast == self._coast(base.regions)

    def _named_after(self, entry: Entry | Shown) -> str | None:
        """The column that names the regions, unless the region file of a solution does not have it."""
        column, problem = self._context.session.look.names, entry.problem
        return column if problem is None or column in problem.regions.columns else None

    def _regions(self, entry: Entry | None) -> Regions | None:
        if entry is not None and entry.problem is not None:
            return entry.problem.regions
        return self._context.session.regions

    def _base_of(self, regions: Regions | None) -> BaseGeometry | None:
        coast = self._coast(regions)
        return next((base for base in self._bases if base.regions is regions and base.coast == coast), None)

    def _coast(self, regions: Regions | None) -> str | None:
        """The file at whose areas the cells of points end."""
        return None if regions is None or regions.polygons is not None else self._context.session.look.coast

    @Slot()
    def _on_wish_changed(self) -> None:
        self.changed.emit()
        self._prepare_next()

    @Slot()
    def _prepare_next(self) -> None:
        """Start preparing the first thing that is wanted and missing."""
        runner, session = self._context.quiet_runner, self._context.session
        if runner.busy:
            return
        for entry in (session.selected, session.compared, self._beside_entry):
            regions = self._regions(entry)
            base = self._base_of(regions)
            if regions is not None and base is None:
                coast = self._coast(regions)
                if (id(regions), coast) not in self._given_up:
                    abort = partial(self._give_up, (id(regions), coast))
                    runner.start("Preparing the map", _BaseJob(regions, coast), self._on_base, on_abort=abort)
                return
            # A project whose region file changed may have owners for other regions than there are now.
            fits = entry is not None and regions is not None and entry.solution.owner.size == len(regions)
            if entry is not None and fits and self._prepared(entry) is None and key_of(entry) not in self._given_up:
                assert base is not None
                known, column = self._kept.get(key_of(entry)), self._named_after(entry)
                known = known if known is not None and self._ashore(known) else None
                job = _ShownJob(entry.number, entry.solution, entry.problem, base, known, column)
                abort = partial(self._give_up, key_of(entry))
                runner.start("Preparing the map", job, self._on_shown, on_abort=abort)
                return
        if self._prepare_overlay():
            return
        self._prepare_pair()
        if not runner.busy:
            self._prepare_cells()

    def _prepare_cells(self) -> None:
        for shown in (self.shown, self.compared) if self._cells else ():
            if shown is not None and lacks_cells(shown.geometry):
                what = ("cells", *key_of(shown))
                if what not in self._given_up:
                    job, abort = _CellsJob(shown), partial(self._give_up, what)
                    self._context.quiet_runner.start("Drawing the cells", job, self._on_shown, on_abort=abort)
                    return

    def _prepare_pair(self) -> None:
        shown, compared = self.shown, self.compared
        if shown is None or compared is None or self.pair is not None:
            return
        what = (key_of(shown), key_of(compared))
        if what not in self._given_up:
            abort = partial(self._give_up, what)
            self._context.quiet_runner.start("Comparing", _PairJob(shown, compared), self._on_pair, on_abort=abort)

    def _prepare_overlay(self) -> bool:
        """Start preparing what the look asks for and is missing; whether there is anything to do."""
        shown, look = self.shown, self._context.session.look
        base = shown.geometry.base if shown is not None else self.base
        if base is None or look in self._given_up:
            return False
        geometry, names = (None, ()) if shown is None else (shown.geometry, shown.names)
        if is_complete(self.overlay, base, look, label_key(look, geometry, names)):
            return False
        job = _OverlayJob(base, geometry, names, look, self.overlay)
        abort = partial(self._give_up, look)
        self._context.quiet_runner.start("Preparing layers", job, self._on_overlay, on_abort=abort)
        return True

    def _on_overlay(self, overlay: Overlay) -> None:
        self.overlay = overlay
        for path, drawn in overlay.context.items():
            if drawn.problem and path not in self._told:
                self._told.add(path)
                self._context.say(f"The layer is not drawn. {drawn.problem}")
        self.changed.emit()
        self._prepare_next()

    def _give_up(self, what: Hashable) -> None:
        """What failed once is not tried again: it would fail again, without end."""
        self._given_up.add(what)

    def _on_base(self, base: BaseGeometry) -> None:
        self._bases = [base, *self._bases][:_KEPT_BASES]
        self.changed.emit()
        self._prepare_next()

    def _on_shown(self, shown: Shown) -> None:
        self._kept.put(key_of(shown), shown)
        self.changed.emit()
        self._prepare_next()

    def _on_pair(self, pair: Pair) -> None:
        self._pairs.put((key_of(pair.left), key_of(pair.right)), pair)
        self.changed.emit()
        self._prepare_next()


@dataclass(frozen=True, eq=False)
class _BaseJob:
    regions: Regions
    coast: str | None

    def __call__(self, progress: Progress) -> BaseGeometry:
        return prepare_base(self.regions, progress, self.coast)


@dataclass(frozen=True, eq=False)
class _ShownJob:
    number: int
    solution: Solution
    problem: Problem | None
    base: BaseGeometry
    known: Shown | None
    named_after: str | None

    def __call__(self, progress: Progress) -> Shown:
        if self.known is not None:
            return self.known.named(self.named_after)
        return prepare_shown(self.number, self.solution, self.problem, self.base, progress, self.named_after)


@dataclass(frozen=True, eq=False)
class _CellsJob:
    shown: Shown

    def __call__(self, progress: Progress) -> Shown:
        shown, before = self.shown, self.shown.before
        geometry = with_cells(shown.geometry, progress)
        if before is not None and lacks_cells(before):
            before = with_cells(before, progress)
        tiers = tuple(
            replace(each, geometry=replace(each.geometry, cell_rings=geometry.cell_rings)) for each in shown.tier_maps
        )
        return replace(shown, geometry=geometry, before=before, tier_maps=tiers)


@dataclass(frozen=True, eq=False)
class _OverlayJob:
    base: BaseGeometry
    geometry: MapGeometry | None
    names: tuple[str, ...]
    look: MapLook
    before: Overlay | None

    def __call__(self, progress: Progress) -> Overlay:
        return prepare_overlay(self.base, self.geometry, self.names, self.look, self.before, progress)


@dataclass(frozen=True, eq=False)
class _PairJob:
    left: Shown
    right: Shown

    def __call__(self, progress: Progress) -> Pair:
        return prepare_pair(self.left, self.right, progress)


def key_of(entry: Entry | Shown) -> Key:
    """A solution is prepared anew once its problem is counted; another project may use its number for another one.

    What is kept holds on to both objects, so their identities are not given to others.
    """
    return entry.number, id(entry.problem), id(entry.solution.owner)


def preparer_of(context: Context) -> Preparer:
    """The one preparer of a window, made when first asked for."""
    found = context.model.findChild(Preparer)
    return found if found is not None else Preparer(context)
