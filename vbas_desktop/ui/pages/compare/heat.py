"""The summary of a comparison as tables whose colours tell how far each approach is from the best. No Qt."""

from __future__ import annotations

from html import escape

from vbas_desktop.comparison.plan import COMPONENTS
from vbas_desktop.comparison.summary import Contest, Front, Summary
from vbas_desktop.comparison.words import COMPONENT_WORDS, measure_title
from vbas_desktop.domain.words import counted
from vbas_desktop.ui.theme import Colours

HOTTEST = 0.5
"""From this much above the best on, a cell has the full colour."""


def heat_of(contest: Contest, label: str) -> float | None:
    """How far the sum of an approach is above the lowest, as a share of that; None where sums cannot be compared."""
    totals = {standing.label: standing.total for standing in contest.standings}
    least = min(totals.values())
    if not contest.complete or (least <= 0 and totals[label] != least):
        return None
    return 0.0 if totals[label] == least else totals[label] / least - 1


def summary_html(summary: Summary, colours: Colours) -> str:
    """One table for each component of which several approaches were compared, and one of the unbeaten solutions."""
    comparison = summary.comparison
    parts = [
        f"<h4>{counted(len(comparison.finished), 'combination')} in "
        f"{counted(len(comparison.plan.scenarios), 'scenario')}, {counted(len(comparison.solutions), 'solution')}</h4>"
    ]
    for component in COMPONENTS:
        contests = [contest for contest in summary.contests if contest.component == component]
        if contests:
            parts.append(_contests(COMPONENT_WORDS[component], contests, colours))
    parts.append(_fronts(summary.fronts, colours))
    return "".join(parts)


def _contests(title: str, contests: list[Contest], colours: Colours) -> str:
    labels = sorted({standing.label for contest in contests for standing in contest.standings})
    rows = [["Measure", *labels]]
    shades: list[list[str]] = []
    for contest in contests:
        rows.append([measure_title(contest.measure), *(_cell(contest, label) for label in labels)])
        shades.append([_shade(heat_of(contest, label), colours) for label in labels])
    note = (
        "The sum over all comparisons against the lowest sum, and in how many comparisons the approach is lowest, with "
        "all else equal. The stronger the colour, the further from the best."
    )
    return f"<h4>{escape(title)}</h4>{_table(rows, shades)}<p>{note}</p>"


def _cell(contest: Contest, label: str) -> str:
    standing = next(each for each in contest.standings if each.label == label)
    heat = heat_of(contest, label)
    told = "–" if heat is None else "lowest" if heat == 0 else f"+{100 * heat:,.1f} %"
    return f"{told} ({standing.best:,} of {contest.comparisons:,})"


def _fronts(fronts: tuple[Front, ...], colours: Colours) -> str:
    labels = list(dict.fromkeys(label for front in fronts for label in front.by_label))
    rows, shades = [["Scenario", *labels]], []
    for front in fronts:
        numbers = [front.by_label.get(label, (0, 0)) for label in labels]
        rows.append([front.scenario.title, *(f"{kept:,} of {of:,}" for kept, of in numbers)])
        shades.append([_shade(HOTTEST * (1 - kept / of) if of else None, colours) for kept, of in numbers])
    note = "Unbeaten: no other solution of the scenario is as good in all measures that count and better in one."
    return f"<h4>Unbeaten solutions</h4>{_table(rows, shades)}<p>{note}</p>"


def _table(rows: list[list[str]], shades: list[list[str]]) -> str:
    head = "".join(f'<th align="left">{escape(text)}</th>' for text in rows[0])
    body = ""
    for (name, *cells), row in zip(rows[1:], shades, strict=True):
        body += f"<tr><td><b>{escape(name)}</b></td>"
        for text, shade in zip(cells, row, strict=True):
            words = f'<font color="{_ink(shade)}">{escape(text)}</font>'
            body += f'<td bgcolor="{shade}" align="right">{words}</td>'
        body += "</tr>"
    return f'<table cellspacing="1" cellpadding="5"><tr>{head}</tr>{body}</table>'


def _shade(heat: float | None, colours: Colours) -> str:
    if heat is None:
        return colours.base
    share = min(1.0, heat / HOTTEST)
    ends = zip(_parts(colours.base), _parts(colours.sequence[3]), strict=True)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in ends)


def _ink(shade: str) -> str:
    """Letters that can be read on a shade: the darker or the lighter of two."""
    red, green, blue = _parts(shade)
    return "#101418" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#f4f6f8"


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
