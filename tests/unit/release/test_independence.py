"""What reads a release back shares no code with what wrote it."""

import ast
from pathlib import Path

import vbas_desktop.release

ROOM = Path(vbas_desktop.release.__file__).parent
WRITERS = {"blocks", "composition", "fields", "records_arrow", "records_csv", "rows", "shuffle"}
READERS = {"fingerprints", "readback", "tally", "verification"}


def siblings_of(module):
    tree = ast.parse((ROOM / f"{module}.py").read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {node.module.partition(".")[0] for node in nodes if node.module}


def test_writers_and_readers_import_nothing_of_each_other():
    for module in WRITERS:
        assert not siblings_of(module) & READERS, module
    for module in READERS:
        assert not siblings_of(module) & WRITERS, module
