"""What a search leaves behind: the table, the ladders, a page for people, and the groups of every node of the front."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from vbas_desktop.io.generalise import groups_text
from vbas_desktop.io.output import check_target, staged_folder, write_text
from vbas_desktop.search.run import Searched
from vbas_desktop.search.table import csv_text, document, numbered

from .report.pages import as_html
from .report.search import search_report

TABLE, DATA, PAGE, GROUPS = "search.csv", "search.json", "search.html", "groups"
NAMES = (TABLE, DATA, PAGE, f"{GROUPS}/[0-9]*.csv")
NODE_NAMES = (f"{'[0-9a-f]' * 32}.json",)


def check_search_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a folder that holds something else than an earlier search, or an input; also the one of the nodes."""
    inputs = list(inputs)
    check_target(target, NAMES, inputs)
    check_target(nodes_beside(target), NODE_NAMES, inputs)


def nodes_beside(target: Path) -> Path:
    """Where the finished nodes of a search are kept: a folder beside its target."""
    target = target.absolute()
    return target.with_name(f"{target.name}.nodes")


def write_search(searched: Searched, target: Path) -> None:
    """Write the folder, all of it or nothing; the same search gives the same bytes."""
    with staged_folder(target, NAMES) as folder:
        write_text(folder / TABLE, csv_text(searched), private=True)
        data = json.dumps(document(searched), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(folder / DATA, data, private=True)
        write_text(folder / PAGE, as_html(search_report(searched)), private=True)
        (folder / GROUPS).mkdir()
        for number, row in numbered(searched):
            if row.node in searched.front or row is searched.recommended:
                groups = groups_text(searched.finest.lattice.groupings(row.node))
                write_text(folder / GROUPS / f"{number}.csv", groups)
