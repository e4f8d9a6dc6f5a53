"""How records are written to a file: what is left out, what orders the rows, what a spreadsheet must not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.domain.formulas import defused

from .declaration import Settings, setting
from .forms import Flag, Names

_GROUP = "writing"


def escaping(group: str) -> Any:
    """The setting that every written file of records has."""
    return setting(
        False,
        label="Escape &cells that a spreadsheet would run as formulas",
        help="Put an apostrophe before cells that a spreadsheet would run as a formula.",
        option="--escape-formulas",
        group=group,
        form=Flag(),
    )


@dataclass(frozen=True)
class Writing(Settings):
    """How a file that is no release is written; without ``shuffle_seed`` a fresh secret orders the rows."""

    identifiers: tuple[str, ...] = setting(
        (),
        label="Identifiers",
        help="Columns that are not written.",
        option="--identifiers",
        group=_GROUP,
        form=Names(),
    )
    shuffle_seed: str | None = setting(
        None,
        label="Seed of the order",
        help="Order the rows by this in place of a fresh secret; keep it to yourself.",
        option="--shuffle-seed",
        group=_GROUP,
    )
    escape_formulas: bool = escaping(_GROUP)

    def text(self, text: str) -> str:
        """A field, or the name of a column, as it is written."""
        return defused(text) if self.escape_formulas else text

    def row(self, row: Sequence[str]) -> Sequence[str]:
        """A row as it is written."""
        return [defused(text) for text in row] if self.escape_formulas else row
