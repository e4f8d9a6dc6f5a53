"""The paper on screening appointments: its running example and its two experiments beside ours."""

from __future__ import annotations

from typing import Any

from .markdown import table, vector

TABLE_5 = {"a": (3, 0, 0, 0, 1), "b": (2, 0, 0, 0, 0, 1), "c": (1, 1, 0, 0, 1), "d": (1, 0, 1, 1)}
TABLE_10 = {
    20: ("24 %", "1 %"),
    25: ("20 %", "2 %"),
    30: ("36 %", "5 %"),
    35: ("42 %", "12 %"),
    40: ("54 %", "14 %"),
    45: ("50 %", "14 %"),
    50: ("62 %", "10 %"),
    100: ("82 %", "–"),
    250: ("93 %", "–"),
    500: ("92 %", "–"),
    1000: ("92 %", "–"),
}
TABLE_11 = (
    (1, 65.4, 96.9, 82.6),
    (2, 1.7, 65.3, 34.4),
    (3, 35.8, 92.2, 58.8),
    (4, 9.5, 89.3, 53.7),
    (9, 0.0, 21.4, 3.6),
)


def screening_tables(results: dict[str, Any]) -> dict[str, str]:
    """Return the vectors of the running example and both experiments."""
    return {
        "screening vectors": _vectors(results),
        "screening table 10": _table_10(results),
        "screening table 11": _table_11(results),
    }


def _vectors(results: dict[str, Any]) -> str:
    plans = results["plans"]
    rows = [
        ["Table 4: before appointments", vector(plans["optimal"]["vector_before"]), "(0, 1, 0, 2, 1)"]
    ]
    for name, printed in TABLE_5.items():
        words = f"Table 5 ({name}), {results['table_5_indices'][name]} worse vectors of 8 people"
        rows.append([words, vector(results["table_5"][name]), vector(printed)])
    rows += [
        ["Table 6: one random schedule", vector(results["table_6"]), "(11, 2)"],
        ["Tables 8 and 9: optimal schedule", vector(plans["optimal"]["vector"]), "(0, 2, 1, 2)"],
        ["Algorithm 2 as its text says (`closest`)", vector(plans["closest"]["vector"]), "(2, 3, 1, 1)"],
        ["Algorithm 2 as listed (`listing`)", vector(plans["listing"]["vector"]), "(2, 3, 1, 1)"],
        ["the largest slot first (`largest`)", vector(plans["largest"]["vector"]), "(2, 3, 1, 1)"],
        ["random seats, drawn anew", vector(plans["random"]["vector"]), "–"],
    ]
    return table(["anonymity vector", "ours", "published"], rows)


def _table_10(results: dict[str, Any]) -> str:
    by_fill = {fill: {row["people"]: row for row in rows} for fill, rows in results["table_10"].items()}
    rows = []
    for people, (heuristic, optimal) in TABLE_10.items():
        mine = [_percent(found[f"{people:,}"]["heuristic"]) for found in by_fill.values()]
        left = [_percent(found[f"{people:,}"]["optimal over heuristic"]) for found in by_fill.values()]
        rows.append([f"{people:,}", *mine, heuristic, *left, optimal])
    many = [_percent(found[0]["heuristic"]) for found in results["many_classes"].values()]
    rows.append(["1,000, N/10 + 5 classes", *many, "35 %", *("–",) * len(by_fill), "–"])
    over_random = [f"`{fill}` over random" for fill in by_fill]
    over_heuristic = [f"optimal over `{fill}`" for fill in by_fill]
    heads = ["people", *over_random, "published", *over_heuristic, "published"]
    return table(heads, rows, numbers=len(heads) - 1)


def _percent(cell: str) -> str:
    """Return a printed percentage as the published ones are written."""
    return "–" if cell == "—" else cell.replace("%", " %")


def _table_11(results: dict[str, Any]) -> str:
    rows = []
    for row, (region, least, most, mean) in zip(results["table_11"], TABLE_11, strict=True):
        mine = [_percent(row[name]) for name in ("smallest", "largest", "mean")]
        rows.append([region, mine[0], f"{least} %", mine[1], f"{most} %", mine[2], f"{mean} %"])
    return table(
        ["region", "smallest", "published", "largest", "published", "mean", "published"], rows, numbers=6
    )
