"""Cells of the sites as released shapes: the map tells the region of every place."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.cli.main import main
from vbas_desktop.releases import documents, preparation

COLUMNS = ["--region-column", "tract", "--quasi-identifiers", "sex", "-k", "3", "--quiet", "--no-pdf"]


@pytest.fixture
def files(tmp_path):
    """Sixty points in the plane, and records with one quasi-identifier."""
    rng = np.random.default_rng(11)
    points = rng.random((60, 2)) * (300, 200)
    lines = [f"R{i},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(points)]
    (tmp_path / "regions.csv").write_text("id,x,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    rows = [
        f"R{i},{sex}"
        for i, sex in zip(rng.integers(0, 60, 900), rng.choice(list("fm"), 900), strict=True)
    ]
    (tmp_path / "records.csv").write_text("tract,sex\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def run(folder, *more, regions="regions.csv"):
    data = [str(folder / "records.csv"), str(folder / regions)]
    number = [] if "--construction" in more else ["--construction", "voronoi"]
    sites = ["--site-number", "fixed", "--sites", "9", "--range-reach", "0"]
    return main(["run", *data, *COLUMNS, *number, *sites, "--out", str(folder / "out"), *more])


def sites_of(problem, solution):
    return solution.sites[solution.owners_used]


def released(folder):
    """The shapes by code."""
    document = json.loads(
        (folder / "out" / "release" / "aggregated_regions.geojson").read_text(encoding="utf-8")
    )
    features = document["features"]
    return {
        feature["properties"]["aggregated_region"]: shapely.from_geojson(json.dumps(feature["geometry"]))
        for feature in features
    }


def codes_of(folder):
    lines = (folder / "out" / "release" / "crosswalk.csv").read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split(",")[:2] for line in lines)


def remember_plans(monkeypatch):
    """Keep the plans of releases, with the sites that no paper of a release states."""
    plans = []
    usual = preparation.use_site_cells

    def remembering(plan, options):
        plans.append(usual(plan, options))
        return plans[-1]

    monkeypatch.setattr(preparation, "use_site_cells", remembering)
    return plans


@pytest.mark.parametrize("location", ["density", "random"])
def test_a_thousand_places_lie_in_the_region_of_their_nearest_site(files, location, monkeypatch):
    plans = remember_plans(monkeypatch)
    assert run(files, "--shapes", "cells", "--site-location", location) == 0
    (plan,) = plans
    shapes = released(files)
    area = shapely.union_all(list(shapes.values()))
    rng = np.random.default_rng(3)
    places = rng.random((4000, 2)) * (300, 200)
    places = places[shapely.intersects_xy(area, places[:, 0], places[:, 1])][:1000]
    assert len(places) == 1000
    for place in places:
        nearest = int(((plan.cell_sites - place) ** 2).sum(axis=1).argmin())
        assert shapes[plan.codes[nearest]].distance(shapely.Point(place)) < 1e-6
    codes = codes_of(files)
    for region, point in zip(plan.regions.ids, plan.regions.points, strict=True):
        assert shapes[codes[region]].distance(shapely.Point(point)) < 1e-6
    union = shapely.area(area)
    assert sum(shape.area for shape in shapes.values()) == pytest.approx(union)


def test_the_union_of_the_cells_of_the_points_is_another_map(files, monkeypatch):
    assert run(files, "--shapes", "cells", "--site-location", "density") == 0
    cells = released(files)
    assert run(files, "--site-location", "density") == 0
    union = released(files)
    assert cells.keys() == union.keys()
    assert any(
        shapely.area(shapely.symmetric_difference(cells[code], union[code])) > 1 for code in cells
    )


def test_cells_of_polygons_in_degrees(files, monkeypatch):
    """Squares around Charlottetown; the cells cut through them, and lie in longitude and latitude in the file."""
    features = []
    for number in range(64):
        low_x, low_y = -63.5 + 0.05 * (number % 8), 46.1 + 0.03 * (number // 8)
        box = shapely.box(low_x, low_y, low_x + 0.05, low_y + 0.03)
        properties = {"id": f"R{number}"}
        features.append(
            {
                "type": "Feature",
                "properties": properties,
                "geometry": json.loads(shapely.to_geojson(box)),
            }
        )
    text = json.dumps({"type": "FeatureCollection", "features": features})
    (files / "squares.geojson").write_text(text, encoding="utf-8")
    plans = remember_plans(monkeypatch)
    more = ("--shapes", "cells", "--site-location", "random", "--geometry", "geojson,gpkg")
    assert run(files, *more, regions="squares.geojson") == 0
    shapes = released(files)
    assert shapely.total_bounds(list(shapes.values())) == pytest.approx(
        [-63.5, 46.1, -63.1, 46.34], abs=1e-5
    )
    (plan,) = plans
    assert plan.regions.system.unit == "m"
    assert len(shapes) == len(plan.codes)


def test_both_reports_say_that_the_cells_reveal_the_sites(files):
    assert run(files, "--shapes", "cells", "--site-location", "density") == 0
    for name in ("release", "internal"):
        page = (files / "out" / name / "report.html").read_text(encoding="utf-8")
        assert "the cells reveal where the sites are" in page
    internal = (files / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "placed without regard to the records" in internal


@pytest.mark.parametrize(
    "location", [n for n, kind in list_approaches("site_location").items() if kind.uses_records]
)
def test_sites_that_were_placed_by_the_records_must_be_confirmed(files, location, capsys):
    assert run(files, "--shapes", "cells", "--site-location", location) == 1
    said = capsys.readouterr().err
    assert "The cells reveal the exact sites, which were placed by the records" in said
    assert "--confirm-sites" in said
    assert not (files / "out").exists()
    assert run(files, "--shapes", "cells", "--site-location", location, "--confirm-sites") == 0
    document = json.loads((files / "out" / "run.json").read_text(encoding="utf-8"))
    assert (document["release"]["shapes"], document["release"]["confirm_sites"]) == ("cells", True)
    internal = (files / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "which were placed by the records" in internal


def test_only_density_and_random_place_sites_without_the_records():
    free = {name for name, kind in list_approaches("site_location").items() if not kind.uses_records}
    assert free == {"density", "random"}


def test_an_export_must_confirm_again(files, capsys):
    assert run(files, "--shapes", "cells", "--confirm-sites") == 0
    again = ["export", str(files / "out"), "--solution", "1", "--quiet", "--out", str(files / "again")]
    assert main(again) == 1
    assert "--confirm-sites" in capsys.readouterr().err
    assert main([*again, "--confirm-sites"]) == 0
    assert main([*again[:-1], str(files / "third"), "--shapes", "union"]) == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--construction", "growth"), "only “voronoi” gives every place to its nearest site"),
        (
            ("--refinement", "boundaries"),
            "the refinement “boundaries” gave initial regions to other sites",
        ),
        (("--tiers", "auto"), "the release is in tiers"),
        (("--min-records", "150"), "limits gave some to another site"),
    ],
)
def test_other_regions_than_those_of_a_plain_diagram_are_refused(files, more, reason, capsys):
    assert run(files, "--shapes", "cells", "--site-location", "density", *more) == 1
    assert reason in capsys.readouterr().err
    assert not (files / "out").exists()


def test_the_verification_finds_a_cell_in_the_wrong_place(files, monkeypatch, capsys):
    usual = documents.build_shapes

    def exchanged(plan):
        shapes = usual(plan).copy()
        half = shapely.box(*shapes[0].bounds[:2], shapes[0].centroid.x, shapes[0].bounds[3])
        shapes[0], rest = shapely.difference(shapes[0], half), shapely.intersection(shapes[0], half)
        shapes[1] = shapely.multipolygons([*shapely.get_parts(shapes[1]), *shapely.get_parts(rest)])
        return shapes

    monkeypatch.setattr(documents, "build_shapes", exchanged)
    assert run(files, "--shapes", "cells", "--site-location", "density") == 3
    assert "1,000 random places lie in the cell of their nearest site: no" in capsys.readouterr().err
    assert not (files / "out").exists()
