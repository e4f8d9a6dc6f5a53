"""The page on the architecture names what there is, and what a release passes."""

import importlib
import re
import sys
import threading
from pathlib import Path

from tests.release_making import random_rows, write_records, write_regions
from vbas_desktop.cli.main import main

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "vbas_desktop"
MOST_CALLS = 18
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def find_named_object(name):
    """Import the module of a dotted name and return its last part."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"vbas_desktop.{module}"), attribute)


def test_functions_and_classes_on_the_paths_exist():
    paths = PAGE.split("## The path of a record")[1].split("## Threads")[0]
    names = re.findall(r"`((?:[a-z_]+\.){2,}[A-Za-z_]+)`", paths)
    assert len(names) > 15
    for name in names:
        assert callable(find_named_object(name)), name


class CallDepths:
    """While it is in force, notes how deep every function of the program is called at least."""

    def __init__(self):
        self.of = {}
        self._stacks = threading.local()

    def _on_call(self, frame, event, _):
        file = Path(frame.f_code.co_filename)
        if not file.is_relative_to(PROGRAM):
            return
        depth = getattr(self._stacks, "depth", 0)
        if event == "call":
            module = ".".join(file.relative_to(PROGRAM).with_suffix("").parts)
            name = f"{module}.{frame.f_code.co_qualname}"
            self.of[name] = min(self.of.get(name, depth + 1), depth + 1)
            self._stacks.depth = depth + 1
        elif event == "return":
            self._stacks.depth = depth - 1

    def __enter__(self):
        threading.setprofile(self._on_call)
        sys.setprofile(self._on_call)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)


def test_a_record_passes_the_functions_on_its_path_in_few_calls(tmp_path):
    records = write_records(tmp_path, random_rows(400, seed=0))
    columns = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--identifiers", "name"]
    target = ["--out", str(tmp_path / "out"), "--no-pdf", "--quiet", "--workers", "1", "--exceed-loss"]
    with CallDepths() as depths:
        assert main(["run", str(records), str(write_regions(tmp_path)), *columns, *target]) == 0
    path = PAGE.split("## The path of a record")[1].split("## The path of a click")[0]
    for name in re.findall(r"`((?:[a-z_]+\.){2,}[A-Za-z_]+)`", path):
        reached = [depth for call, depth in depths.of.items() if f"{call}.".startswith(f"{name}.")]
        assert reached, name
        assert min(reached) <= MOST_CALLS, name


def test_every_package_has_a_row():
    packages = {path.parent.name for path in (ROOT / "vbas_desktop").glob("*/__init__.py")}
    table = PAGE.split("## Packages")[1].split("## The path of a record")[0]
    assert {name for name in packages if f"`{name}`" not in table} == set()
