"""Run pytest in forked children of a process that has imported the libraries but nothing of the program."""

from __future__ import annotations

import importlib.machinery
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from targets import ROOT

_LIBRARIES = (
    "hypothesis",
    "numba",
    "numpy",
    "pandas",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pyogrio",
    "reportlab.pdfgen.canvas",
    "scipy.spatial",
    "shapely",
    "PySide6.QtWidgets",
)
TIMED_OUT = -1
MOST_MEMORY_BYTES = 6 << 30
"""Private memory of a child, as far as it can be written to; no test of the program as it is needs a third of it."""
_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")


class Repeatable:
    """Plug-in: hypothesis draws the same examples every time and does not look at the clock."""

    def pytest_configure(self) -> None:
        """Set the profile after the conftest of the project has set its own."""
        from hypothesis import settings

        settings.register_profile("mutants", derandomize=True, deadline=None, database=None)
        settings.load_profile("mutants")


def import_libraries() -> None:
    """Import what takes long once, for all children."""
    import importlib

    import pytest  # noqa: F401

    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    for name in _LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def run_in_child(work: Callable[[], int], log: Path, seconds: float) -> int:
    """Run a function in a forked child whose output goes to a file.

    Returns what the function returned, 99 if the child died, or `TIMED_OUT`. The child and what it has started are
    killed after ``seconds``; each of these processes can have at most `MOST_MEMORY_BYTES`.
    """
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(file, 1)
            os.dup2(file, 2)
            code = work()
        except BaseException:  # noqa: BLE001 (the parent reads it in the log)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + seconds
    pause = 0.01
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 99
        time.sleep(pause)
        pause = min(0.1, pause * 1.2)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMED_OUT


def run_pytest(tests: Sequence[str], folder: Path, plugins: Sequence[Any], *options: str) -> int:
    """Run tests in this process, with temporary files in a folder; returns the exit code of pytest."""
    import pytest

    os.chdir(ROOT)
    command = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *_QUIET,
        f"--basetemp={folder}",
        *options,
        *tests,
    ]
    return int(pytest.main(command, plugins=[Repeatable(), *plugins]))


def replace_source(path: Path, source: str) -> None:
    """Let the import of one module compile another source than that in its file, in this process only."""
    name = str(path)

    class Loader(importlib.machinery.SourceFileLoader):
        """Loads the replaced source of that module, and all others as they are."""

        def get_code(self, fullname: str) -> Any:
            """Compile the replaced source, without the cache of compiled modules."""
            if self.path == name:
                return compile(source, name, "exec", dont_inherit=True)
            return super().get_code(fullname)

    hook = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (Loader, importlib.machinery.SOURCE_SUFFIXES),
    )
    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
