"""What the map costs with 17,613 regions: processor milliseconds per frame and per click."""

from __future__ import annotations

import os
import statistics
import time
from functools import partial
from pathlib import Path

import numpy as np
import shapely
from scipy.spatial import cKDTree

SIZE = (1200, 900)
REPEATS = 9
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "regions.geojson"


def _solution(points, sites):
    from vbas_desktop.model.solution import Solution

    owner = cKDTree(sites).query(points)[1].astype(np.int32)
    return Solution(1, {}, {}, len(sites), len(sites), sites, owner, {}, 0.0, 0, 0)


def _milliseconds(action, repeats=REPEATS) -> float:
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        taken.append(1000 * (time.process_time() - start))
    return statistics.median(taken)


def _tiled(regions, times: int):
    """The polygons of a region file side by side, times × times."""
    from dataclasses import replace

    width, height = np.ptp(regions.points, axis=0) * 1.2
    offsets = [np.array([x * width, y * height]) for x in range(times) for y in range(times)]
    polygons = [shapely.transform(regions.polygons, lambda xy, by=offset: xy + by) for offset in offsets]
    points = np.concatenate([regions.points + offset for offset in offsets])
    ids = tuple(str(number) for number in range(len(points)))
    return replace(regions, ids=ids, points=points, polygons=np.concatenate(polygons), names=None)


def map_costs(path: Path, sites: int, times: int = 1) -> dict[str, float]:
    """Prepare and draw the region file's map with so many sites, and measure each step."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from vbas_desktop.io.regions.reader import load_regions
    from vbas_desktop.ui.core.theme import LIGHT
    from vbas_desktop.ui.map.canvas import MapCanvas
    from vbas_desktop.ui.presentation.region_geometry import (
        prepare_region_geometry,
        prepare_solution_geometry,
    )
    from vbas_desktop.ui.presentation.region_measures import RegionMeasure

    app = QApplication.instance() or QApplication([])
    regions = load_regions(path)
    if times > 1:
        regions = _tiled(regions, times)
    points = regions.points
    chance = np.random.default_rng(0)
    one, other = (
        _solution(points, points[chance.choice(len(points), sites, replace=False)]) for _ in range(2)
    )
    costs = {"prepare regions (thread)": _milliseconds(lambda: prepare_region_geometry(regions), 3)}
    base = prepare_region_geometry(regions)
    costs["prepare solution (thread)"] = _milliseconds(lambda: prepare_solution_geometry(base, one), 3)
    maps = [prepare_solution_geometry(base, each) for each in (one, other)]
    canvas = MapCanvas(LIGHT)
    canvas.resize(*SIZE)
    canvas.show()
    canvas.show_map(maps[0])
    app.processEvents()

    def frame() -> None:
        canvas.viewport().repaint()

    def pan() -> None:
        canvas.box.translateBy(x=1000.0, y=0.0)
        frame()

    def pan_sharply() -> None:
        canvas.box.translateBy(x=-1000.0, y=0.0)
        canvas.item.moving = False
        frame()

    def zoom_sharply() -> None:
        canvas.zoom(1.02)
        canvas.item.moving = False
        frame()

    def click() -> None:
        maps.reverse()
        canvas.show_map(maps[0])
        frame()

    def recolour() -> None:
        values = chance.integers(0, 1000, len(maps[0].shapes))
        canvas.show_map(canvas.geometry_shown, RegionMeasure("records", "Records", values))
        frame()

    costs["pan, moving"] = _milliseconds(pan)
    costs["pan, at rest"] = _milliseconds(pan_sharply)
    costs["zoom, at rest"] = _milliseconds(zoom_sharply)
    canvas.fit()
    costs["click on another solution"] = _milliseconds(click)
    costs["colour by a figure"] = _milliseconds(recolour)
    low_x, low_y, high_x, high_y = base.bounds
    places = chance.uniform((low_x, low_y), (high_x, high_y), (200, 2)).tolist()
    costs["hover, 200 places"] = _milliseconds(lambda: [maps[0].aggregated_at(x, y) for x, y in places])
    canvas.close()
    return costs


def test_the_map_of_the_western_regions(bench_data, race, bench_table):
    regions = bench_data("western", "--records", "20000").regions
    calls = {
        "1,200 aggregated regions": partial(map_costs, regions, 1_200),
        "17,613 aggregated regions": partial(map_costs, regions, 17_613),
        "17,984 polygons, 1.2 M vertices": partial(map_costs, SAMPLE, 1_200, 8),
    }
    measured = race(
        "Map of the western regions, all steps", calls, reference="1,200 aggregated regions", repeats=1
    )
    results = {name: each.result for name, each in measured.items()}
    reach = {
        "pan, moving": "50",
        "pan, at rest": "50",
        "zoom, at rest": "50",
        "click on another solution": "300",
    }
    steps = list(next(iter(results.values())))
    rows = [
        [step, *(f"{results[name][step]:.1f}" for name in results), reach.get(step, "")]
        for step in steps
    ]
    bench_table("Map of the western regions, CPU ms", ["", *results, "to reach"], rows)


def overlay_costs(
    path: Path, layers: list[Path], labels: str, outlines: tuple[str, ...]
) -> dict[str, float]:
    """Draw the map of a region file with layers from files, outlines and labels, and measure each step."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QFontMetricsF, QPainter, QPixmap
    from PySide6.QtWidgets import QApplication

    from vbas_desktop.io.regions.reader import load_regions
    from vbas_desktop.model.progress import NO_PROGRESS
    from vbas_desktop.ui.core.theme import LIGHT
    from vbas_desktop.ui.map.canvas import MapCanvas
    from vbas_desktop.ui.map.labels import placed_labels
    from vbas_desktop.ui.presentation.overlay import prepare_overlay
    from vbas_desktop.ui.presentation.region_geometry import (
        prepare_region_geometry,
        prepare_solution_geometry,
    )
    from vbas_desktop.ui.state.map_style import MapStyle

    app = QApplication.instance() or QApplication([])
    regions = load_regions(path)
    base = prepare_region_geometry(regions)
    chance = np.random.default_rng(0)
    sites = regions.points[chance.choice(len(regions), len(regions) // 12, replace=False)]
    geometry = prepare_solution_geometry(base, _solution(regions.points, sites))
    look = MapStyle(labels=labels, outlines=outlines)
    for layer in layers:
        look = look.with_context(str(layer))
    costs = {
        "prepare (thread)": _milliseconds(
            lambda: prepare_overlay(base, geometry, (), look, None, NO_PROGRESS), 1
        )
    }
    overlay = prepare_overlay(base, geometry, (), look, None, NO_PROGRESS)
    costs["vertices"] = float(
        sum(len(each.lines.xy) for each in overlay.context.values() if each.lines is not None)
    )
    canvas = MapCanvas(LIGHT)
    canvas.resize(*SIZE)
    canvas.show()
    canvas.show_map(geometry)
    app.processEvents()

    def sharply() -> None:
        canvas.box.translateBy(x=1.0, y=0.0)
        canvas.item.moving = False
        canvas.viewport().repaint()

    costs["repaint without"] = _milliseconds(sharply)
    canvas.show_overlay(overlay, look)
    costs["repaint"] = _milliseconds(sharply)
    pixmap = QPixmap(*SIZE)
    picture, metrics = canvas.item.picture, QFontMetricsF(canvas.font())
    window = QRectF(0, 0, *SIZE)
    for times in (1, 4, 4):
        canvas.zoom(times)
        transform = canvas.item.sceneTransform() * canvas.viewportTransform()
        painter = QPainter(pixmap)
        painter.setTransform(transform)
        name = (
            f"labels, closer {times}×"
            if f"labels, closer {times}×" not in costs
            else "labels, closer 16×"
        )
        taken = picture._site_boxes(transform, window)
        costs[name] = _milliseconds(
            lambda on=painter, boxes=taken: picture.overlay.paint_labels(on, window, boxes)
        )
        drawn = placed_labels(overlay.labels, transform, window, metrics, taken)[0]
        costs[f"{name}, drawn"] = float(len(drawn))
        painter.end()
        costs[f"repaint, {name}"] = _milliseconds(sharply)
    canvas.close()
    return costs


def test_layers_outlines_and_labels(bench_data, race, bench_table):
    """With the obstacle files of the shared data as layers if they are there, else with the sample's own polygons."""
    shared = Path(os.environ.get("VBAS_SHARED_DATA", ""))
    west = shared / "obstacles_west.geojson"
    layers = [west] if west.is_file() else [SAMPLE]
    western = bench_data("western", "--records", "20000").regions
    calls = {
        "western regions": partial(overlay_costs, western, layers, "@codes", ()),
        "polygons of the sample": partial(overlay_costs, SAMPLE, [SAMPLE], "name", ("name",)),
    }
    measured = race(
        "Map with layers and labels, all steps", calls, reference="polygons of the sample", repeats=1
    )
    results = {name: each.result for name, each in measured.items()}
    reach = {
        "repaint": "50",
        "labels, closer 1×": "20",
        "labels, closer 4×": "20",
        "labels, closer 16×": "20",
    }
    steps = list(next(iter(results.values())))
    rows = [
        [step, *(f"{results[name][step]:.1f}" for name in results), reach.get(step, "")]
        for step in steps
    ]
    bench_table("Map with layers and labels, CPU ms", ["", *results, "to reach"], rows)
