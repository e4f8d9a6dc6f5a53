"""Parameters that several approaches have, declared once."""

from __future__ import annotations

from typing import Any

from .declaration import parameter


def seeding_parameter(option: str | None = None) -> Any:
    """The approach that an approach starts from."""
    return parameter(
        "balanced-density",
        label="Seeding",
        help="The approach that places the sites before they are moved.",
        option=option,
        kind="approach",
    )


def effort_parameter(usual: int, each: str) -> Any:
    """How long an annealing search lasts: moves for each site or initial region."""
    return parameter(
        usual,
        label="Effort",
        help=f"How many moves are tried for each {each}; ten times as many take ten times as long.",
        low=1,
        high=100_000,
    )


def weight_parameter() -> Any:
    """What distance costs in an annealing search."""
    return parameter(
        0.1,
        label="Weight of distance",
        help="What doubling the mean distance would cost, as a share of the records that were to be suppressed at the "
        "start: 0 looks at the records only, 1 keeps regions compact.",
        low=0.0,
        high=100.0,
    )
