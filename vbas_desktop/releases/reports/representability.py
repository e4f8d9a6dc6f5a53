"""The report on two files, and the table of their columns that reports of releases have too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vbas_desktop.analysis.representability.attributes import format_range
from vbas_desktop.analysis.representability.elements import (
    APPROACHES,
    ELEMENTS,
    NUMBER_FIGURES,
    OVERALL_MEASURES,
    format_shares,
)
from vbas_desktop.model.text import format_count

from .blocks import FOOT, LONGEST, Block, Pairs, Paragraph, Report, Section, Table, Tiles, rows_left_out
from .internal import check_blocks


def build_vector_report(vector: Mapping[str, Any], original: str, anonymised: str) -> Report:
    """Build the report: every element of the vector with what it means."""
    return Report(
        title=f"What {anonymised} is worth",
        banner=f"Compared with {original}; nothing here describes fewer than {vector['general']['k']:,} records.",
        internal=False,
        sections=tuple(section for section in _sections(vector) if section.blocks),
        foot=FOOT,
    )


def _sections(vector: Mapping[str, Any]) -> Iterable[Section]:
    yield Section("In short", (_tiles(vector), *_list_treatments(vector)))
    yield Section("Remarks", tuple(_warnings(vector["warnings"])))
    yield Section("The requirement", tuple(check_blocks(vector.get("requirement", []))))
    yield Section("How much remains", tuple(_overall(vector["overall"])))
    yield _element("per_class", _classes(vector["per_class"]))
    yield _element("excluded_attributes", _pairs(vector["excluded_attributes"], "No column is missing."))
    yield _element(
        "included_quasi_identifiers", [Paragraph(", ".join(vector["included_quasi_identifiers"]) + ".")]
    )
    yield _element("attributes", [attribute_table(vector["attributes"])])
    yield _element("excluded_classes", _list_removed(vector["excluded_classes"]))
    yield _element("coding", list(_coding(vector["coding"])))
    yield _element("sensitive_values", list(_sensitive(vector)))
    yield _element("weights", list(_weights(vector["weights"])))
    yield _element("general", [_general(vector["general"])])


def _element(name: str, blocks: Sequence[Block]) -> Section:
    title, text = ELEMENTS[name]
    return Section(title, (Paragraph(text, quiet=True), *blocks))


def _tiles(vector: Mapping[str, Any]) -> Tiles:
    overall = vector["overall"]
    general = vector["general"]
    return Tiles(
        [
            (_count(general["released_records"]), _of(general["original_records"])),
            (_number(overall["precision"]), "precision: how much of the hierarchies is left"),
            (_number(overall["jaccard"]), "Jaccard: how many pairs that belong together did so before"),
            ("yes" if vector["classes_below_k"]["k_anonymous"] else "no", f"{general['k']:,}-anonymous"),
        ]
    )


def _of(original: int | None) -> str:
    return "records released" if original is None else f"records released, of {original:,}"


def _list_treatments(vector: Mapping[str, Any]) -> list[Block]:
    done = vector["general"]["approaches"]
    if not done:
        return [Paragraph("Nothing was done to the records: all classes are as they were.")]
    return [
        Paragraph("What was recognised: "),
        Pairs([(APPROACHES[n], _records(r)) for n, r in done.items()]),
    ]


def _warnings(warnings: Sequence[Mapping[str, Any]]) -> Iterable[Block]:
    rows = [(each["column"] or "", each["message"], each["remedy"]) for each in warnings]
    if rows:
        yield Table(("column", "found", "what to do"), rows, 9)


def _overall(overall: Mapping[str, Any]) -> Iterable[Block]:
    rows = [
        (title, _number(overall.get(name)), text)
        for name, (title, text) in OVERALL_MEASURES.items()
        if name in overall
    ]
    yield Table(("measure", "value", "what it says"), rows, 1, 2)
    if overall.get("deleted_records") or overall.get("fabricated_records"):
        yield Paragraph(
            "Deleted records count as suppressed in every column and as one class of their own; made-up ones as one "
            "more class of the original."
        )
    coinciding = overall.get("davies_bouldin_coinciding_classes", 0)
    if coinciding:
        yield Paragraph(
            f"{format_count(coinciding, 'pair')} of released classes with the same centre left out of Davies–Bouldin."
        )
    if "davies_bouldin_reason" in overall:
        yield Paragraph(f"There is no Davies–Bouldin index: {overall['davies_bouldin_reason']}.")


def _classes(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    if not rows:
        return [Paragraph("No class is large enough to be shown.")]
    names = list(rows[0]["class"])
    cells = [
        (*(row["class"][name] for name in names), f"{row['records']:,}", _number(row["precision"]),
         _number(row["jaccard"]), _number(row["davies_bouldin"]), _count(row["original_classes"]))
        for row in rows[:LONGEST]
    ]  # fmt: skip
    heads = (*names, "records", "detail kept", "Jaccard", "Davies–Bouldin", "classes before")
    blocks: list[Block] = [Table(heads, cells, len(names))]
    if any(row["jaccard"] is None or row["davies_bouldin"] is None for row in rows):
        blocks.append(
            Paragraph(
                "–: would show how a few people were spread over the original classes.", quiet=True
            )
        )
    return [*blocks, *rows_left_out(len(rows), "representability.json")]


def _pairs(items: Mapping[str, str], otherwise: str) -> list[Block]:
    return [Pairs(list(items.items()))] if items else [Paragraph(otherwise)]


def _list_removed(gone: Mapping[str, Any]) -> list[Block]:
    rows = [
        (", ".join(f"{name} = {value}" for name, value in each["class"].items()), f"{each['records']:,}")
        for each in gone["classes"][:LONGEST]
    ]
    blocks: list[Block] = [Table(("class", "records"), rows)] if rows else []
    rest = gone["unnamed_records"]
    if rest != 0:
        blocks.append(
            Paragraph(f"In others, too small to be named or released in part: {_records(rest)}.")
        )
    return blocks or [Paragraph("No class is missing.")]


def _coding(coding: Mapping[str, Any]) -> Iterable[Block]:
    rows = [
        (name, f"{facts['height']:,}", facts["distance"], _levels(by_level))
        for name, facts in coding.items()
        for by_level in [facts["records_by_level"]]
    ]
    yield Table(("quasi-identifier", "levels", "values compared", "records by level"), rows, 1, 2)
    renamed = [name for name, facts in coding.items() if facts["renamed"]]
    if renamed:
        yield Paragraph(f"Values that only got other names, on level 0: {', '.join(renamed)}.")
    yield from description_blocks(coding)


def _levels(by_level: Mapping[str, int | None]) -> str:
    return "; ".join(f"{level}: {_records(records)}" for level, records in by_level.items())


def _sensitive(vector: Mapping[str, Any]) -> Iterable[Block]:
    for column, rows in vector["sensitive_values"].items():
        yield (
            _category_table(column, rows)
            if any("shares" in row for row in rows)
            else _number_table(column, rows)
        )
        yield from rows_left_out(len(rows), "representability.json")
    if not vector["sensitive_values"]:
        yield Paragraph("No sensitive column was named.")
    elif vector["sensitive_aggregated"]:
        yield Paragraph(
            "The released values are not those of the original records: they were aggregated or changed."
        )
    else:
        yield Paragraph("The released values are those of the original records.")


def _number_table(column: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    cells = [
        (
            ", ".join(row["class"].values()),
            _count(row["count"]),
            *(_number(row[name]) for name in NUMBER_FIGURES),
        )
        for row in rows[:LONGEST]
    ]
    return Table((f"class ({column})", "values", *NUMBER_FIGURES.values()), cells)


def _category_table(column: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    cells = [
        (
            ", ".join(row["class"].values()),
            _count(row["count"]),
            row["mode"] or "–",
            format_shares(row["shares"]),
        )
        for row in rows[:LONGEST]
    ]
    return Table((f"class ({column})", "values", "most frequent", "shares"), cells, 2, 3)


def _weights(weights: Mapping[str, Any]) -> Iterable[Block]:
    yield Pairs([(name, f"{weight:.3g}") for name, weight in weights["quasi_identifiers"].items()])
    levels = {
        name: ", ".join(f"{weight:g}" for weight in each) for name, each in weights["levels"].items()
    }
    if levels:
        yield Pairs([(f"levels of {name}", text) for name, text in levels.items()])
    if weights["levels_normalised"]:
        yield Paragraph("For Davies–Bouldin, the levels of all columns were put on one scale.")


def _general(general: Mapping[str, Any]) -> Pairs:
    return Pairs(
        [
            ("k", f"{general['k']:,}"),
            ("Records before", _describe_value(general["original_records"])),
            ("Records after", _describe_value(general["released_records"])),
            ("Records after, of those before", _share(general["sample_size_ratio"])),
        ]
    )


def _describe_value(number: int | None) -> str:
    return "not shown: fewer than k records could be worked out" if number is None else f"{number:,}"


def _share(value: float | None) -> str:
    return "not shown" if value is None else f"{100 * value:.4g} %"


def _records(number: int | None) -> str:
    if number is None:
        return "not shown"
    return format_count(number, "record")


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}" if abs(value) < 10 else f"{value:,.2f}"


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
            format_range(row["range"]),
            row["aim"] or "–",
            row["reason"] or "–",
        )
        for row in attributes
    ]
    return Table(("column", "use", "type", "range", "aim of collection", "reason"), rows, 9)


def description_blocks(coding: Mapping[str, Any]) -> Iterable[Block]:
    """Show what values mean in the custodian's own words, where there are any."""
    described = [
        (name, facts["description"]) for name, facts in coding.items() if facts.get("description")
    ]
    if described:
        yield Pairs(described)
