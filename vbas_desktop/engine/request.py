"""What the engine runs: a problem, one approach per component, and the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vbas_desktop.approaches.interface import (
    Construction,
    Measure,
    Refinement,
    SiteLocation,
    SiteNumber,
    TierApproach,
)
from vbas_desktop.approaches.registry import expand_presets
from vbas_desktop.model.problem import Problem
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import ColumnRoles, RunSettings
from vbas_desktop.settings.sensitive import SensitiveSettings

_IN_PROBLEM = {
    *("k", "unknown_regions"),
    *(
        option.name
        for group in (ColumnRoles, ReadingSettings, SensitiveSettings)
        for option in group.options()
    ),
}
"""Options that have had their effect when the records are counted."""


@dataclass(frozen=True, eq=False)
class Request:
    """One run: a problem, one approach per component, and all settings.

    refinement: None keeps the aggregated regions as the construction made them.
    tiers: None releases every record in its aggregated region or not at all.
    measures: none are all that apply to the problem.
    settings: k and the columns are those of the problem, the approaches those above.
    """

    problem: Problem
    site_number: SiteNumber
    site_location: SiteLocation
    construction: Construction
    refinement: Refinement | None = None
    tiers: TierApproach | None = None
    measures: tuple[Measure, ...] = ()
    settings: RunSettings = field(default_factory=RunSettings)

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """Return the names of the measures that decide about dominance; empty for the usual ones."""
        return expand_presets(self.settings.pareto_measures or ())


def list_deciding_settings(settings: RunSettings) -> dict[str, Any]:
    """Return as JSON data the options that the results of a counted problem depend on, for the keys of caches."""
    deciding = {option.name for option in settings.options() if option.affects_result} - _IN_PROBLEM
    return {name: value for name, value in settings.as_dict().items() if name in deciding}
