"""What aggregated regions must keep to: boundaries that they never cross, and how much each should hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .declaration import Settings, setting, settings_of
from .forms import Ids, Names, Whole


@dataclass(frozen=True)
class Limiting(Settings, group="limits"):
    """Limits of aggregated regions. ``within`` and what stays alone always hold; the others are wishes (0: none)."""

    within: tuple[str, ...] = setting(
        (),
        label="Never across",
        help="Columns of the region file, such as county: no aggregated region has initial regions with different "
        "values in one of them.",
        form=Names(),
    )
    alone: tuple[str, ...] = setting(
        (),
        label="Stay alone",
        help="Ids of initial regions that are never merged with others; @FILE names a file with one id on each line.",
        form=Ids(),
    )
    alone_column: str | None = setting(
        None,
        label="Stay alone by column",
        help="Column of the region file: regions whose value is not empty, 0, no or false are never merged.",
        usual="none",
    )
    min_records: int = setting(
        0,
        label="Records at least",
        help="How many records each aggregated region should have at least, before suppression; 0 = any.",
        form=Whole("N"),
    )
    max_records: int = setting(
        0,
        label="Records at most",
        help="How many records each aggregated region should have at most, before suppression; 0 = any.",
        form=Whole("N"),
    )
    population_column: str | None = setting(
        None,
        label="Population column",
        help="Column of the region file with the number of inhabitants, or anything else that adds up.",
        usual="none",
    )
    min_population: int = setting(
        0,
        label="Population at least",
        help="The population that each aggregated region should have at least; 0 = any.",
        form=Whole("N"),
    )
    max_population: int = setting(
        0,
        label="Population at most",
        help="The population that each aggregated region should have at most; 0 = any.",
        form=Whole("N"),
    )
    centre_weights: str | None = setting(
        None,
        label="Centres weighted by",
        help="Column of the region file with the weights of initial regions in the middle of an aggregated region; "
        "growth, joining, merging and moved boundaries use these middles.",
        usual="all alike",
    )

    @property
    def limiting(self) -> Limiting:
        """The limits alone."""
        return Limiting(**self.part(Limiting))

    @property
    def any_limit(self) -> bool:
        """Whether anything is limited."""
        return self.limiting != Limiting()

    def limits_in_words(self) -> str:
        """What is not as usual, such as “Never across: county; Records at least: 200”; nothing without limits."""
        plain = self.chosen_limits()
        said = [each for each in settings_of(Limiting) if each.key in plain]
        return "; ".join(f"{each.label}: {each.form.text(plain[each.key])}" for each in said)

    def chosen_limits(self) -> dict[str, Any]:
        """What is not as usual, as plain data."""
        mine, usual = self.limiting.options(), Limiting().options()
        return {each.key: mine[each.key] for each in settings_of(Limiting) if mine[each.key] != usual[each.key]}
