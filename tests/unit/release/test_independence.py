"""What reads a release back shares no code with what wrote it."""

import ast
from pathlib import Path

import pytest

import vbas_desktop.release

ROOM = Path(vbas_desktop.release.__file__).parent
WRITERS = {"blocks", "composition", "fields", "records_arrow", "records_csv", "rows", "shuffle"}
READERS = {"fingerprints", "readback", "tally", "verification"}


NAME = vbas_desktop.release.__name__


def imported(source):
    """The full names of what a module of this room imports, however the import is written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = {0: "", 1: NAME, 2: NAME.rpartition(".")[0]}[node.level]
            base = ".".join(filter(None, (above, node.module)))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def siblings_of(module):
    names = imported((ROOM / f"{module}.py").read_text(encoding="utf-8"))
    return {name.removeprefix(f"{NAME}.").partition(".")[0] for name in names if name.startswith(f"{NAME}.")}


@pytest.mark.parametrize(
    "line",
    [
        "from .rows import compose",
        "from . import rows",
        "from ..release import rows",
        "from vbas_desktop.release import rows",
        "from vbas_desktop.release.rows import compose",
        "import vbas_desktop.release.rows as r",
    ],
)
def test_every_way_to_import_a_sibling_is_seen(line):
    assert any(name.startswith(f"{NAME}.rows") for name in imported(line))


def test_writers_and_readers_import_nothing_of_each_other():
    for module in WRITERS:
        assert not siblings_of(module) & READERS, module
    for module in READERS:
        assert not siblings_of(module) & WRITERS, module
