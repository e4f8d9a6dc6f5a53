"""What a search leaves behind: the table, the hierarchies, a page for people, and the groups of the front's nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from vbas_desktop.engine.lattice.search import LatticeSearchResult
from vbas_desktop.engine.lattice.table import build_search_document, format_search_csv, number_rows
from vbas_desktop.io.documents.hierarchies import find_formulas, format_groups
from vbas_desktop.io.output import check_target, staged_folder, write_text
from vbas_desktop.model.findings import Finding

from .reports.html import render_html
from .reports.search import build_search_report

TABLE = "search.csv"
DATA = "search.json"
PAGE = "search.html"
GROUPS = "groups"
NAMES = (TABLE, DATA, PAGE, f"{GROUPS}/[0-9]*.csv")
NODE_NAMES = (f"{'[0-9a-f]' * 32}.json",)


def check_search_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a folder that holds something else than an earlier search, or an input; also the one of the nodes."""
    inputs = list(inputs)
    check_target(target, NAMES, inputs)
    check_target(nodes_beside(target), NODE_NAMES, inputs)


def nodes_beside(target: Path) -> Path:
    """Return the folder beside a target where the finished nodes of a search are stored."""
    target = target.absolute()
    return target.with_name(f"{target.name}.nodes")


def write_search(searched: LatticeSearchResult, target: Path) -> None:
    """Write the folder, all of it or nothing; the same search gives the same bytes."""
    with staged_folder(target, NAMES) as folder:
        write_text(folder / TABLE, format_search_csv(searched), private=True)
        data = (
            json.dumps(build_search_document(searched), indent=2, ensure_ascii=False, allow_nan=False)
            + "\n"
        )
        write_text(folder / DATA, data, private=True)
        write_text(folder / PAGE, render_html(build_search_report(searched)), private=True)
        (folder / GROUPS).mkdir()
        for number, row in number_rows(searched):
            if row.node in searched.front or row is searched.recommended:
                groups = format_groups(searched.finest.lattice.groupings(row.node))
                write_text(folder / GROUPS / f"{number}.csv", groups)


def find_group_formulas(searched: LatticeSearchResult, folder: str) -> list[Finding]:
    """Warn of formulas in the files of groups that a search writes to a folder."""
    nodes = {
        row.node
        for _, row in number_rows(searched)
        if row.node in searched.front or row is searched.recommended
    }
    levels = {pair for node in nodes for pair in enumerate(node)}
    hierarchies = searched.finest.lattice.hierarchies
    groupings = (hierarchies[column].get_grouping(level) for column, level in sorted(levels))
    return find_formulas(f"{folder}/*.csv", (grouping for grouping in groupings if grouping is not None))
