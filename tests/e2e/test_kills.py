"""A part of what `killing.py` does at length: at any moment the old release or the new one is complete."""

import random
import signal
import sys

import pytest
from killing import EARLIER, LAST_STAGE, Outcome, complete, kill, prepare

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def test_killed_and_stopped_runs_and_exports_leave_the_old_release_or_the_new_one_complete(tmp_path):
    draw = random.Random(5)
    prepare(tmp_path, draw)
    complete(tmp_path, 2, EARLIER)
    moments = [
        (signal.SIGKILL, "Reading the release back"),
        (signal.SIGKILL, LAST_STAGE),
        (signal.SIGTERM, "Reading the release back"),
        (signal.SIGTERM, LAST_STAGE),
        (signal.SIGINT, LAST_STAGE),
    ]
    outcomes = [kill(tmp_path, number, turn + 1, stage) for turn, (number, stage) in enumerate(moments)]
    assert outcomes[2] == Outcome(signal.SIGTERM, 130, replaced=False)
    complete(tmp_path, 99)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        EARLIER,
        "out",
        "records.csv",
        "regions.csv",
    ]
