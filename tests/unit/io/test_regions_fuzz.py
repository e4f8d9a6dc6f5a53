"""Region files of every form: text means what a plain reader says, and nothing ends in a traceback."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.findings import InputError

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
texts = st.text(
    st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1, max_size=8
).filter(lambda text: text.strip() != "")
numbers = st.one_of(
    st.integers(-(10**7), 10**7), st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)
)


@st.composite
def region_files(draw):
    ids = draw(st.lists(texts, min_size=1, max_size=8, unique=True))
    rows = [(id, repr(draw(numbers)), repr(draw(numbers)), draw(texts)) for id in ids]
    order = draw(st.permutations(range(4)))
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=ending)
    for row in [("id", "x", "y", "name"), *rows]:
        writer.writerow([row[place] for place in order])
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]))
    return rows, text.getvalue().encode(encoding), encoding, delimiter


@quick
@given(region_files())
def test_every_dialect_gives_the_same_regions(tmp_path, file):
    rows, data, encoding, delimiter = file
    path = tmp_path / "regions.csv"
    path.write_bytes(data)
    told = RegionReading(encoding=encoding, delimiter=delimiter)
    regions = load_regions(path, told)
    assert regions.ids == tuple(row[0] for row in rows)
    assert regions.names == tuple(row[3] for row in rows)
    assert regions.points.tolist() == [[float(row[1]), float(row[2])] for row in rows]


@quick
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"id,x,y\n", b"id;lon;lat\r\n", b"\xef\xbb\xbfid\tx\ty\n"]),
)
def test_any_bytes_are_regions_or_told_to_be_none(tmp_path, data, head):
    path = tmp_path / "regions.csv"
    path.write_bytes(head + data)
    _load_or_refuse(path)


fields = st.one_of(
    texts, numbers.map(repr), st.sampled_from(["", "inf", "nan", "91", "-181", "1,5", '"', "NA", "a"])
)


@quick
@given(
    st.lists(st.lists(fields, min_size=2, max_size=4), max_size=8),
    st.sampled_from(["auto", "planar", "degrees", "geographic"]),
    st.sampled_from(
        ["id,x,y", "id,lon,lat", "DAUID,latitude,longitude", "id,id,x,y", "x,y", "id,x,y,lon,lat"]
    ),
)
def test_any_rows_are_regions_or_told_to_be_none(tmp_path, rows, coordinates, header):
    path = tmp_path / "regions.csv"
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]), encoding="utf-8")
    _load_or_refuse(path, coordinates)


coordinate = st.one_of(st.floats(-200, 200), st.sampled_from([0.0, 1.0, 1e7]))
rings = st.lists(st.tuples(coordinate, coordinate), min_size=0, max_size=6).map(
    lambda ring: [*ring, *ring[:1]]
)
geometries = st.one_of(
    st.none(),
    st.builds(lambda ring: {"type": "Polygon", "coordinates": [ring]}, rings),
    st.builds(lambda a, b: {"type": "MultiPolygon", "coordinates": [[a], [b]]}, rings, rings),
    st.builds(lambda x, y: {"type": "Point", "coordinates": [x, y]}, coordinate, coordinate),
    st.builds(lambda ring: {"type": "LineString", "coordinates": ring}, rings),
    st.just({"type": "Polygon", "coordinates": []}),
    st.just({"type": "Potato"}),
)
ids = st.one_of(
    st.none(), st.integers(0, 5), st.floats(0, 5), st.sampled_from(["a", "b", " ", "01", "2011-01-01"])
)


@quick
@given(
    st.lists(st.tuples(ids, geometries), max_size=5),
    st.sampled_from(["auto", "planar", "degrees", "geographic"]),
)
def test_any_geojson_is_regions_or_told_to_be_none(tmp_path, features, coordinates):
    path = tmp_path / "regions.geojson"
    collection = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": {"id": id}, "geometry": geometry}
            for id, geometry in features
        ],
    }
    path.write_text(json.dumps(collection))
    _load_or_refuse(path, coordinates)


def _load_or_refuse(path, coordinates="auto"):
    findings = ()
    try:
        regions = load_regions(path, RegionReading(coordinates=coordinates))
    except InputError as error:
        findings = error.findings
    if findings:
        assert all(finding.message and Path(finding.file).name == path.name for finding in findings)
        return
    assert len(regions) >= 1
    assert len(set(regions.ids)) == len(regions)
    assert regions.points.shape == (len(regions), 2)
    assert np.isfinite(regions.points).all()
