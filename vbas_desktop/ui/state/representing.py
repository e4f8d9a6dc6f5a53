"""What the page Representability shows (a solution, or any two files), and a requirement as texts of a form. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vbas_desktop.analysis.representability.attributes import format_range
from vbas_desktop.analysis.representability.elements import (
    APPROACHES,
    ELEMENTS,
    NUMBER_FIGURES,
    OVERALL_MEASURES,
    explain_measure,
    format_shares,
)
from vbas_desktop.analysis.representability.requirement import BOUNDED_MEASURES as BOUNDED
from vbas_desktop.analysis.representability.requirement import Bounds, Requirement, parse_requirement
from vbas_desktop.app.representability import RepresentabilityRequest, measure_representability
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.codecs import format_names, parse_names, parse_numbers, parse_pairs

from .documents import build_solution_check
from .scenario import ResultRow

_SAME_WITHIN = 0.002
"""Shares that differ by less are read as the same number."""

SHARES = ("precision", "jaccard", "fowlkes_mallows", "sample_size_ratio", "rand")
"""The measures that lie between 0 and 1."""


_CHANGED = ("The files changed since", ("Run again: the figures here are of the records as they were.",))
_COMPARED = {
    "given table": "by the given table",
    "matching": "by matching",
    "by range": "by range",
    "by rank": "by rank",
}


def find_constant_measures(entries: Sequence[ResultRow]) -> dict[str, float | None]:
    """List the measures that are (nearly) the same for all solutions, or defined for none, with that value."""
    if len({entry.solution.aggregated_regions for entry in entries}) < 2:
        return {}
    constant: dict[str, float | None] = {}
    for name in BOUNDED:
        values = [entry.solution.representability.get(name) for entry in entries]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        if not numbers:
            constant[name] = None
        elif len(numbers) == len(values) and max(numbers) - min(numbers) <= _SAME_WITHIN * max(
            1.0, abs(max(numbers))
        ):
            constant[name] = numbers[0]
    return constant


def alike_in_words(same: Mapping[str, float | None]) -> str:
    """Why some measures are not offered."""
    measures = [
        BOUNDED[name] + (" (not defined)" if value is None else f" ({value:.3g})")
        for name, value in same.items()
    ]
    return (
        f"Not offered, because all solutions are alike in it: {', '.join(measures)}." if measures else ""
    )


def numbers_of(text: str) -> dict[str, list[float]]:
    """``age=0.5/0.3, job=1`` as numbers by name; `InputError` if it is something else."""
    return parse_pairs(
        parse_names(text),
        parse_numbers,
        "“{}” is not understood.",
        "Write name=number, separated by commas.",
    )


def texts_by_name(text: str) -> dict[str, str]:
    """``phone=identifies, income=confidential`` as texts by name; `InputError` if it is something else."""
    return parse_pairs(
        parse_names(text), str, "“{}” is not understood.", "Write name=text, separated by commas."
    )


def levels_by_name(text: str) -> dict[str, int]:
    """Read ``age=1, job=2`` as levels by name; `InputError` if it is something else."""
    return parse_pairs(
        parse_names(text), int, "“{}” is not understood.", "Write name=level, separated by commas."
    )


def texts_of_names(texts: Mapping[str, str]) -> str:
    """Write texts by name as `texts_by_name` reads them."""
    return format_names([f"{name}={text}" for name, text in texts.items()])


def requirement_of(
    texts: Mapping[str, str], bounds: Mapping[str, tuple[str, str]], aggregated_ok: bool
) -> Requirement:
    """Build the requirement that a form states. Raises `InputError` with every field that cannot be understood."""
    overall = {name: _parse_bounds(BOUNDED[name], *bounds[name]) for name in BOUNDED if name in bounds}
    ratio = _parse_number("Share of records", texts.get("ratio", ""))
    k = _parse_bounds("k", texts.get("k_min", ""), texts.get("k_max", ""))
    stated = {
        "format_version": 1,
        "title": texts.get("title", "").strip(),
        "overall": {name: limits for name, limits in overall.items() if limits},
        "required_quasi_identifiers": parse_names(texts.get("quasi_identifiers", "")),
        "highest_level": {
            name: int(values[0]) for name, values in numbers_of(texts.get("levels", "")).items()
        },
        "required_classes": _parse_classes(texts.get("classes", ""), "required"),
        "unwanted_classes": _parse_classes(texts.get("unwanted", ""), "unwanted"),
        "no_aggregation": not aggregated_ok,
        "required_sensitive": parse_names(texts.get("sensitive", "")),
        "minimum_sample_ratio": ratio,
        "k": k or None,
        "weights": {name: values[0] for name, values in numbers_of(texts.get("weights", "")).items()},
    }
    return parse_requirement(stated)


def texts_of(requirement: Requirement) -> tuple[dict[str, str], dict[str, tuple[str, str]], bool]:
    """Fill the fields of a form that states this requirement."""
    texts = {
        "title": requirement.title,
        "quasi_identifiers": ", ".join(requirement.required_quasi_identifiers),
        "levels": ", ".join(f"{name}={level}" for name, level in requirement.highest_level.items()),
        "classes": _class_lines(requirement.required_classes),
        "unwanted": _class_lines(requirement.unwanted_classes),
        "sensitive": ", ".join(requirement.required_sensitive),
        "weights": ", ".join(f"{name}={weight:g}" for name, weight in requirement.weights.items()),
        "k_min": _format_bound(requirement.k, "min"),
        "k_max": _format_bound(requirement.k, "max"),
        "ratio": _format_number(requirement.minimum_sample_ratio),
    }
    bounds = {}
    for name in BOUNDED:
        limits = requirement.overall.get(name)
        bounds[name] = (_format_bound(limits, "min"), _format_bound(limits, "max"))
    return texts, bounds, not requirement.no_aggregation


def _format_bound(bounds: Bounds | None, side: str) -> str:
    return "" if bounds is None else _format_number(getattr(bounds, side))


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def _parse_number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(
            Finding("form", f"{name}: “{text}” is not a number.", "Write 0.8 for example.")
        ) from None


def _parse_bounds(name: str, low: str, high: str) -> dict[str, float]:
    """Parse a minimum and a maximum; an empty text is no bound."""
    limits = {"min": _parse_number(name, low), "max": _parse_number(name, high)}
    stated = {side: value for side, value in limits.items() if value is not None}
    if len(stated) == 2 and stated["min"] > stated["max"]:
        raise InputError(Finding("form", f"{name}: the minimum is above the maximum.", "Exchange them."))
    return stated


def _parse_classes(text: str, kind: str) -> tuple[dict[str, str], ...]:
    """Read classes, one on each line."""
    message = f"A class that is {kind} is not understood."
    remedy = "Write column=value, column=value on each line."
    return tuple(
        parse_pairs(parse_names(line), str, message, remedy)
        for line in text.splitlines()
        if line.strip()
    )


def _class_lines(classes: Sequence[Mapping[str, str]]) -> str:
    return "\n".join(
        ", ".join(f"{name}={value}" for name, value in values.items()) for values in classes
    )


@dataclass(frozen=True)
class MeasureText:
    """One measure for people. ``share`` is its place between 0 and 1, None if it has none."""

    name: str
    title: str
    text: str
    help: str
    share: float | None = None
    reading: str = ""


@dataclass(frozen=True)
class Description:
    """One version: its measures, its cards (title, lines) and its classes as a table."""

    title: str
    measures: tuple[MeasureText, ...]
    cards: tuple[tuple[str, tuple[str, ...]], ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    vector: Mapping[str, Any] = field(default_factory=dict)


FOR_RESEARCH = frozenset(
    ("fowlkes_mallows", "rand", "hubert", "entropy_loss", "davies_bouldin", "davies_bouldin_normalised")
)
"""Indices that are shown of solutions only where research is switched on."""


def without_research(description: Description) -> Description:
    """Return the description without the measures that only research asks for."""
    measures = tuple(measure for measure in description.measures if measure.name not in FOR_RESEARCH)
    return replace(description, measures=measures)


def compare_files(request: RepresentabilityRequest, progress: Progress) -> Description:
    """Compare two files and describe the result."""
    result = measure_representability(request, progress)
    return describe_pair(result.vector, parse_address(request.anonymised).name)


def measures_of(overall: Mapping[str, Any]) -> tuple[MeasureText, ...]:
    """List the overall measures that are there, in the order in which people ask for them."""
    measures = []
    for name, (title, help) in OVERALL_MEASURES.items():
        if name not in overall:
            continue
        value = overall[name]
        unit = f" {overall.get('distance_unit', '')}" if name == "mean_distance" else ""
        text = "–" if value is None else f"{value:.4f}" if value < 10 else f"{value:,.1f}"
        share = float(value) if name in SHARES and value is not None else None
        measures.append(
            MeasureText(name, title, (text + unit).strip(), help, share, explain_measure(name, value))
        )
    return tuple(measures)


def describe_solution(entry: ResultRow) -> Description:
    """Describe a solution by what was computed with it; its aggregated regions are added by `with_regions`."""
    vector = build_solution_check(entry).build_vector()
    run = entry.run
    facts = entry.solution.representability
    grouped = ", ".join(run.choices.groupings)
    reason = facts.get("davies_bouldin_reason")
    identifiers = ", ".join(run.choices.unreleased)
    cards = (
        *((_CHANGED,) if run.outdated else ()),
        ("Quasi-identifiers", (", ".join(vector["included_quasi_identifiers"]),)),
        (ELEMENTS["excluded_attributes"][0], (identifiers or "none",)),
        (
            ELEMENTS["coding"][0],
            (
                f"{run.key.region_column}: aggregated region",
                f"taken together: {grouped}" if grouped else "all other values as recorded",
            ),
        ),
        (ELEMENTS["sensitive_values"][0], ("as recorded, not aggregated",)),
        (
            ELEMENTS["general"][0],
            (
                f"k = {run.key.k:,}",
                run.title,
                f"{entry.solution.aggregated_regions:,} aggregated regions",
            ),
        ),
        ("Detail kept by column", _detail_by_column(facts)),
        ("With the suppressed as one class", _with_suppressed(facts)),
        (ELEMENTS["weights"][0], ("all columns alike",)),
        *((("No Davies–Bouldin index", (str(reason),)),) if reason else ()),
    )
    return Description(f"Solution {entry.title}", measures_of(facts), cards, vector=vector)


def _detail_by_column(facts: Mapping[str, Any]) -> tuple[str, ...]:
    by_column = facts.get("precision_by_column") or {}
    return tuple(f"{name} {value:.4f}" for name, value in by_column.items()) or ("nothing is released",)


def _with_suppressed(facts: Mapping[str, Any]) -> tuple[str, ...]:
    names = {"Detail kept": "precision", "Jaccard": "jaccard", "Fowlkes–Mallows": "fowlkes_mallows"}
    values = {words: facts.get(f"{name}_with_suppressed") for words, name in names.items()}
    figures = tuple(f"{words} {value:.4f}" for words, value in values.items() if value is not None)
    return figures or ("not computed",)


def with_regions(
    description: Description, codes: Sequence[str], columns: Sequence[tuple[str, Sequence[float]]]
) -> Description:
    """Return the description with a table of the aggregated regions: their codes, and (heading, value per region)."""
    headings = ("Region", *(heading for heading, _ in columns))
    rows = tuple(
        (code, *(float(values[row]) for _, values in columns)) for row, code in enumerate(codes)
    )
    return replace(description, headings=headings, rows=rows)


def describe_pair(vector: Mapping[str, Any], title: str) -> Description:
    """Describe the vector of two files."""
    k = vector["general"]["k"]
    general = vector["general"]
    done = tuple(f"{APPROACHES[name]}: {_records(n)}" for name, n in general["approaches"].items())
    gone = vector["excluded_classes"]
    names = list(vector["included_quasi_identifiers"])
    cards = (
        ("What was done", done or ("nothing",)),
        ("Quasi-identifiers", _attributes(vector, "quasi-identifier")),
        (ELEMENTS["excluded_attributes"][0], _attributes(vector, "excluded") or ("none",)),
        (
            ELEMENTS["excluded_classes"][0],
            (
                f"{len(gone['classes']):,} of at least k records",
                f"in others: {_records(gone['unnamed_records'])}",
            ),
        ),
        (ELEMENTS["coding"][0], tuple(_coding(vector))),
        (ELEMENTS["sensitive_values"][0], (_sensitive(vector),)),
        (
            ELEMENTS["weights"][0],
            tuple(
                f"{name} {weight:.3g}" for name, weight in vector["weights"]["quasi_identifiers"].items()
            ),
        ),
        (
            ELEMENTS["general"][0],
            (
                f"k = {k:,}",
                f"before: {_records(general['original_records'])}, after: {_records(general['released_records'])}",
                "no class is below k"
                if vector["classes_below_k"]["k_anonymous"]
                else "some classes are below k",
            ),
        ),
        *(
            (("Remarks", tuple(_remark(warning) for warning in vector["warnings"])),)
            if vector["warnings"]
            else ()
        ),
    )
    sensitive = _sensitive_columns(vector["sensitive_values"])
    measures = ("Records", "Detail kept", "Jaccard", "Davies–Bouldin", "Classes before")
    headings = (*names, *measures, *(heading for heading, _ in sensitive))
    rows = tuple(
        (
            *(row["class"][name] for name in names),
            row["records"],
            row["precision"],
            row["jaccard"],
            row["davies_bouldin"],
            row["original_classes"],
            *(values[number] for _, values in sensitive),
        )
        for number, row in enumerate(vector["per_class"])
    )
    return Description(title, measures_of(vector["overall"]), cards, headings, rows, vector)


def _sensitive_columns(
    sensitive: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[tuple[str, list[Any]]]:
    """List the figures of sensitive columns as (heading, value of each class); the classes are those of `per_class`."""
    columns: list[tuple[str, list[Any]]] = []
    for column, rows in sensitive.items():
        if any("shares" in row for row in rows):
            columns.append((f"{column} (shares)", [format_shares(row["shares"]) for row in rows]))
            continue
        for name, words in NUMBER_FIGURES.items():
            columns.append((f"{column} ({words})", [row[name] for row in rows]))
    return columns


def _attributes(vector: Mapping[str, Any], use: str) -> tuple[str, ...]:
    """Describe the columns of one use, one on each line."""
    lines = []
    for row in vector["attributes"]:
        if row["use"] == use:
            words = {"collected for": row["aim"], "because": row["reason"]}
            stated = "".join(f"; {word} {text}" for word, text in words.items() if text)
            lines.append(f"{row['name']}: {row['type']}, {format_range(row['range'])}{stated}")
    return tuple(lines)


def _remark(warning: Mapping[str, Any]) -> str:
    return (
        f"{warning['column']}: {warning['message']}"
        if warning.get("column")
        else str(warning["message"])
    )


def _coding(vector: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: "
        + "; ".join(f"{level} {_records(n)}" for level, n in facts["records_by_level"].items())
        + f"; compared {_COMPARED[facts['distance']]}"
        + ("; renamed only" if facts["renamed"] else "")
        + (f". {facts['description']}" if facts["description"] else "")
        for name, facts in vector["coding"].items()
    ]


def _sensitive(vector: Mapping[str, Any]) -> str:
    if not vector["sensitive_columns"]:
        return "none named"
    how = "aggregated or changed" if vector["sensitive_aggregated"] else "as recorded"
    return f"{', '.join(vector['sensitive_columns'])}: {how}"


def _records(number: int | None) -> str:
    return "not stated" if number is None else format_count(number, "record")
