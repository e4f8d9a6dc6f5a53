"""The page on the architecture names what there is."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
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


def test_every_package_has_a_row():
    packages = {path.parent.name for path in (ROOT / "vbas_desktop").glob("*/__init__.py")}
    table = PAGE.split("## Packages")[1].split("## The path of a record")[0]
    assert {name for name in packages if f"`{name}`" not in table} == set()
