"""Settings of sensitive columns: values that do no harm, and the criteria of released classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import UsageError

from .codecs import CriterionList, ValuesByColumn
from .option import OptionGroup, option


class SensitiveSettings(OptionGroup):
    """Benign values, and criteria that a class must meet to be released."""

    title: ClassVar[str] = "Sensitive values"
    benign: ValuesByColumn = option(
        {},
        label="Benign values",
        help="Values of a sensitive column that do no harm if they are learned, such as “none”; “(missing)” is the "
        "empty one; repeatable.",
    )
    criteria: CriterionList = option(
        (),
        label="Criteria",
        help="What the sensitive values of every released class must meet, or the class is suppressed like one below "
        "k: share:PERCENT (of the commonest harmful value at most), distinct:L, entropy:L, recursive:C,L, "
        "closeness:T or ordered-closeness:T; of one column or of all sensitive ones; repeatable.",
        flag="--criterion",
    )


def sensitive_columns(columns: Sequence[str], harm: SensitiveSettings) -> tuple[SensitiveColumn, ...]:
    """List the sensitive columns with their benign values and criteria; those with criteria come first."""
    declared = [
        SensitiveColumn(
            name,
            harm.benign.get(name, ()),
            tuple(criterion.of(name) for criterion in harm.criteria if criterion.column in ("", name)),
        )
        for name in dict.fromkeys(columns)
    ]
    return tuple(sorted(declared, key=lambda criterion: not criterion.criteria))


def check_sensitive(columns: Sequence[str], harm: SensitiveSettings) -> None:
    """Raise `UsageError` if there are benign values or criteria of columns that are not sensitive."""
    named = [("--benign", name) for name in harm.benign]
    named += [("--criterion", criterion.column) for criterion in harm.criteria]
    for flag, name in named:
        if not columns:
            raise UsageError(f"{flag} needs --sensitive COLUMN: of which column?")
        if name and name not in columns:
            raise UsageError(f"{flag}: “{name}” is not sensitive; name it with --sensitive.")
