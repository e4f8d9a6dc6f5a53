"""Write docs/sources-of-the-methods.md: the template with the tables of the stored results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .compute import THESIS_FILES
from .parv_section import parv_tables
from .rules_section import rules_tables
from .screening_section import screening_tables
from .thesis_section import canada_tables, island_tables, read_half, read_island

PAGE = "sources-of-the-methods.md"
TEMPLATE = Path(__file__).with_name("template.md")
_SLOT = re.compile(r"^\{\{(.+)\}\}$", re.MULTILINE)


def sources_page(results: Path) -> str:
    """Return the page for the results in a folder. Each table is used once, and each slot of the template filled."""
    halves = [read_half(results / THESIS_FILES[like], like) for like in ("eastern", "western")]
    tables = {
        **canada_tables(halves),
        **island_tables(read_island(results / THESIS_FILES["pei"])),
        **parv_tables(_stored(results / "parv.json")),
        **rules_tables(_stored(results / "rules.json")),
        **screening_tables(_stored(results / "screening.json")),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    slots = _SLOT.findall(text)
    if sorted(slots) != sorted(tables):
        raise ValueError(f"The template and the tables differ: {sorted(set(slots) ^ set(tables))}")
    return _SLOT.sub(lambda slot: tables[slot.group(1)], text)


def _stored(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
