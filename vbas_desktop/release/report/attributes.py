"""The section of the reports on columns: type, range, aim, reason, and what their values mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vbas_desktop.assessment.representability.attributes import range_in_words

from .blocks import Block, Pairs, Table


def attribute_blocks(vector: Mapping[str, Any]) -> Iterable[Block]:
    """Show the columns of a vector, and the custodian's words on their values."""
    if vector["attributes"]:
        yield attribute_table(vector["attributes"])
    yield from description_blocks(vector["coding"])


def attribute_table(attributes: Sequence[Mapping[str, Any]]) -> Table:
    """List the columns with what is known of them."""
    rows = [
        (
            row["name"],
            row["use"],
            row["type"] or "–",
            range_in_words(row["range"]),
            row["aim"] or "–",
            row["reason"] or "–",
        )
        for row in attributes
    ]
    return Table(("column", "use", "type", "range", "aim of collection", "reason"), rows, 9)


def description_blocks(coding: Mapping[str, Any]) -> Iterable[Block]:
    """Show what values mean in the custodian's own words, where there are any."""
    described = [(name, facts["description"]) for name, facts in coding.items() if facts.get("description")]
    if described:
        yield Pairs(described)
