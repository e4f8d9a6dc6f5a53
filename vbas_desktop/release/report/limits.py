"""What the aggregated regions had to keep to, and which wishes they do not meet."""

from __future__ import annotations

from collections.abc import Iterable

from vbas_desktop.domain.solution import Solution
from vbas_desktop.domain.words import counted
from vbas_desktop.engine.limits import TOLD

from .blocks import Block, Checks, Paragraph, Table

_LONGEST = 300


def limit_blocks(solution: Solution, regions: int) -> Iterable[Block]:
    """Each limit with whether it held, then every unmet wish with its region; nothing without limits."""
    told = solution.told.get(TOLD)
    if told is None:
        return
    unmet, concerned = sorted(told["unmet"], key=lambda each: str(each["region"])), regions - len(told["alone"])
    rows: list[tuple[bool, str, str]] = []
    if told["within"]:
        columns = ", ".join(f"“{column}”" for column in told["within"])
        rows.append((True, f"No region across boundaries of {columns}", f"{told['boundaries']:,} boundaries"))
    if told["alone"]:
        rows.append((True, "Regions that stay alone", counted(len(told["alone"]), "initial region")))
    for wish in told["wishes"]:
        for key, words in (("at_least", "at least"), ("at_most", "at most")):
            if wish[key]:
                short = sum(each["what"] == wish["what"] and key in each for each in unmet)
                apart = " that may be merged" if told["alone"] else ""
                kept = f"{concerned - short:,} of {counted(concerned, 'aggregated region')}{apart}"
                rows.append((not short, f"{wish['what'].capitalize()} of each region: {words} {wish[key]:,}", kept))
    yield Checks(rows)
    centres = told.get("centres")
    if centres is not None:
        unit = centres["unit"] if centres["unit"] == "km" else f"{centres['unit']}s"
        yield Paragraph(
            f"Middles of regions are weighted by “{centres['column']}”; the mean distance to them, weighted alike, is "
            f"{centres['mean_distance']:,.4g} {unit}."
        )
    if unmet:
        yield Paragraph(
            "What is not met; no neighbour was left inside the boundaries, or no region that could be parted:"
        )
        cells = [
            (
                each["region"],
                each["what"],
                f"at least {each['at_least']:,}" if "at_least" in each else f"at most {each['at_most']:,}",
                f"{each['has']:,}",
            )
            for each in unmet[:_LONGEST]
        ]
        yield Table(("aggregated region", "what", "wished", "has"), cells, 3)
    if len(unmet) > _LONGEST:
        yield Paragraph(f"{len(unmet) - _LONGEST:,} more are in run.json.", quiet=True)
