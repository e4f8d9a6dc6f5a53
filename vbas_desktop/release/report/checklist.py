"""The policy checklist in the report for the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .blocks import Block, Pairs, Paragraph, Table


def policy_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """The choices, every point with evidence and note, and the signature; nothing if no checklist was filled in."""
    filled = document.get("policy_checklist")
    if not filled:
        return
    yield Pairs([(each["question"], each["answer"] or "not decided") for each in filled["choices"]])
    rows = [
        (each["id"], each["title"], each["state"], " ".join(filter(None, (each["evidence"], each["note"]))))
        for each in filled["points"]
    ]
    yield Table(("point", "what", "state", "evidence and notes"), rows, 9)
    left = sum(each["state"] == "open" for each in filled["points"])
    if left:
        yield Paragraph(f"{left:,} point{'s are' if left != 1 else ' is'} open.")
    signed = filled["signed_by"]
    yield Paragraph(f"Signed by {signed} on {filled['signed_on']}." if signed else "Not signed.")
