"""Options of the plan and of its constraints, as people enter them."""

from __future__ import annotations

from typing import ClassVar, Literal

from vbas_desktop.settings.option import OptionGroup, option

from .greedy_planner import CLOSEST, LARGEST, LISTING
from .inputs import SideConstraints


class PlanningOptions(OptionGroup):
    """Parameters that planners have; each planner uses some of them. ``time_limit`` is in seconds."""

    title: ClassVar[str] = "Planning"
    fill: Literal["closest", "listing", "largest"] = option(
        CLOSEST,
        label="Split classes",
        help="Which slot a class fills first if it fits into none. Half and half: the one closest to half of the "
        "class. At most half: the largest with at most half, as the source's listing says. Largest slot first: as in "
        "its printed example.",
        titles={CLOSEST: "half and half", LISTING: "at most half", LARGEST: "largest slot first"},
    )
    time_limit: float = option(
        10.0,
        label="Time limit",
        help="The best plan found by then is kept.",
        ge=0.1,
        le=86_400.0,
        unit="s",
    )
    random_seed: int = option(
        0,
        label="Random seed",
        help="Of the random plan that others are compared with.",
        ge=0,
    )


class ConstraintOptions(OptionGroup):
    """Constraints of a plan. ``within_km`` None: any distance. ``largest_share_percent`` is of people or of seats."""

    title: ClassVar[str] = "Constraints"
    same_region: bool = option(
        False,
        label="Own region onl&y",
        help="Everybody gets a slot of their own region; both files need a region column.",
    )
    within_km: float | None = option(
        None,
        label="Not farther than",
        help="From the point of one's region to the slot.",
        ge=0,
        soft_max=100_000,
        unit="km",
        unset_text="any",
    )
    group_column: str | None = option(
        None,
        label="Groups by",
        help="A quasi-identifier; its values are groups for the next three fields.",
        choices_from="quasi-identifiers",
        unset_text="none",
    )
    majority: str | None = option(
        None,
        label="Majority",
        help="A value of that column: the next two limits are then about all other groups together.",
        choices_from="values",
        unset_text="none",
        enabled_when=("group_column", bool),
    )
    largest_share_percent: float = option(
        100.0,
        label="Most of a slot",
        help="With a majority: the largest share of the people in a slot for all other groups together. Without: the "
        "largest share of the seats for each group (planner Optimal).",
        ge=1,
        le=100,
        unit="%",
        enabled_when=("group_column", bool),
    )
    fewest_groups: int = option(
        1,
        label="Fewest groups",
        help="With a majority: the least number of different other groups in a slot where there are any. Without: of "
        "groups in every slot that is used (planner Optimal).",
        ge=1,
        soft_max=1_000,
        enabled_when=("group_column", bool),
    )

    def constraints(self) -> SideConstraints:
        """Return the constraints that a plan is made with."""
        return SideConstraints(
            same_region=self.same_region,
            within_km=self.within_km,
            group_column=self.group_column,
            largest_share=self.largest_share_percent / 100,
            fewest_groups=self.fewest_groups,
            majority=self.majority,
        )
