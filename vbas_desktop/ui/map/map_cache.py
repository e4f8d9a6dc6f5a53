"""Prepares what the map, the regions tab and the comparison show, in a thread, and keeps the last few."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Regions

from ..core.context import UiContext
from ..core.worker import LruCache
from ..presentation.overlay import Overlay, is_complete, label_key, prepare_overlay
from ..presentation.region_geometry import RegionGeometry, prepare_region_geometry
from ..presentation.scene import MapScene, prepare_scene
from ..presentation.site_cells import lacks_cells, with_cells
from ..state.map_style import MapStyle
from ..state.scenario import ResultRow
from .differences import MapComparison, prepare_pair

_KEPT = 12
"""How many solutions stay prepared, so that going back and forth is instant."""

_KEPT_PAIRS = 4
"""How many comparisons are kept."""

_KEPT_BASES = 3
"""The loaded regions, and those of the two solutions that can be shown: files that were read again may differ."""

T = TypeVar("T")
Key = tuple[int, int, int]
"""Number, problem and owners of a solution; see `key_of`."""


class MapCache(QObject):
    """Follows the state: prepares the regions, the selected solution, the one compared with it, and what differs
    between the two, one at a time.

    `changed` is emitted whenever `base`, `shown`, `compared` or `pair` is another one.
    """

    changed = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__(context.model)
        self._context = context
        self._bases: list[RegionGeometry] = []
        self._scenes: LruCache[Key, MapScene] = LruCache(_KEPT)
        self._pairs: LruCache[tuple[Key, Key], MapComparison] = LruCache(_KEPT_PAIRS)
        self._failed: set[Hashable] = set()
        self._extra: int | None = None
        self._cells = True
        self.overlay: Overlay | None = None
        """Context layers, outlines and labels of the state's regions, as far as they are prepared."""
        self._reported: set[str] = set()
        model = context.model
        for signal in (
            model.data_loaded,
            model.problem_counted,
            model.selection_changed,
            model.solutions_changed,
            model.map_style_changed,
        ):
            signal.connect(self._on_state_changed)
        context.background.job_ended.connect(self._prepare_next)
        self._on_state_changed()

    @property
    def base(self) -> RegionGeometry | None:
        """The initial regions of the state, once they are prepared."""
        base = self._base_of(self._regions(None))
        problem = self._context.state.problem
        return (
            base if base is None or problem is None else base.with_records(problem.counts.region_totals)
        )

    @property
    def shown(self) -> MapScene | None:
        """The selected solution, once it is prepared."""
        return self._find_prepared(self._context.state.selected)

    @property
    def compared(self) -> MapScene | None:
        """The solution that the selected one is compared with, once it is prepared."""
        return self._find_prepared(self._context.state.compared)

    def read_context_again(self, path: str) -> None:
        """Read a layer anew: the file may be there by now, or be another one."""
        if self.overlay is not None and path in self.overlay.context:
            others = {name: drawn for name, drawn in self.overlay.context.items() if name != path}
            self.overlay = replace(self.overlay, context=others)
            self._reported.discard(path)
            self._bases = [base for base in self._bases if base.coast != path]
            self._failed = {what for what in self._failed if not isinstance(what, MapStyle)}
            self._prepare_next()

    @property
    def pair(self) -> MapComparison | None:
        """The two with what differs between them, once that is known."""
        scene = self.shown
        compared = self.compared
        if scene is None or compared is None:
            return None
        pair = self._pairs.get((key_of(scene), key_of(compared)))
        return pair if pair is not None and pair.is_of(scene, compared) else None

    @property
    def extra(self) -> MapScene | None:
        """The solution that a page shows beside the selected one, once it is prepared."""
        return self._find_prepared(self._extra_entry)

    def prepare_extra(self, number: int | None) -> None:
        """Prepare one more solution, which the map itself does not show."""
        if number != self._extra:
            self._extra = number
            self._on_state_changed()

    def want_cells(self, enabled: bool) -> None:
        """Show or hide the cells of the sites; cells around obstacles take long and are made only when shown."""
        self._cells = enabled
        self._prepare_next()

    @property
    def _extra_entry(self) -> ResultRow | None:
        return None if self._extra is None else self._context.state.entry(self._extra)

    def _find_prepared(self, entry: ResultRow | None) -> MapScene | None:
        scene = None if entry is None else self._scenes.get(key_of(entry))
        if scene is None or not self._matches_coast(scene):
            return None
        return scene if scene.named_after == self._named_after(scene) else None

    def _matches_coast(self, scene: MapScene) -> bool:
        """Say if the scene was cut at the coastline that is chosen now."""
        base = scene.geometry.base
        return base.coast == self._coast(base.regions)

    def _named_after(self, entry: ResultRow | MapScene) -> str | None:
        """Return the column that names the regions, unless the region file of a solution does not have it."""
        column = self._context.state.map_style.names
        problem = entry.problem
        return column if problem is None or column in problem.regions.columns else None

    def _regions(self, entry: ResultRow | None) -> Regions | None:
        if entry is not None and entry.problem is not None:
            return entry.problem.regions
        return self._context.state.regions

    def _base_of(self, regions: Regions | None) -> RegionGeometry | None:
        coast = self._coast(regions)
        return next(
            (base for base in self._bases if base.regions is regions and base.coast == coast), None
        )

    def _coast(self, regions: Regions | None) -> str | None:
        """Return the file at whose areas the cells of points end."""
        return (
            None
            if regions is None or regions.polygons is not None
            else self._context.state.map_style.coast
        )

    @Slot()
    def _on_state_changed(self) -> None:
        self.changed.emit()
        self._prepare_next()

    @Slot()
    def _prepare_next(self) -> None:
        """Start preparing the first thing that is wanted and missing."""
        worker = self._context.background
        state = self._context.state
        if worker.busy:
            return
        for entry in (state.selected, state.compared, self._extra_entry):
            regions = self._regions(entry)
            base = self._base_of(regions)
            coast = self._coast(regions)
            if regions is not None and base is None:
                job = partial(prepare_region_geometry, regions, coast=coast)
                self._start((id(regions), coast), "Preparing the map", job, self._store_base)
                return
            if entry is not None and base is not None and self._prepare_scene(entry, base):
                return
        if not self._prepare_overlay() and not self._prepare_pair():
            self._prepare_cells()

    def _start(
        self, what: Hashable, title: str, job: Callable[[Progress], T], keep: Callable[[T], None]
    ) -> bool:
        """Start a job whose result is kept; False if it failed once: it would fail again, without end."""
        if what in self._failed:
            return False

        def on_result(result: T) -> None:
            keep(result)
            self.changed.emit()
            self._prepare_next()

        self._context.background.start(title, job, on_result, on_abort=partial(self._failed.add, what))
        return True

    def _prepare_scene(self, entry: ResultRow, base: RegionGeometry) -> bool:
        # A project whose region file changed may have owners for other regions than there are now.
        if entry.solution.owner.size != len(base.regions) or self._find_prepared(entry) is not None:
            return False
        scene = self._scenes.get(key_of(entry))
        column = self._named_after(entry)
        has_coast = scene is not None and self._matches_coast(scene)

        def job(progress: Progress) -> MapScene:
            if scene is not None and has_coast:
                return scene.with_names(column)
            return prepare_scene(entry.number, entry.solution, entry.problem, base, progress, column)

        return self._start(key_of(entry), "Preparing the map", job, self._store_scene)

    def _prepare_cells(self) -> None:
        for scene in (self.shown, self.compared) if self._cells else ():
            if scene is not None and lacks_cells(scene.geometry):
                what = ("cells", *key_of(scene))
                job = partial(_with_cells, scene)
                if self._start(what, "Drawing the cells", job, self._store_scene):
                    return

    def _prepare_pair(self) -> bool:
        scene = self.shown
        compared = self.compared
        if scene is None or compared is None or self.pair is not None:
            return False
        what = (key_of(scene), key_of(compared))
        return self._start(
            what, "Comparing", partial(prepare_pair, scene, compared), partial(self._pairs.put, what)
        )

    def _prepare_overlay(self) -> bool:
        """Start preparing what the style needs and is missing; return False if nothing is."""
        scene = self.shown
        style = self._context.state.map_style
        base = scene.geometry.base if scene is not None else self.base
        if base is None:
            return False
        geometry, names = (None, ()) if scene is None else (scene.geometry, scene.names)
        if is_complete(self.overlay, base, style, label_key(style, geometry, names)):
            return False
        job = partial(prepare_overlay, base, geometry, names, style, self.overlay)
        return self._start(style, "Preparing layers", job, self._store_overlay)

    def _store_overlay(self, overlay: Overlay) -> None:
        self.overlay = overlay
        for path, drawn in overlay.context.items():
            if drawn.problem and path not in self._reported:
                self._reported.add(path)
                self._context.show_message(f"The layer is not drawn. {drawn.problem}")

    def _store_base(self, base: RegionGeometry) -> None:
        self._bases = [base, *self._bases][:_KEPT_BASES]

    def _store_scene(self, scene: MapScene) -> None:
        self._scenes.put(key_of(scene), scene)


def _with_cells(scene: MapScene, progress: Progress) -> MapScene:
    """Return the scene with Voronoi cells on all its maps."""
    geometry = with_cells(scene.geometry, progress)
    before = scene.before
    if before is not None and lacks_cells(before):
        before = with_cells(before, progress)
    tiers = tuple(
        replace(map_, geometry=replace(map_.geometry, cell_rings=geometry.cell_rings))
        for map_ in scene.tier_maps
    )
    return replace(scene, geometry=geometry, before=before, tier_maps=tiers)


def key_of(entry: ResultRow | MapScene) -> Key:
    """Return the key of a scene in the cache.

    A solution is prepared anew once its problem is counted; another project may use its number for another one.

    What is kept holds on to both objects, so their identities are not given to others.
    """
    return entry.number, id(entry.problem), id(entry.solution.owner)


def map_cache_of(context: UiContext) -> MapCache:
    """Return the one map cache of a window; it is made when first asked for."""
    cache = context.model.findChild(MapCache)
    return cache if cache is not None else MapCache(context)
