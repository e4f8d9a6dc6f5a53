"""Whether the choices make a complete run, and if not, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.regions import Regions
from vbas_desktop.engine.limits import wrong_limits
from vbas_desktop.settings.run import COMPONENTS

from .choices import Choices
from .results import ProblemKey, grouping_entries, split_sensitive

if TYPE_CHECKING:
    from vbas_desktop.files.records.table import RecordTable


def key_of(choices: Choices) -> ProblemKey | None:
    """What the choices count; None while the region column or the quasi-identifiers are missing."""
    if choices.region_column is None or not choices.quasi_identifiers:
        return None
    groups = grouping_entries(choices.groupings_of(choices.quasi_identifiers))
    columns = choices.region_column, choices.quasi_identifiers
    return ProblemKey(*columns, choices.unknown_regions, choices.k, groups, *split_sensitive(choices.sensitive_columns))


def why_not_k(table: RecordTable | None, k: int) -> str | None:
    """Why nothing can be released with this k; None if something might be, or no records are loaded."""
    if table is None or k <= table.rows:
        return None
    return f"k is above the number of records ({table.rows:,}): nothing could be released. Choose a smaller k."


def why_not(table: RecordTable | None, regions: Regions | None, choices: Choices) -> str | None:
    """The first reason against running, as a sentence that says what to do."""
    if table is None or regions is None:
        return "Open a record file and a region file first."
    if choices.region_column is None:
        return "Say which column names the region: give it the role “region”."
    if not choices.quasi_identifiers:
        return "Choose at least one quasi-identifier."
    too_high = why_not_k(table, choices.k)
    if too_high is not None:
        return too_high
    too_many = [name for name in choices.quasi_identifiers if not table.facts(name).categorical]
    if too_many:
        return f"“{too_many[0]}” has too many different values for a quasi-identifier. Give it another role."
    for wrong in wrong_limits(choices.limiting, regions):
        return f"{wrong.message} {wrong.remedy}"
    for each in choices.sensitive_columns:
        if each.criteria and not table.facts(each.column).categorical:
            return f"“{each.column}” has too many different values for a criterion. Remove the criterion."
    for component in COMPONENTS:
        name = choices.approaches[component]
        if name not in approaches(component):
            return f"The approach “{name}” is not installed here. Choose another one."
        try:
            choices.make(component)
        except InputError as error:
            return error.findings[0].message
    return None
