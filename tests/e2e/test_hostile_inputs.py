"""Unusual and hostile inputs are read, or refused with a remedy: never a traceback, never "unforeseen"."""

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError, explain_os_error

COLUMNS = {
    "who": [f"p{i}" for i in range(60)],
    "age": [str(20 + i % 5) for i in range(60)],
    "sex": ["FM"[i % 2] for i in range(60)],
    "region": [str(1001 + i % 9) for i in range(60)],
}
CHOICES = [
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age,sex",
    "-k",
    "2",
    "--identifiers",
    "who",
]
COUNT = ["--quasi-identifiers", "age,sex", "-k", "2"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(",".join(row) for row in zip(*COLUMNS.values(), strict=True))
    (tmp_path / "records.csv").write_text(",".join(COLUMNS) + "\n" + rows + "\n")
    places = "".join(f"{1001 + i},{i % 3},{i // 3},{10 + i}\n" for i in range(9))
    (tmp_path / "regions.csv").write_text("id,x,y,people\n" + places)
    return tmp_path


def refused(capsys, *command):
    """Run a command that must be refused, and give what it says."""
    try:
        code = main([str(word) for word in command])
    except SystemExit as stopped:
        code = stopped.code
    said = capsys.readouterr().err
    assert code in (1, 2), said
    assert "unforeseen" not in said
    return said


def table(**other):
    arrays = {name: pa.array(values) for name, values in COLUMNS.items()}
    return pa.table({**arrays, **other})


def test_parquet_with_views_of_strings_is_released_like_plain_strings(files, capsys):
    views = {name: pa.array(values).cast(pa.string_view()) for name, values in COLUMNS.items()}
    pq.write_table(table(), "plain.parquet")
    pq.write_table(pa.table(views), "views.parquet")
    more = ["--format", "parquet", "--no-shuffle", "--out"]
    for name in ("plain", "views"):
        assert main(["run", f"{name}.parquet", "regions.csv", *CHOICES, *more, name]) == 0
        assert main(["outliers", f"{name}.parquet", *COUNT]) == 0
    released = [
        pq.read_table(next(Path(name).glob("release/*.parquet"))).to_pylist()
        for name in ("plain", "views")
    ]
    assert released[0] == released[1]
    assert released[0]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)])
def test_a_binary_column_cannot_have_categories_and_is_told_so(files, capsys, kind):
    ages = pa.array([age.encode() for age in COLUMNS["age"]], kind)
    pq.write_table(table(age=ages), "binary.parquet")
    commands = (
        ["run", "binary.parquet", "regions.csv", *CHOICES],
        ["outliers", "binary.parquet", *COUNT],
        ["risky", "binary.parquet", "--columns", "age,sex"],
    )
    for command in commands:
        said = refused(capsys, *command)
        assert (
            "column “age”: The column holds structured or binary values, which cannot be categories."
            in said
        )
        assert "write it as text" in said


def test_a_binary_column_that_is_no_text_cannot_be_written_as_csv(files, capsys):
    pq.write_table(table(who=pa.array([b"\xff%d" % i for i in range(60)])), "binary.parquet")
    allowed = [*CHOICES[:-2], "--allow-column", "who", "--out", "out"]
    assert "Release as Parquet" in refused(capsys, "run", "binary.parquet", "regions.csv", *allowed)
    assert not Path("out").exists()
    assert "not text" in refused(
        capsys, "representability", "binary.parquet", "records.csv", "--key", "who", *COUNT[:2]
    )


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_text_of_a_parquet_file_that_is_not_utf_8_is_refused(files, capsys, kind):
    text = {pa.binary(): pa.string(), pa.large_binary(): pa.large_string()}[kind]
    broken = pa.array([b"F\xff" if i == 7 else b"M" for i in range(60)], kind).view(text)
    pq.write_table(table(sex=broken), "broken.parquet")
    commands = (
        ["run", "broken.parquet", "regions.csv", *CHOICES],
        ["outliers", "broken.parquet", *COUNT],
        ["risky", "broken.parquet"],
        ["representability", "broken.parquet", "records.csv", "--key", "who", *COUNT[:2]],
    )
    for command in commands:
        said = refused(capsys, *command)
        assert "broken.parquet, column “sex”: The text is not valid UTF-8. Write the file again" in said


def test_a_parquet_file_is_verified_like_text(files, capsys):
    pytest.importorskip("duckdb")
    pq.write_table(table(), "records.parquet")
    told = []
    for name in ("records.csv", "records.parquet"):
        assert main(["verify", name, *COUNT, "--region-column", "region", "--quiet"]) == 3
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of files that are bytes")
def test_names_that_are_not_utf_8_are_refused(files, capsys):
    shutil.copy("records.csv", b"records\xff.csv")
    name = os.fsdecode(b"records\xff.csv")
    commands = (
        ["run", name, "regions.csv", *CHOICES, "--out", "out"],
        ["run", "records.csv", "regions.csv", *CHOICES, "--out", name],
        ["outliers", name, *COUNT],
        ["verify", f"duckdb:{name}", *COUNT, "--region-column", "region"],
    )
    for command in commands:
        said = refused(capsys, *command)
        assert "records\\udcff.csv” is not valid UTF-8. Rename the file or folder" in said


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of files that are bytes")
def test_names_that_are_not_utf_8_are_refused_in_python_too(files):
    import vbas_desktop

    shutil.copy("records.csv", b"records\xff.csv")
    records = Path(os.fsdecode(b"records\xff.csv"))
    with pytest.raises(InputError, match=r"is not valid UTF-8\. Rename it\."):
        vbas_desktop.read(records, "regions.csv", region_column="region", quasi_identifiers=["age"])


def test_more_people_than_a_sum_can_hold_are_refused(files, capsys):
    places = "".join(f"{1001 + i},{i % 3},{i // 3},{'1e308' if i else 5}\n" for i in range(9))
    Path("regions.csv").write_text("id,x,y,people\n" + places)
    more = ["--population-column", "people", "--out", "out"]
    said = refused(capsys, "run", "records.csv", "regions.csv", *CHOICES, *more)
    assert "has numbers from 0 to 1,000,000,000,000,000 for the regions." in said
    assert not Path("out").exists()


@pytest.mark.parametrize("capacity", ["9223372036854775808", "4611686018427387904", "9" * 5000, "²"])
def test_more_seats_than_any_slot_has_are_refused(files, capsys, capacity):
    Path("slots.csv").write_text(f"centre,time,capacity\na,1,{capacity}\nb,1,{capacity}\n")
    said = refused(capsys, "appointments", "records.csv", "slots.csv", "--quasi-identifiers", "age")
    assert "slots.csv, row 2, column “capacity”: The capacity is" in said


def test_a_spec_that_includes_itself_is_refused(files, capsys):
    Path("self.toml").write_text('include = "self.toml"\n')
    Path("one.toml").write_text('include = "other.toml"\n')
    Path("other.toml").write_text('include = "./one.toml"\n')
    for name in ("self.toml", "one.toml"):
        said = refused(capsys, "generate", "--like", name, "--out", "out")
        assert (
            f"{name}: The spec includes itself, directly or by way of another. Remove one include."
            in said
        )
    Path("none.toml").write_text("include = 7\n")
    assert "names no file" in refused(capsys, "generate", "--like", "none.toml", "--out", "out")


def test_published_tables_in_latin_1_are_read_as_such(files, capsys):
    Path("published.csv").write_bytes("número,é\n1,2\n".encode("latin-1"))
    said = refused(
        capsys, "reproduce-thesis", "--like", "pei", "--reference", "published.csv", "--out", "out"
    )
    assert "column “table”: A column is missing. Name a file of the published tables" in said


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EACCES, "Access is not allowed"),
        (errno.EROFS, "The disk is read-only"),
        (errno.ENOTDIR, "A part of the path is a file"),
        (errno.EIO, "does not answer"),
        (errno.EDOM, "cannot be read or written"),
    ],
)
def test_errors_of_the_system_have_a_place_and_a_remedy(number, words):
    finding = explain_os_error(OSError(number, os.strerror(number), "folder/file.csv"))
    assert finding.file == "folder/file.csv"
    assert words in finding.message
    assert finding.remedy
    hidden = explain_os_error(OSError(number, os.strerror(number), "folder/.6c.part"))
    assert hidden.file == "folder"


OUTPUTS = {
    "run": ["run", "records.csv", "regions.csv", *CHOICES, "--out"],
    "search": ["search", "records.csv", "regions.csv", *CHOICES, "--out"],
    "compare": ["compare", "records.csv", "regions.csv", *CHOICES, "--out"],
    "generate": ["generate", "--like", "pei", "--records", "500", "--out"],
    "template": ["policies", "template", "--out"],
    "outliers": ["outliers", "records.csv", *COUNT, "--handle", "delete", "--key", "who", "--out"],
    "scores": ["risky", "records.csv", "--scores"],
    "coarsened": [
        "risky",
        "records.csv",
        "--columns",
        "age,sex",
        "--apply",
        "--identifiers",
        "who",
        "--out",
    ],
}


@pytest.mark.parametrize("name", [".", "folder", "/"])
def test_a_folder_is_no_file_for_scores(files, capsys, name):
    Path("folder").mkdir()
    said = refused(capsys, "risky", "records.csv", "--scores", name)
    assert "The target " in said
    assert said.rstrip().endswith("Choose another place.")


@pytest.mark.parametrize("command", OUTPUTS)
def test_a_target_below_a_file_is_refused(files, capsys, command):
    said = refused(capsys, *OUTPUTS[command], "records.csv/out")
    assert "records.csv" in said
    assert "file" in said
    assert said.rstrip().endswith(("Choose another place.", "Check the path."))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
@pytest.mark.parametrize("command", ["template", "outliers", "search"])
def test_a_full_disk_is_told_with_the_path_and_leaves_nothing(files, command):
    def limit():
        # Files must not grow beyond this: writing fails as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    words = [sys.executable, "-m", "vbas_desktop.cli", *OUTPUTS[command], "out"]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=limit, timeout=240)
    assert done.returncode == 1, done.stderr
    assert "The disk is full" in done.stderr
    assert "out" in done.stderr
    assert "Free some space" in done.stderr
    assert [path.name for path in files.iterdir() if "part" in path.name or path.name == "out"] == []


def test_the_window_tells_errors_of_the_system_with_a_remedy():
    from vbas_desktop.ui.presentation.messages import describe_failure

    failure = describe_failure(
        "Export", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/out.csv")
    )
    assert failure.message == (
        "out.csv: The disk is full, or a limit was reached. Free some space, or choose a folder on another disk."
    )


def test_faults_of_a_geometry_file_are_told_as_findings(files, capfd):
    import pyogrio.raw
    import shapely

    boxes = shapely.to_wkb([shapely.box(i % 3, i // 3, i % 3 + 1, i // 3 + 1) for i in range(9)])
    ids = np.array([str(1001 + i) for i in range(9)], object)
    pyogrio.raw.write(
        "regions.gpkg",
        boxes,
        [ids],
        ["id"],
        geometry_type="Polygon",
        crs="EPSG:3347",
        layer="r",
        driver="GPKG",
    )
    data = Path("regions.gpkg").read_bytes()
    Path("regions.gpkg").write_bytes(
        data.replace(b"POLYGONr", b"\xfbOLYGONr").replace(b"geomPOLYGON", b"geom\xfbOLYGON")
    )
    code = main(["run", "records.csv", "regions.gpkg", *CHOICES])
    said = capfd.readouterr().err
    assert code in (0, 1)
    assert "RuntimeWarning" not in said
    assert "The file has a fault that was ignored: “" in said
    assert "Look at the regions on the map, or export the file again." in said
