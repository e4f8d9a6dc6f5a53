"""A lock is held by one program at a time, and ends with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.io.locks import LockHeldError, exclusive_lock, is_locked
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Cancelled


class RecordedProgress:
    def __init__(self):
        self.stages = []

    def update(self, stage, fraction=None):
        self.stages.append(stage)
        raise Cancelled


def test_a_lock_is_held_until_the_block_ends_and_leaves_no_file(tmp_path):
    path = tmp_path / "ledger.json"
    assert not is_locked(path)
    with exclusive_lock(path):
        assert is_locked(path)
        assert [entry.name for entry in tmp_path.iterdir()] == [".ledger.json.lock"]
    assert not is_locked(path)
    assert list(tmp_path.iterdir()) == []


def test_whoever_waits_for_a_lock_can_be_stopped(tmp_path):
    progress = RecordedProgress()
    with (
        exclusive_lock(tmp_path / "a"),
        pytest.raises(Cancelled),
        exclusive_lock(tmp_path / "a", progress, stage="Wait"),
    ):
        raise AssertionError("the lock is held")
    assert progress.stages == ["Wait"]


def test_a_lock_that_is_held_is_refused_without_waiting(tmp_path):
    with (
        exclusive_lock(tmp_path / "a"),
        pytest.raises(LockHeldError),
        exclusive_lock(tmp_path / "a", wait=False),
    ):
        raise AssertionError("the lock is held")


def test_the_lock_of_a_killed_program_is_free_and_its_file_goes(tmp_path):
    path = tmp_path / "a"
    script = f"""
import os
from pathlib import Path
from vbas_desktop.io.locks import exclusive_lock
with exclusive_lock(Path({str(path)!r})):
    os._exit(9)
"""
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False)
    assert (tmp_path / ".a.lock").exists()
    assert not is_locked(path)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / ".a.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"), exclusive_lock(tmp_path / "a"):
        raise AssertionError("the lock is a link")
    assert not os.path.lexists(tmp_path / "elsewhere")
