"""Region files open nothing but themselves: no other format, no other file, no socket."""

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from vbas_desktop.io import input_checks as access
from vbas_desktop.io import text_files
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.gdal import DRIVERS
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import InputError

FEATURES = [
    {
        "type": "Feature",
        "properties": {"id": "1"},
        "geometry": {"type": "Point", "coordinates": [1.0, 2.0]},
    }
]

WATCHED = """
import sys
opened = []
def watch(event, arguments):
    if event in ("open", "os.open", "socket.connect", "socket.getaddrinfo", "import"):
        opened.append((event, str(arguments[0])))
sys.addaudithook(watch)
from vbas_desktop.cli.main import main
code = main(["run", sys.argv[1], sys.argv[2], "--region-column", "region", "--quasi-identifiers", "age", "--quiet"])
print(code)
print(any("canary" in place for _, place in opened), any(event.startswith("socket") for event, _ in opened))
print(any(event == "import" and place == "pyogrio" for event, place in opened))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "records.csv").write_text("region,age\n1,30\n1,31\n")
    canary = {"type": "FeatureCollection", "features": FEATURES}
    (tmp_path / "canary.geojson").write_text(json.dumps(canary))
    return tmp_path


def vrt(folder):
    place = folder / "canary.geojson"
    layer = f'<OGRVRTLayer name="canary"><SrcDataSource>{place}</SrcDataSource></OGRVRTLayer>'
    return f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>".encode()


def zipped(folder):
    with zipfile.ZipFile(folder / "made", "w") as archive:
        archive.write(folder / "canary.geojson", "regions.geojson")
    return (folder / "made").read_bytes()


def streamed(folder):
    line = f"gdal vector pipeline ! read {folder}/canary.geojson"
    return json.dumps({"type": "gdal_streamed_alg", "command_line": line}).encode()


DISGUISED = {
    "vrt": (vrt, "regions.geojson", False),
    "wfs": (lambda _: b"WFS:http://127.0.0.1:9/wfs", "regions.geojson", False),
    "wfs as xml": (
        lambda _: b"<OGRWFSDataSource><URL>http://127.0.0.1:9/</URL></OGRWFSDataSource>",
        "r.json",
        False,
    ),
    "zip": (zipped, "regions.zip", False),
    "zip named geojson": (zipped, "regions.geojson", False),
    "vrt named shp": (vrt, "regions.shp", False),
    "vrt named gpkg": (vrt, "regions.gpkg", False),
    "commands in json": (streamed, "regions.geojson", True),
}


@pytest.mark.parametrize("name", DISGUISED)
def test_a_disguised_file_opens_no_other_file_and_no_socket(folder, name):
    content, called, reaches_reader = DISGUISED[name]
    place = folder / called
    place.write_bytes(content(folder))
    for part in (".dbf", ".shx") if place.suffix == ".shp" else ():
        place.with_suffix(part).write_bytes(b"")
    command = [sys.executable, "-c", WATCHED, str(folder / "records.csv"), str(place)]
    traced = ["strace", "-f", "-qq", "-e", "trace=openat,connect", "-o", str(folder / "trace"), *command]
    done = subprocess.run(
        traced if _has_strace() else command, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "False", "False", str(reaches_reader)]
    assert "unforeseen" not in done.stderr
    if _has_strace():
        trace = (folder / "trace").read_text(errors="replace")
        assert "records.csv" in trace or called in trace
        assert "canary" not in trace
        assert "sin_port" not in trace


def _has_strace():
    return os.path.exists("/usr/bin/strace")


LINKS = [
    '{"type": "link", "properties": {"href": "URL"}}',
    '{"type": "URL", "properties": {"url": "URL"}}',
    '{"type": "l\\u0069nk", "properties": {"href": "URL"}}',
]


@pytest.mark.parametrize("crs", LINKS)
@pytest.mark.parametrize("key", ["crs", "\\u0063rs"])
def test_a_coordinate_system_is_not_fetched(folder, crs, key):
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        listener = threading.Thread(target=_note_first, args=(server, asked))
        listener.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        place = folder / "regions.geojson"
        features = json.dumps(FEATURES)
        text = f'{{"type": "FeatureCollection", "{key}": {crs.replace("URL", address, 2)}, "features": {features}}}'
        place.write_text(text.replace(f'"type": "{address}"', '"type": "URL"'))
        with pytest.raises(InputError, match="address on the network, which is not opened"):
            load_regions(place)
        with socket.create_connection(server.getsockname()):
            listener.join()
    assert asked == [b""]


def _note_first(server, asked):
    connection, _ = server.accept()
    with connection:
        connection.settimeout(0.5)
        try:
            asked.append(connection.recv(100))
        except TimeoutError:
            asked.append(b"")


def test_a_link_among_the_attributes_does_no_harm(folder):
    place = folder / "regions.geojson"
    attributes = {"id": "1", "url": "http://example.org", "link": "l\u00efnk"}
    features = [{**FEATURES[0], "properties": attributes}]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::4326"}}
    place.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}))
    assert load_regions(place).ids == ("1",)


@pytest.mark.parametrize(
    "place", ["http://127.0.0.1:9/r.geojson", "/vsicurl/http://127.0.0.1:9/r.geojson", "s3://a/b.shp"]
)
def test_addresses_are_refused(place):
    with pytest.raises(InputError, match="nothing is fetched from a network"):
        load_regions(place)
    with pytest.raises(InputError, match="nothing is fetched from a network"):
        load_records(place)


def test_a_folder_that_looks_like_an_address_is_a_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    Path("http:").mkdir()
    Path("http:/r.geojson").write_bytes(Path("canary.geojson").read_bytes())
    assert load_regions("http:/r.geojson").ids == ("1",)


def test_only_three_formats_are_left():
    script = "import vbas_desktop, pyogrio; print('\\n'.join(sorted(pyogrio.list_drivers())))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert tuple(done.stdout.split("\n")[:-1]) == tuple(sorted(DRIVERS))
    assert done.stderr == ""


def test_a_table_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "LARGEST_BYTES", 100_000)
    place = tmp_path / "regions.csv.gz"
    place.write_bytes(gzip.compress(b"id,x,y\n" + b"1,2,3\n" * 10_000))
    assert len(text_files.read_text_file(place)) == 60_007
    for content in (b"1,2,3\n" * 20_000, b"id,x,y\n"):
        place.write_bytes(gzip.compress(b"id,x,y\n" + b"1,2,3\n" * 10_000) + gzip.compress(content * 10))
        if content == b"id,x,y\n":
            assert len(text_files.read_text_file(place)) == 60_077
        else:
            with pytest.raises(InputError, match="unpacks to more than"):
                load_regions(place)
    plain = tmp_path / "plain.csv"
    plain.write_bytes(b"1" * 100_001)
    with pytest.raises(InputError, match="is more than"):
        load_regions(plain)


def test_records_that_unpack_without_end_are_refused(tmp_path, monkeypatch):
    place = tmp_path / "records.csv.gz"
    place.write_bytes(gzip.compress(b"region,age\n" + b"1,30\n" * 2_000_000))
    assert load_records(place).rows == 2_000_000
    monkeypatch.setattr(access, "EXPANDED_FREELY", 1 << 20)
    with pytest.raises(InputError, match="250 times its size"):
        load_records(place)
