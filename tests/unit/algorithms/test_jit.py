"""Kernels are compiled while progress is polled, and their machine code is cached by all kernel sources."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from vbas_desktop.algorithms.kernels.jit import prepare
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

ROOT = Path(__file__).parents[3]


def run_python(code, *arguments, root=ROOT, **environment):
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": "", **environment},
        capture_output=True,
        text=True,
        timeout=200,
    )


class StopAfterPolls:
    """Progress that the user stops at the n-th look."""

    def __init__(self, polls):
        self.left = polls
        self.stages = []

    def update(self, stage, fraction=None):
        self.stages.append(stage)
        self.left -= 1
        if not self.left:
            raise Cancelled


class SlowKernel:
    """Stands for a kernel that takes as long to compile as the test wants."""

    def __init__(self):
        self.signatures = []
        self.may_end = threading.Event()
        self.is_compiled = threading.Event()

    def compile(self, types):
        self.may_end.wait()
        self.signatures.append(types)
        self.is_compiled.set()


def test_waiting_for_the_compiler_can_be_stopped_and_compiling_goes_on():
    slow = SlowKernel()
    progress = StopAfterPolls(3)
    with pytest.raises(Cancelled):
        prepare(progress, slow, 1, 2.0)
    assert len(progress.stages) == 3
    assert all(stage.startswith("Preparing") for stage in progress.stages)
    assert not slow.signatures
    slow.may_end.set()
    assert slow.is_compiled.wait(20)


def test_what_is_compiled_for_these_types_is_not_prepared_again():
    slow = SlowKernel()
    slow.may_end.set()
    prepare(NO_PROGRESS, slow, 1, 2.0)
    silent = StopAfterPolls(1)
    prepare(silent, slow, 5, 0.5)
    assert not silent.stages
    slow.may_end.clear()
    with pytest.raises(Cancelled):
        prepare(silent, slow, 5, 5)
    slow.may_end.set()


STOPPED_ADC = """
import sys
import numpy as np
from vbas_desktop.algorithms.adc import run_adc
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.progress import Cancelled

class Stop:
    left = int(sys.argv[1])
    def update(self, stage, fraction=None):
        assert stage.startswith("Preparing"), stage
        self.left -= 1
        if not self.left:
            raise Cancelled

points = np.array([(0.0, 0.0), (4.0, 0.0), (6.0, 0.0), (10.0, 0.0)])
counts = ClassCounts.from_matrix((2,), np.arange(2, dtype=np.int64), np.array([(5, 5), (0, 3), (0, 1), (9, 0)]))
try:
    run_adc(points, counts, points[[0, 3]], 4, Stop())
except Cancelled:
    print("stopped")
"""


@pytest.mark.parametrize("polls", [1, 8])
def test_the_program_may_end_while_kernels_are_compiled(tmp_path, polls):
    ended = run_python(STOPPED_ADC, str(polls), XDG_CACHE_HOME=str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n", "")


TWO_KERNELS = (
    "from vbas_desktop.algorithms.kernels.outer import outer; "
    "print(outer(1), sum(outer.stats.cache_hits.values()))"
)


@pytest.fixture
def tree(tmp_path):
    """A copy of the package with a kernel that calls one in another file."""
    package = tmp_path / "tree" / "vbas_desktop"
    shutil.copytree(ROOT / "vbas_desktop", package, ignore=shutil.ignore_patterns("__pycache__", "ui"))
    kernels = package / "algorithms" / "kernels"
    (kernels / "inner.py").write_text(
        "from .jit import subkernel\n\n\n@subkernel\ndef inner(x):\n    return x + 1\n", encoding="utf-8"
    )
    (kernels / "outer.py").write_text(
        "from .inner import inner\nfrom .jit import kernel\n\n\n@kernel\ndef outer(x):\n    return inner(x)\n",
        encoding="utf-8",
    )
    return kernels


def run_outer(tree, cache):
    ended = run_python(TWO_KERNELS, root=tree.parents[2], XDG_CACHE_HOME=str(cache))
    assert not ended.stderr
    result, hits = map(int, ended.stdout.split())
    return result, hits > 0


def test_cached_code_is_used_again_until_a_kernel_that_it_calls_changes(tree, tmp_path):
    cache = tmp_path / "cache"
    assert run_outer(tree, cache) == (2, False)
    assert run_outer(tree, cache) == (2, True)
    inner = tree / "inner.py"
    inner.write_text(inner.read_text(encoding="utf-8").replace("x + 1", "x + 10"), encoding="utf-8")
    assert run_outer(tree, cache) == (11, False)
    assert not list(tree.rglob("*.nbi"))


def test_cached_code_that_nobody_has_used_for_long_is_removed(tree, tmp_path):
    old, recent = (
        tmp_path / "cache" / "vbas-desktop" / "kernels" / name for name in ("vbas-old", "vbas-recent")
    )
    for folder in (old, recent):
        folder.mkdir(parents=True)
        (folder / "code.nbc").write_bytes(b"code")
    os.utime(old, (0, 0))
    run_outer(tree, tmp_path / "cache")
    assert (old.exists(), recent.exists()) == (False, True)


def test_without_a_folder_to_write_to_nothing_is_cached_and_everything_works(tree, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    for _ in range(2):
        assert run_outer(tree, file / "below") == (2, False)
    assert not list(tmp_path.rglob("*.nbi"))
