"""Settings of the search for risky combinations and of the coarsening that removes them."""

from __future__ import annotations

from typing import ClassVar, Literal

from vbas_desktop.settings.option import OptionGroup, option

from .recoding_loop import EMPTY_NUMBERS, GENTLE, PAIR_NUMBERS, TRIM_DIVISOR


class RecodingSettings(OptionGroup):
    """Settings of the search and of the coarsening.

    ``max_size`` None: all sizes. ``numbers`` None: as the strategy does. ``suppression_percent`` is of the records.
    """

    title: ClassVar[str] = "Search and coarsening"
    k: int = option(
        3,
        label="k",
        help="Values that fewer records share are risky.",
        flag="-k",
        ge=1,
        soft_max=1_000_000,
    )
    max_size: int | None = option(
        None,
        label="Largest size",
        help="Most columns in a listed combination; coarsening looks at all.",
        ge=1,
        soft_max=100,
        unset_text="all",
    )
    strategy: Literal["gentle", "cover", "paper"] = option(
        GENTLE,
        label="Coarsen",
        help="Gently: few records go or values are grouped, one change a step; a column is emptied last. Few columns: "
        "a smallest set that hits every risky combination. Every column: all that occur in one.",
        titles={"gentle": "Gently", "cover": "Few columns", "paper": "Every column"},
    )
    suppression_percent: float = option(
        1.0,
        label="May be suppressed",
        help="Share of the records that may go instead of emptying a column.",
        ge=0,
        le=99,
        unit="%",
    )
    trim_divisor: int = option(
        TRIM_DIVISOR,
        label="Trim divisor",
        help="Texts without a rule lose the length of the shortest one divided by this.",
        ge=1,
        soft_max=1_000,
    )
    numbers: Literal["null", "pairs"] | None = option(
        None,
        label="Numbers",
        help="Columns of numbers without a rule: emptied, or neighbouring numbers joined in pairs. By strategy: "
        "emptied with “Every column”, otherwise in pairs.",
        titles={None: "by strategy", EMPTY_NUMBERS: "emptied", PAIR_NUMBERS: "in pairs"},
    )
