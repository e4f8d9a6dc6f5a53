"""What the look at the written file found, for the internal report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vbas_desktop.model.words import counted

from .blocks import Block, Paragraph, Table

WORST = 20
"""So many pairs and triples are listed."""


def last_look_blocks(document: Mapping[str, Any], k: int) -> Iterator[Block]:
    """Tell how many records are in groups below k by columns that are released as they are."""
    found = document.get("last_look")
    if found is None:
        return
    if not found["columns"]:
        yield Paragraph("Only the region and quasi-identifiers are released; there is no other column to test.")
        return
    records = max(1, found["records"])
    yield Paragraph(
        "k holds for the region and the quasi-identifiers. Somebody who also knows a person’s value in another column "
        f"looks at smaller groups. The table gives the records in groups of fewer than {k:,} by place, "
        "quasi-identifiers and that value, counted in the written file; blank counts as a value."
    )
    rows = [
        (
            each["column"],
            _share(each["records_below_k"], records),
            f"{each['unique_records']:,}",
            f"{each['smallest_group']:,}",
        )
        for each in found["columns"]
    ]
    headings = ("column", f"records in groups below {k:,}", "records alone in their group", "smallest group")
    yield Table(headings, rows)
    if not found["compared_with_original"]:
        yield Paragraph(
            "The region or a quasi-identifier is not released, so the written file was not compared with the original: "
            "what columns tell of the place was tested before writing only."
        )
    yield from _combination_blocks(found, records, k)


def _combination_blocks(found: Mapping[str, Any], records: int, k: int) -> Iterator[Block]:
    if not found["pair_tests"]:
        yield Paragraph("Pairs and triples of columns were not tested in the written file (--no-pair-tests).")
        return
    tried, not_tried = found["combinations"], found["combinations_not_tried"]
    yield Paragraph(
        f"{counted(len(tried), 'combination')} of two or three of these columns were tested, the most selective first; "
        f"{not_tried:,} were not tried."
    )
    worst = sorted(tried, key=lambda each: -each["records_below_k"])[:WORST]
    if worst:
        rows = [(" + ".join(each["columns"]), _share(each["records_below_k"], records)) for each in worst]
        caption = f"The {WORST} with most such records." if len(tried) > WORST else ""
        yield Table(("columns together", f"records in groups below {k:,}"), rows, caption=caption)


def _share(number: int, records: int) -> str:
    return f"{number:,} ({100 * number / records:.3g} %)"
