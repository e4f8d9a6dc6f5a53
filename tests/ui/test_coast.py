"""Cells of points end at the areas of a layer that is the coast."""

import json

import numpy as np
import pytest
import shapely
from map_samples import squares

from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.map.map_view import MapView
from vbas_desktop.ui.presentation.region_geometry import area_ashore, prepare_region_geometry
from vbas_desktop.ui.state.map_style import ContextLayer, MapStyle


def write(path, shape):
    path.write_text(shapely.to_geojson(shape))
    return str(path)


def test_the_study_area_ends_at_the_coast_and_points_at_sea_keep_a_disc(tmp_path):
    regions = squares(polygons=False)
    land = shapely.box(-5, -5, 3.2, 9)
    area = area_ashore(regions, write(tmp_path / "coast.geojson", land))
    assert shapely.intersects_xy(area, regions.points).all()
    plain = prepare_region_geometry(regions).area
    ashore = shapely.intersection(plain, land)
    discs = shapely.difference(area, ashore)
    assert shapely.difference(ashore, area).area < 1e-3 * ashore.area
    assert len(shapely.get_parts(discs)) == 4
    assert 0 < discs.area < 0.1
    base = prepare_region_geometry(regions, coast=str(tmp_path / "coast.geojson"))
    assert base.area.equals(area)
    assert base.coast == str(tmp_path / "coast.geojson")


@pytest.mark.parametrize(
    "shape", [shapely.LineString([(0, 0), (9, 9)]), shapely.box(900, 900, 901, 901), None]
)
def test_a_file_without_land_there_changes_nothing(tmp_path, shape):
    regions = squares(polygons=False)
    path = tmp_path / "coast.geojson"
    if shape is not None:
        write(path, shape)
    assert area_ashore(regions, str(path)).equals(prepare_region_geometry(regions).area)


def test_the_coast_is_kept_with_the_look_and_only_if_it_is_shown(tmp_path):
    layers = (
        ContextLayer(str(tmp_path / "a.geojson"), land=True),
        ContextLayer(str(tmp_path / "b.geojson")),
    )
    look = MapStyle(context=layers)
    again = MapStyle.from_json(json.loads(json.dumps(look.as_json(tmp_path))), tmp_path)
    assert again == look
    assert look.coast == str(tmp_path / "a.geojson")
    assert look.changed_context(0, visible=False).coast is None
    assert MapStyle.from_json({"context": [{"path": "a.geojson"}]}, tmp_path).coast is None


def test_the_menu_makes_a_layer_the_coast_of_the_map(make_window, tmp_path, qtbot):
    lines = [f"r{i},{i % 6},{i // 6}" for i in range(36)]
    (tmp_path / "regions.csv").write_text("\n".join(["id,x,y", *lines]) + "\n")
    rows = [f"{age},r{i}" for i in range(36) for age in "12" for _ in range(6)]
    (tmp_path / "records.csv").write_text("\n".join(["age,region", *rows]) + "\n")
    coast = write(tmp_path / "coast.geojson", shapely.box(-0.3, -0.3, 5.2, 5.2))
    window = make_window()
    window.data_commands.load(tmp_path / "records.csv", tmp_path / "regions.csv")
    idle = lambda: not window.worker.busy and not window.background.busy  # noqa: E731
    qtbot.waitUntil(lambda: window.state.has_data and idle(), timeout=60_000)
    window.run_commands.run()
    map_cache, view = map_cache_of(window.context), window.findChild(MapView)
    qtbot.waitUntil(lambda: map_cache.shown is not None and idle(), timeout=60_000)
    wide = shapely.union_all(map_cache.shown.geometry.shapes).bounds
    assert wide[2] > 5.3
    window.state.change_map_style(window.state.map_style.with_context(coast))
    qtbot.waitUntil(
        lambda: map_cache.overlay is not None and coast in map_cache.overlay.context and idle()
    )
    view.style_menu.refresh()
    (menu,) = (each.menu() for each in view.style_menu.context.actions() if each.menu() is not None)
    action = next(each for each in menu.actions() if each.text() == "Regions &end at its areas")
    assert action.isEnabled()
    assert not action.isChecked()
    action.trigger()
    assert window.state.map_style.coast == coast
    qtbot.waitUntil(
        lambda: map_cache.shown is not None and map_cache.shown.geometry.base.coast == coast and idle()
    )
    assert np.allclose(
        shapely.union_all(map_cache.shown.geometry.shapes).bounds, (-0.3, -0.3, 5.2, 5.2), atol=0.01
    )
    window.state.change_map_style(window.state.map_style.changed_context(0, land=False))
    qtbot.waitUntil(lambda: map_cache.shown is not None and idle())
    assert shapely.union_all(map_cache.shown.geometry.shapes).bounds == wide
