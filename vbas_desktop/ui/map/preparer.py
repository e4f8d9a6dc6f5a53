"""Prepares what the map, the regions tab and the comparison show, in a thread, and keeps the last few."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.session.map_look import MapLook
from vbas_desktop.session.results import Entry
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.worker import Recent

from .differences import Pair, prepare_pair
from .geometry import BaseGeometry, prepare_base
from .overlay import Overlay, is_complete, label_key, prepare_overlay
from .shown import Shown, prepare_shown
from .site_cells import lacks_cells, with_cells

_KEPT = 12
"""How many solutions stay prepared, so that going back and forth is instant."""

_KEPT_PAIRS = 4
"""How many comparisons are kept."""

_KEPT_BASES = 3
"""The loaded regions, and those of the two solutions that can be shown: files that were read again may differ."""

T = TypeVar("T")
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
            base, coast = self._base_of(regions), self._coast(regions)
            if regions is not None and base is None:
                job = partial(prepare_base, regions, coast=coast)
                self._start((id(regions), coast), "Preparing the map", job, self._keep_base)
                return
            if entry is not None and base is not None and self._prepare_shown(entry, base):
                return
        if not self._prepare_overlay() and not self._prepare_pair():
            self._prepare_cells()

    def _start(self, what: Hashable, title: str, job: Callable[[Progress], T], keep: Callable[[T], None]) -> bool:
        """Start a job whose result is kept; False if it failed once: it would fail again, without end."""
        if what in self._given_up:
            return False

        def on_result(result: T) -> None:
            keep(result)
            self.changed.emit()
            self._prepare_next()

        self._context.quiet_runner.start(title, job, on_result, on_abort=partial(self._given_up.add, what))
        return True

    def _prepare_shown(self, entry: Entry, base: BaseGeometry) -> bool:
        # A project whose region file changed may have owners for other regions than there are now.
        if entry.solution.owner.size != len(base.regions) or self._prepared(entry) is not None:
            return False
        known, column = self._kept.get(key_of(entry)), self._named_after(entry)
        ashore = known is not None and self._ashore(known)

        def job(progress: Progress) -> Shown:
            if known is not None and ashore:
                return known.named(column)
            return prepare_shown(entry.number, entry.solution, entry.problem, base, progress, column)

        return self._start(key_of(entry), "Preparing the map", job, self._keep_shown)

    def _prepare_cells(self) -> None:
        for shown in (self.shown, self.compared) if self._cells else ():
            if shown is not None and lacks_cells(shown.geometry):
                what, job = ("cells", *key_of(shown)), partial(_with_cells, shown)
                if self._start(what, "Drawing the cells", job, self._keep_shown):
                    return

    def _prepare_pair(self) -> bool:
        shown, compared = self.shown, self.compared
        if shown is None or compared is None or self.pair is not None:
            return False
        what = (key_of(shown), key_of(compared))
        return self._start(what, "Comparing", partial(prepare_pair, shown, compared), partial(self._pairs.put, what))

    def _prepare_overlay(self) -> bool:
        """Start preparing what the look asks for and is missing; whether there is anything to do."""
        shown, look = self.shown, self._context.session.look
        base = shown.geometry.base if shown is not None else self.base
        if base is None:
            return False
        geometry, names = (None, ()) if shown is None else (shown.geometry, shown.names)
        if is_complete(self.overlay, base, look, label_key(look, geometry, names)):
            return False
        job = partial(prepare_overlay, base, geometry, names, look, self.overlay)
        return self._start(look, "Preparing layers", job, self._keep_overlay)

    def _keep_overlay(self, overlay: Overlay) -> None:
        self.overlay = overlay
        for path, drawn in overlay.context.items():
            if drawn.problem and path not in self._told:
                self._told.add(path)
                self._context.say(f"The layer is not drawn. {drawn.problem}")

    def _keep_base(self, base: BaseGeometry) -> None:
        self._bases = [base, *self._bases][:_KEPT_BASES]

    def _keep_shown(self, shown: Shown) -> None:
        self._kept.put(key_of(shown), shown)


def _with_cells(shown: Shown, progress: Progress) -> Shown:
    """The same with the cells of the sites on all its maps."""
    geometry, before = with_cells(shown.geometry, progress), shown.before
    if before is not None and lacks_cells(before):
        before = with_cells(before, progress)
    tiers = tuple(
        replace(each, geometry=replace(each.geometry, cell_rings=geometry.cell_rings)) for each in shown.tier_maps
    )
    return replace(shown, geometry=geometry, before=before, tier_maps=tiers)


def key_of(entry: Entry | Shown) -> Key:
    """A solution is prepared anew once its problem is counted; another project may use its number for another one.

    What is kept holds on to both objects, so their identities are not given to others.
    """
    return entry.number, id(entry.problem), id(entry.solution.owner)


def preparer_of(context: Context) -> Preparer:
    """The one preparer of a window, made when first asked for."""
    found = context.model.findChild(Preparer)
    return found if found is not None else Preparer(context)
