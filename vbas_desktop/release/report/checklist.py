"""The policy checklist and the check of a requirement in the report for the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def requirement_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """How the released solution fares by criterion; nothing if nobody required anything."""
    return check_blocks(document.get("requirement_check") or [])


def check_blocks(rows: Sequence[Mapping[str, str]]) -> Iterable[Block]:
    """The check of a requirement: what is missed, and every criterion."""
    if not rows:
        return
    missed = sum(row["verdict"] == "not met" for row in rows)
    yield Paragraph("All that could be checked is met." if not missed else f"{missed:,} of {len(rows):,} are not met.")
    cells = [(row["criterion"], row["required"], row["actual"], row["verdict"]) for row in rows]
    marked = frozenset(number for number, row in enumerate(rows) if row["verdict"] == "not met")
    yield Table(("criterion", "required", "actual", "verdict"), cells, 9, marked=marked)
