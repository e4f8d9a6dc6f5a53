"""Constraints on aggregated regions: boundaries that they never cross, and how much each of them should hold."""

from __future__ import annotations

from typing import Any, ClassVar

from .codecs import IdList, NameList
from .option import OptionGroup, changed_options, option


class RegionConstraints(OptionGroup):
    """Constraints on aggregated regions.

    ``within``, ``alone`` and ``alone_column`` always hold; the sizes are met as far as possible (0: no limit).
    """

    title: ClassVar[str] = "Limits"
    within: NameList = option(
        (),
        label="Never across",
        help="Columns of the region file, such as county: no aggregated region has initial regions with different "
        "values in one of them.",
        choices_from="region labels",
    )
    alone: IdList = option(
        (),
        label="Stay alone",
        help="Ids of initial regions that are never merged with others; @FILE names a file with one id on each line.",
    )
    alone_column: str | None = option(
        None,
        label="Stay alone by column",
        help="Column of the region file: regions whose value is not empty, 0, no or false are never merged.",
        default_text="none",
        choices_from="region columns",
    )
    min_records: int = option(
        0,
        ge=0,
        titles={0: "Any"},
        label="Records at least",
        help="How many records each aggregated region should have at least, before suppression; 0 = any.",
    )
    max_records: int = option(
        0,
        ge=0,
        titles={0: "Any"},
        label="Records at most",
        help="How many records each aggregated region should have at most, before suppression; 0 = any.",
    )
    population_column: str | None = option(
        None,
        label="Population column",
        help="Column of the region file with the number of inhabitants, or anything else that adds up.",
        default_text="none",
        choices_from="region numbers",
    )
    min_population: int = option(
        0,
        ge=0,
        titles={0: "Any"},
        label="Population at least",
        help="The population that each aggregated region should have at least; 0 = any.",
    )
    max_population: int = option(
        0,
        ge=0,
        titles={0: "Any"},
        label="Population at most",
        help="The population that each aggregated region should have at most; 0 = any.",
    )
    centre_weights: str | None = option(
        None,
        label="Centres weighted by",
        help="Column of the region file with the weights of initial regions in the middle of an aggregated region; "
        "growth, joining, merging and moved boundaries use these middles.",
        default_text="all alike",
        choices_from="region numbers",
    )

    @property
    def limiting(self) -> RegionConstraints:
        """Return the constraints without the other settings that a subclass has."""
        return RegionConstraints(
            **{item.name: getattr(self, item.name) for item in RegionConstraints.options()}
        )

    @property
    def any_limit(self) -> bool:
        """Tell whether anything is limited."""
        return self.limiting != RegionConstraints()

    def limits_in_words(self) -> str:
        """Format the limits, such as “Never across: county; Records at least: 200”; empty without limits."""
        chosen = changed_options(RegionConstraints(), self.limiting)
        return "; ".join(f"{item.title}: {item.summarise(getattr(self, item.name))}" for item in chosen)

    def chosen_limits(self) -> dict[str, Any]:
        """Return the limits that are not the default, as JSON data by name."""
        data = self.limiting.as_dict()
        return {
            item.name: data[item.name] for item in changed_options(RegionConstraints(), self.limiting)
        }
