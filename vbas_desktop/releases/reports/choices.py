"""The sections on what was chosen, what is protected, and the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.io.documents.run_options import report_lines
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import FileFormat
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem
from vbas_desktop.model.text import DELIMITER_NAMES, format_count
from vbas_desktop.settings.release import ReleaseOptions

from ..disclosure_checks import uses_records
from ..folder import ReleasedFile
from ..recipient_facts import PercentRange
from .blocks import Block, Pairs, Paragraph, Table

if TYPE_CHECKING:
    from .internal import InternalFacts


def protection_blocks(
    quasi_identifiers: Sequence[str],
    k: int,
    anonymity: int | None,
    in_tiers: bool = False,
    judged: Sequence[str] = (),
) -> list[Block]:
    """Describe what the release protects against and what not; ``judged`` are the sensitive columns with criteria."""
    names = ", ".join(f"“{name}”" for name in quasi_identifiers)
    smallest = anonymity or k
    dealt_with = "placed in larger areas or left out" if in_tiers else "left out"
    safe = (
        f"Whoever knows a person’s values of {names} and the place they live in finds at least {k:,} records "
        f"in the released file that fit equally well (the fewest are {smallest:,}), so no record can be tied to a "
        f"person by these columns with a chance above 1 in {smallest:,}. To reach this, small regions were merged "
        f"with their neighbours, and the records that still stood out were {dealt_with}."
    )
    checked = (
        "After writing, the file was read back by code that shares nothing with the one that wrote it, and counted "
        "again; see Verification."
    )
    return [Paragraph(safe), Paragraph(checked), Paragraph(_describe_limits(judged), quiet=True)]


def _describe_limits(judged: Sequence[str]) -> str:
    """Describe what the release does not protect against."""
    against = "This protects against recognising people by the quasi-identifiers and the region."
    if not judged:
        return (
            f"{against} It says nothing about the other columns: if they can be known to outsiders, or if all records "
            "of a class share a sensitive value, further protection is needed."
        )
    names = ", ".join(f"“{name}”" for name in judged)
    return (
        f"{against} Every released class also meets the criteria for {names}; see Sensitive values. Nothing is said "
        "of the other columns: if they can be known to outsiders, or are sensitive, further protection is needed."
    )


def column_blocks(k: int, counted: Sequence[str], others: Sequence[str]) -> Iterator[Block]:
    """Name the released columns for which k holds, and those for which it does not."""
    yield Pairs(
        [
            (f"Protected: every combination is shared by at least {k:,} records", ", ".join(counted)),
            ("Not protected: released as they are", ", ".join(others) or "none"),
        ]
    )


def files_table(files: Sequence[ReleasedFile]) -> Table:
    """List the files of the release with their checksums."""
    rows = [
        (
            Path(file.path).name,
            WHAT_FILES_ARE.get(Path(file.path).name, ""),
            f"{file.size_bytes:,}",
            file.sha256,
        )
        for file in files
    ]
    return Table(("file", "what it is", "bytes", "SHA-256"), rows, 2, 3)


COMPONENTS = {
    "site_number": "Number of sites",
    "site_location": "Site locations",
    "construction": "Merging of regions",
    "refinement": "Refinement of the merged regions",
    "tiers": "Larger areas for small classes",
}


CELLS = (
    "the Voronoi cells of the sites, clipped to the study area: every place belongs to the region of its nearest site; "
    "the cells reveal where the sites are"
)
"""What is said of shapes that are cells."""

MAPPED = (
    "by a map from the ids of the source; where an id stands for several initial regions, its records were divided "
    "among them by fixed shares, so the initial region of a single record is an assumption"
)
"""What is said of a region map."""


def describe_choices(facts: InternalFacts) -> list[tuple[str, str]]:
    """Names and values: columns, k, approaches, form of the released file."""
    problem = facts.plan.problem
    options = facts.options
    items = [
        ("k", f"{problem.k:,}: the fewest records that may share a combination of values in a region")
    ]
    items += [
        (f"Quasi-identifier “{categories.column}”", format_count(len(categories.values), "category"))
        for categories in problem.categories
    ]
    items += [
        (
            f"Grouped “{grouping.column}”",
            format_count(len(set(grouping.groups.values())), "group of values", "groups of values"),
        )
        for grouping in problem.groupings
    ]
    items.append(
        (f"Region column “{problem.region_column}”", "replaced by the code of the aggregated region")
    )
    if problem.regions.mapping is not None:
        items.append(("Initial regions of the records", MAPPED))
    items += [(name, _describe_approach(facts, component)) for component, name in COMPONENTS.items()]
    if facts.plan.cell_sites is not None:
        placed = (
            "by the records" if uses_records(facts.plan.solution) else "without regard to the records"
        )
        items.append(("Shapes", f"{CELLS}, which were placed {placed}"))
    changed = facts.plan.solution.diagnostics.get("obstacles")
    if changed is not None:
        items.append(
            ("Changed because of obstacles", describe_changed_regions(changed, len(problem.regions)))
        )
    items.append(("Coordinates", describe_coordinates(problem.regions.system)))
    if options.identifiers:
        items.append(("Columns left out", ", ".join(options.identifiers)))
    if options.columns is not None:
        items.append(("Columns chosen", ", ".join(options.columns)))
    items += [
        (f"Column “{old}”", f"is called “{new}” in the release") for old, new in options.renames.items()
    ]
    items += describe_file(facts.table.file_format, options, facts.written.encoding)
    return [*items, *report_lines(facts.document.get("options") or {})]


def describe_changed_regions(diagnostics: Mapping[str, Any], regions: int) -> str:
    """State how many initial regions have another site because of the obstacles."""
    return (
        f"{diagnostics['changed_regions']:,} of {format_count(regions, 'initial region')} "
        f"({diagnostics['changed_percent']:.1f} %) have "
        f"another site than the nearest, because of {format_count(diagnostics['obstacles'], 'obstacle')}"
    )


def _describe_approach(facts: InternalFacts, component: str) -> str:
    solution = facts.plan.solution
    name = solution.approaches.get(component, "")
    kind = list_approaches(component).get(name)
    if kind is None:
        return name
    settings = solution.parameters.get(component, {})
    without_effect = {
        parameter.name for parameter in kind.options() if not parameter.is_effective(settings)
    }
    files = {parameter.name for parameter in kind.options() if parameter.metavar == "FILE"}
    shown_parameters = ", ".join(
        f"{key} = {Path(value).name if key in files else _format_parameter(value)}"
        for key, value in settings.items()
        if key not in without_effect and value != ""
    )
    return f"{kind.metadata.title}: {kind.metadata.summary}{f' ({shown_parameters})' if shown_parameters else ''}"


def _format_parameter(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("name", ""))
    return "yes" if value is True else "no" if value is False else str(value)


def describe_file(
    file_format: FileFormat, options: ReleaseOptions, encoding: str
) -> list[tuple[str, str]]:
    """Describe the form of the released file."""
    items = [("Order of the rows", "random" if options.shuffle else "as in the record file")]
    if options.class_size:
        items.append(
            (f"Added column “{options.class_size}”", "how many released records share the row’s values")
        )
    if options.record_key:
        description = "a random key of each record, another one in every release; "
        description += "who has which key is known inside only"
        items.append((f"Added column “{options.record_key}”", description))
    if options.aggregate:
        names = ", ".join(f"“{options.renames.get(name, name)}”" for name in options.aggregate)
        where = (
            "every class"
            if options.aggregate_below is None
            else f"classes of fewer than {options.aggregate_below:,}"
        )
        description = (
            f"{names}: one value for all records in {where} (mean of numbers, most frequent category)"
        )
        items.append(("Aggregated values", description))
    return [*items, ("Form of the file", _describe_format(file_format, options, encoding))]


def describe_coordinates(system: CoordinateSystem) -> str:
    """Describe the coordinate system of the regions."""
    if system.kind is CoordinateKind.GEOGRAPHIC:
        return f"longitude and latitude, projected for computing ({_name_system(system.definition)})"
    if system.kind is CoordinateKind.DEGREES:
        return "raw degrees, latitude first"
    return f"plane coordinates as in the region file ({_name_system(system.definition)})"


def _name_system(definition: str | None) -> str:
    return (
        "system not known"
        if definition is None
        else definition
        if len(definition) < 40
        else "as the file says"
    )


def _describe_format(file_format: FileFormat, options: ReleaseOptions, encoding: str) -> str:
    """Describe the format of the released file."""
    if options.format == "parquet":
        return "Parquet"
    mark = options.release_delimiter or file_format.delimiter or ","
    escaped = ", formulas escaped" if options.escape_formulas else ""
    return f"CSV, {DELIMITER_NAMES.get(mark, mark)} between fields, encoding {encoding}{escaped}"


WHAT_FILES_ARE = {
    "anonymized.csv": "the released records",
    "anonymized.parquet": "the released records",
    "crosswalk.csv": "the aggregated region of each initial region",
    "aggregated_regions.csv": "the aggregated regions with their middle and their records",
    "aggregated_regions.geojson": "their shapes, for maps",
    "aggregated_regions.gpkg": "their shapes as a GeoPackage",
    "class_counts.csv": "the number of released records of each class",
    "representability.json": "how much of the geography the release keeps",
}
"""What each file of the release is for."""


def list_filters_for_recipients(columns: tuple[str, ...], share: PercentRange) -> list[tuple[str, str]]:
    """Say by which columns records were chosen; no value is named."""
    if not columns:
        return []
    names = ", ".join(f"“{name}”" for name in columns)
    return [("Records chosen by", f"{names}; of the file’s records left out: {share}")]


def list_filters(problem: Problem) -> list[tuple[str, str]]:
    """List the filters with their files, for the internal report."""
    selection = problem.selection
    if selection is None:
        return []
    titles = {"keep_records": "Required combinations", "drop_records": "Unwanted combinations"}
    items = []
    for name, file in selection.files:
        columns = ", ".join(f"“{column}”" for column in file.columns)
        listed = format_count(len(file.rows), "combination")
        where = f"{Path(file.source.path).name}, SHA-256 {file.source.sha256}"
        items.append((titles[name], f"{listed} of {columns} ({where})"))
    return [*items, ("Records left out by them", f"{selection.records_left_out:,}")]
