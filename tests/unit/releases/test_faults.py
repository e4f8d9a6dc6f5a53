"""Whatever goes wrong leaves either the old release or the complete new one, and no file of records beside them."""

import errno
import gzip
import hashlib
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from release_making import load, random_rows, small_case, write_records, write_regions

from vbas_desktop.io import output
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.release import ReleaseOptions

TESTS = Path(__file__).parents[2]

CHILD = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from pathlib import Path
from release_making import load
from vbas_desktop.settings.release import ReleaseOptions
here = Path(sys.argv[1])
case = load(here / "records.csv", here / "regions.csv")
class Told:
    def update(self, stage, fraction=None):
        print(stage, flush=True)
case.release(here / "out", ReleaseOptions(shuffle_seed=sys.argv[2], pdf=False), progress=Told())
print("released", flush=True)
"""


def state(target):
    """The hash of every file below a folder."""
    files = sorted(path for path in target.rglob("*") if path.is_file())
    return {
        str(path.relative_to(target)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


def without_run(files):
    return {name: digest for name, digest in files.items() if name != "run.json"}


def start(folder, seed):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_release_leaves_the_old_one_and_the_next_removes_what_it_left(tmp_path):
    case = small_case(tmp_path, records=3000)
    case.release(tmp_path / "out", ReleaseOptions(shuffle_seed="1", pdf=False))
    old = state(tmp_path / "out")
    case.release(tmp_path / "new", ReleaseOptions(shuffle_seed="2", pdf=False))
    new = without_run(state(tmp_path / "new"))
    left = []
    for stage in ("Testing", "Shuffling", "Reading", "Writing the reports", "Putting"):
        child = start(tmp_path, 2)
        assert any(line.startswith(stage) for line in child.stdout), child.communicate()
        child.send_signal(signal.SIGKILL)
        child.communicate()
        found = state(tmp_path / "out")
        assert found == old or without_run(found) == new
        left += [
            path.name for leftover in tmp_path.glob(".out.vbas-*/new") for path in leftover.iterdir()
        ]
    assert "release" in left, "one of them was killed while it wrote"
    assert set(left) <= {"release", "internal", "run.json"}, (
        "the rows that wait for shuffling have no name"
    )
    case.release(tmp_path / "out", ReleaseOptions(shuffle_seed="2", pdf=False))
    assert without_run(state(tmp_path / "out")) == new
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "new",
        "out",
        "records.csv",
        "regions.csv",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="limits")
def test_a_disk_that_fills_up_is_said_plainly_and_leaves_the_old_release(tmp_path):
    case = small_case(tmp_path, records=3000)
    before = case.release(tmp_path / "out").files
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        # Files beyond 20 kB fail as on a full disk, in the kernel, at whatever write comes first.
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
        with pytest.raises(InputError, match="disk is full"):
            case.release(tmp_path / "out", ReleaseOptions(shuffle_seed="7"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert state(tmp_path / "out") == {file.path: file.sha256 for file in before}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "records.csv", "regions.csv"]


def test_too_little_space_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    case = small_case(tmp_path)
    monkeypatch.setattr(
        output.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1_000_000})()
    )
    with pytest.raises(InputError, match="1 MB are free"):
        case.release(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv"]


@pytest.mark.parametrize(
    ("options", "copies", "per_row"),
    [
        (ReleaseOptions(pdf=False), 2, 8),
        (ReleaseOptions(pdf=False, shuffle=False), 1, 8),
        (ReleaseOptions(pdf=False, class_size="size"), 2, 16),
    ],
    ids=["shuffled", "in order", "with class sizes"],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_the_space_that_is_asked_for_is_just_enough(
    tmp_path, monkeypatch, options, copies, per_row, suffix
):
    rows = random_rows(400)
    plain = write_records(tmp_path, rows)
    records = tmp_path / f"source{suffix}"
    if suffix == ".parquet":
        parquet.write_table(arrow_csv.read_csv(plain), records)
    else:
        records.write_bytes(
            gzip.compress(plain.read_bytes()) if suffix == ".csv.gz" else plain.read_bytes()
        )
    case = load(records, write_regions(tmp_path))
    unpacked = records.stat().st_size * (1 if suffix == ".csv" else 6)
    needed = copies * (unpacked + per_row * 400) + (32 << 20)
    free = needed - 1
    monkeypatch.setattr(output.shutil, "disk_usage", lambda path: type("Usage", (), {"free": free})())
    with pytest.raises(InputError, match="are needed while the result is written"):
        case.release(tmp_path / "out", options)
    free = needed
    case.release(tmp_path / "out", options)


def test_counts_that_come_from_no_file_cannot_be_released(tmp_path):
    case = small_case(tmp_path)
    case.problem = replace(case.problem, records_source=None)
    with pytest.raises(InputError, match="The counts come from no record file"):
        case.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_folder_that_may_not_be_written_to_is_said_plainly(tmp_path, monkeypatch, number):
    case = small_case(tmp_path)
    made = Path.mkdir

    def refusing(path, *arguments, **more):
        if path.name.startswith(".out.vbas-"):
            raise OSError(number, os.strerror(number), str(path))
        made(path, *arguments, **more)

    monkeypatch.setattr(Path, "mkdir", refusing)
    with pytest.raises(InputError, match="Writing is not allowed"):
        case.release(tmp_path / "out")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_said_plainly(tmp_path):
    case = small_case(tmp_path)
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(InputError, match="Writing is not allowed"):
        case.release(tmp_path / "locked" / "out")


def test_the_internal_folder_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        small_case(tmp_path).release(tmp_path / "out")
    finally:
        os.umask(before)
    assert oct((tmp_path / "out" / "internal").stat().st_mode & 0o777) == "0o700"


def test_a_record_file_that_is_gone_is_said_to_be_gone(tmp_path):
    case = small_case(tmp_path)
    Path(case.table.source.path).unlink()
    with pytest.raises(InputError, match="The record file is gone"):
        case.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()
