"""The sections of the reports on sensitive values: what released classes give away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.release.disclosure import Told
from vbas_desktop.release.plan import Plan

from .blocks import Block, Paragraph, Table

_INTRODUCTION = (
    "Whoever knows that a person is in a released class learns how the sensitive values of that class are spread, even "
    "if no record can be tied to the person. If all of them have the same value, it is given away."
)
_FIGURES = (
    (
        "largest_share_percent",
        "Largest share of one harmful value",
        "in a released class; at 100 % it is certain",
    ),
    ("least_distinct", "Fewest different values", "in a released class that has a harmful one (distinct l-diversity)"),
    ("least_entropy", "Least even spread", "as a number of equally frequent values (entropy l-diversity)"),
    ("largest_closeness", "Largest distance from all released records", "0 to 1, total variation (t-closeness)"),
    ("largest_ordered_closeness", "The same along the order of the numbers", "0 to 1 (t-closeness, ordered)"),
)


def sensitive_blocks(plan: Plan) -> Iterable[Block]:
    """For the file: every figure, and what was suppressed; nothing if no column is sensitive."""
    solution = plan.solution
    if not solution.sensitive:
        return
    yield Paragraph(_INTRODUCTION)
    chosen = {each.column: each.chosen for each in plan.problem.sensitive}
    for column, figures in solution.sensitive.items():
        yield Paragraph(f"“{column}”: {_asked(chosen[column])}")
        yield Table(("figure", "value", "what it says"), _rows(figures), 1, 2)
        yield Paragraph(_given_away(figures))
    if plan.problem.judged_columns:
        yield Paragraph(
            f"{solution.suppressed_sensitive:,} records are in classes of {plan.problem.k:,} or more that were "
            "suppressed because of their sensitive values."
        )


def recipients_sensitive(told: Told) -> Iterable[Block]:
    """For the recipient: what was asked for, and what the released file itself shows."""
    if not told.sensitive:
        return
    yield Paragraph(_INTRODUCTION)
    for each in told.sensitive:
        demand = f"every released class has {' and '.join(each.criteria)}" if each.criteria else "nothing was asked for"
        yield Paragraph(f"“{each.name}”: {demand}. Values that were declared harmless do not count as harm.")
        if each.figures:
            yield Table(("figure", "value", "what it says"), _rows(each.figures), 1, 2)


def _asked(chosen: Sensitive) -> str:
    demands = " and ".join(each.in_words for each in chosen.criteria)
    asked = f"a class is released only if it has {demands}." if demands else "nothing was asked for."
    benign = ", ".join(f"“{value}”" for value in chosen.benign)
    return f"{asked} Benign values: {benign}." if benign else asked


def _given_away(figures: Mapping[str, Any]) -> str:
    classes, records = figures["one_value_classes"], figures["one_value_records"]
    if not classes:
        return "No released class has one harmful value only."
    return (
        f"In {classes:,} of {figures['classes']:,} released classes all records have the same harmful value: of "
        f"{records:,} people it is given away."
    )


def _rows(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (title, _text(name, figures[name]), meaning)
        for name, title, meaning in _FIGURES
        if figures.get(name) is not None
    ]


def _text(name: str, value: float) -> str:
    if name.endswith("percent"):
        return f"{value:.3g} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
