"""Settings of a run: columns, k, suppression, range of site numbers, seed, approaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import UsageError
from vbas_desktop.model.solution import DEFAULT_LOSS_PERCENT

from .codecs import NameList, TextList
from .constraints import RegionConstraints
from .option import Level, OptionGroup, option
from .reading import ReadingSettings
from .sensitive import SensitiveSettings, check_sensitive, sensitive_columns

DEFAULTS: dict[str, str] = {
    "site_number": "limit",
    "site_location": "balanced-density",
    "construction": "voronoi",
    "refinement": "none",
    "tiers": "none",
}
"""The approach of each component unless another one is chosen: the finest regions within the allowed loss, even
populations."""

COMPONENTS = tuple(DEFAULTS)
"""The components of which exactly one approach is chosen. Of the other one, rating, any number is ticked."""

Parameters = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Component → approach → parameter → value."""

Groups = Mapping[str, Mapping[str, str]]
"""Column → value → group, for the columns whose categories are taken together."""


GENERALISED = {"no": (False,), "yes": (True,), "both": (False, True)}
"""Whether a comparison uses the groups, does not use them, or does both."""


class PrivacySettings(OptionGroup):
    """What every release must keep: k, and what happens to records that cannot be placed or protected."""

    title: ClassVar[str] = "Privacy"

    unknown_regions: Literal["stop", "suppress"] = option(
        "stop",
        label="If a record’s region is unkno&wn",
        help="What happens to records whose region is not in the region file.",
        titles={"stop": "Stop and list them", "suppress": "Suppress them"},
    )
    k: int = option(
        5,
        label="&k (minimum group size)",
        help="Every released combination occurs at least k times.",
        command_help="the smallest size of a released class (default: 5)",
        flag="-k",
        ge=1,
        metavar="K",
    )
    global_suppression: bool = option(
        True,
        label="Suppress combinations rare in all recor&ds first",
        help="They could not be released in any region; without them the rest needs less merging.",
        command_help="keep classes that are below k in the whole file until the regions are made",
        flag="--no-global-suppression",
    )


class SweepSettings(OptionGroup):
    """Numbers of sites to try, the measures that decide about dominance, and the random seed."""

    title: ClassVar[str] = "Range of site numbers"
    level: ClassVar[Level] = Level.APPROACHES

    range_step_percent: float = option(
        10.0,
        label="Step",
        help="Distance of the site numbers from each other, in percent of the approximated one.",
        flag="--range-step",
        gt=0,
        unit="%",
        enabled_when=("range_reach", lambda reach: reach > 0),
    )
    range_reach: int = option(
        2,
        label="Steps to each side",
        help="How many site numbers to each side; 0 = only the approximated one.",
        ge=0,
        soft_max=50,
    )
    pareto_measures: NameList | None = option(
        None,
        label="Measures of dominance",
        help="Measures that decide about dominance, or the name of a preset: usual (suppression and place) or thesis.",
        flag="--pareto",
        default_text="usual",
    )
    random_seed: int = option(
        0,
        label="Random seed",
        help="Seed of all random draws.",
        ge=0,
        level=Level.RESEARCH,
    )


class ExecutionSettings(OptionGroup):
    """Number of threads; the result is the same with any number."""

    title: ClassVar[str] = "Execution"

    workers: int = option(
        0,
        label="Threads",
        help="Threads; 0 = chosen automatically.",
        ge=0,
        affects_result=False,
    )


class ColumnRoles(OptionGroup):
    """Roles of the columns of the records."""

    title: ClassVar[str] = "Columns"

    region_column: str = option(
        "",
        label="Region column",
        help="Column of the records that names the region.",
        required=True,
        choices_from="record columns",
    )
    quasi_identifiers: NameList = option(
        (),
        label="Quasi-identifiers",
        help="Columns that make up the classes.",
        required=True,
        choices_from="record columns",
    )
    identifiers: NameList = option(
        (),
        label="Identifiers",
        help="Columns that are left out of the release.",
        choices_from="record columns",
    )
    sensitive: TextList = option(
        (),
        label="Sensitive columns",
        help="A column that nobody should learn about a person; repeatable.",
        metavar="COLUMN",
        choices_from="record columns",
    )


def allowed_loss_percent(parameters: Parameters) -> float:
    """Return the percentage of the records that may be suppressed, for the approach “limit” and the recommendation."""
    of_limit = parameters.get("site_number", {}).get("limit", {})
    return float(of_limit.get("allowed_loss_percent", DEFAULT_LOSS_PERCENT))


class RunSettings(
    ExecutionSettings,
    SweepSettings,
    SensitiveSettings,
    RegionConstraints,
    PrivacySettings,
    ReadingSettings,
    ColumnRoles,
):
    """All settings of a run.

    approaches: name of the approach of each component. parameters: those that are not the default. groupings: the
    categories that are replaced by broader ones.
    """

    approaches: Mapping[str, str] = Field(default_factory=lambda: dict(DEFAULTS))
    parameters: Parameters = Field(default_factory=dict)
    groupings: Groups = Field(default_factory=dict)

    @property
    def sensitive_columns(self) -> tuple[SensitiveColumn, ...]:
        """Return the sensitive columns with their benign values and criteria."""
        return sensitive_columns(self.sensitive, self)


def check_columns(settings: RunSettings) -> None:
    """Raise `UsageError` if a column has two roles."""
    roles = {
        "--quasi-identifiers": settings.quasi_identifiers,
        "--identifiers": settings.identifiers,
        "--sensitive": settings.sensitive,
    }
    for flag, chosen in roles.items():
        if settings.region_column in chosen:
            raise UsageError(f"“{settings.region_column}” is the region column; take it out of {flag}.")
    both = [name for name in settings.identifiers if name in settings.quasi_identifiers]
    if both:
        raise UsageError(f"“{both[0]}” is both a quasi-identifier and an identifier; choose one.")
    for name in settings.sensitive:
        if name in (*settings.quasi_identifiers, *settings.identifiers):
            other = "a quasi-identifier" if name in settings.quasi_identifiers else "an identifier"
            raise UsageError(f"“{name}” is both sensitive and {other}; choose one.")
    check_sensitive(settings.sensitive, settings)
