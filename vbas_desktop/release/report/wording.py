"""The choices of a release in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem
from vbas_desktop.model.words import DELIMITER_NAMES, counted
from vbas_desktop.release.cells import uses_records
from vbas_desktop.settings.command import settings_in_words
from vbas_desktop.settings.release import ReleaseOptions

if TYPE_CHECKING:
    from .shared import Facts

COMPONENTS = {
    "site_number": "Number of sites",
    "site_location": "Site locations",
    "construction": "Merging of regions",
    "refinement": "Refinement of the merged regions",
    "tiers": "Larger places for small classes",
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


def choices_in_words(facts: Facts) -> list[tuple[str, str]]:
    """Names and values: columns, k, approaches, form of the released file."""
    problem, options = facts.plan.problem, facts.options
    items = [("k", f"{problem.k:,}: the fewest records that may share a combination of values in a region")]
    items += [
        (f"Quasi-identifier “{categories.column}”", counted(len(categories.values), "category"))
        for categories in problem.categories
    ]
    items += [
        (
            f"Grouped “{grouping.column}”",
            counted(len(set(grouping.groups.values())), "group of values", "groups of values"),
        )
        for grouping in problem.groupings
    ]
    items.append((f"Region column “{problem.region_column}”", "replaced by the code of the aggregated region"))
    if problem.regions.mapping is not None:
        items.append(("Initial regions of the records", MAPPED))
    items += [(name, _approach(facts, component)) for component, name in COMPONENTS.items()]
    if facts.plan.cell_sites is not None:
        placed = "by the records" if uses_records(facts.plan.solution) else "without regard to the records"
        items.append(("Shapes", f"{CELLS}, which were placed {placed}"))
    changed = facts.plan.solution.told.get("obstacles")
    if changed is not None:
        items.append(("Changed because of obstacles", changed_in_words(changed, len(problem.regions))))
    items.append(("Coordinates", coordinates(problem.regions.system)))
    if options.identifiers:
        items.append(("Columns left out", ", ".join(options.identifiers)))
    if options.columns is not None:
        items.append(("Columns chosen", ", ".join(options.columns)))
    items += [(f"Column “{old}”", f"is called “{new}” in the release") for old, new in options.renames.items()]
    items += file_in_words(facts.table.dialect, options, facts.written.encoding)
    return [*items, *settings_in_words(facts.document.get("options") or {})]


def changed_in_words(told: Mapping[str, Any], regions: int) -> str:
    """How many initial regions have another site because of the obstacles."""
    return (
        f"{told['changed_regions']:,} of {counted(regions, 'initial region')} ({told['changed_percent']:.1f} %) have "
        f"another site than the nearest, because of {counted(told['obstacles'], 'obstacle')}"
    )


def _approach(facts: Facts, component: str) -> str:
    solution = facts.plan.solution
    name = solution.approaches.get(component, "")
    kind = approaches(component).get(name)
    if kind is None:
        return name
    settings = solution.parameters.get(component, {})
    idle = {parameter.name for parameter in kind.parameters() if not parameter.has_effect(settings)}
    told = ", ".join(f"{key} = {_plain(value)}" for key, value in settings.items() if key not in idle)
    return f"{kind.card.title}: {kind.card.summary}{f' ({told})' if told else ''}"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("name", ""))
    return "yes" if value is True else "no" if value is False else str(value)


def file_in_words(dialect: Dialect, options: ReleaseOptions, encoding: str) -> list[tuple[str, str]]:
    """What the released file is like."""
    items = [("Order of the rows", "random" if options.shuffle else "as in the record file")]
    if options.class_size:
        items.append((f"Added column “{options.class_size}”", "how many released records share the row’s values"))
    if options.record_key:
        told = "a random key of each record, another one in every release; who has which key is known inside only"
        items.append((f"Added column “{options.record_key}”", told))
    if options.aggregate:
        names = ", ".join(f"“{options.renames.get(name, name)}”" for name in options.aggregate)
        where = (
            "every class" if options.aggregate_below is None else f"classes of fewer than {options.aggregate_below:,}"
        )
        told = f"{names}: one value for all records in {where} (mean of numbers, most frequent category)"
        items.append(("Aggregated values", told))
    return [*items, ("Form of the file", _form(dialect, options, encoding))]


def coordinates(system: CoordinateSystem) -> str:
    """What the coordinates of the regions are."""
    if system.kind is CoordinateKind.GEOGRAPHIC:
        return f"longitude and latitude, projected for computing ({_system_name(system.definition)})"
    if system.kind is CoordinateKind.DEGREES:
        return "raw degrees, latitude first"
    return f"plane coordinates as in the region file ({_system_name(system.definition)})"


def _system_name(definition: str | None) -> str:
    return "system not known" if definition is None else definition if len(definition) < 40 else "as the file says"


def _form(dialect: Dialect, options: ReleaseOptions, encoding: str) -> str:
    """How the released file is written."""
    if options.format == "parquet":
        return "Parquet"
    mark = options.delimiter or dialect.delimiter or ","
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
