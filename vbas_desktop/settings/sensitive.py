"""What must hold for sensitive values: which of them do no harm, and the criteria of released classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vbas_desktop.model.criteria import Criterion, Sensitive
from vbas_desktop.model.errors import UsageError

from .declaration import Settings, setting
from .forms import Criteria, ValuesByColumn


@dataclass(frozen=True)
class Harm(Settings, group="sensitive values"):
    """Benign values, and criteria that a class must meet to be released."""

    benign: Mapping[str, tuple[str, ...]] = setting(
        {},
        label="Benign values",
        help="Values of a sensitive column that do no harm if they are learned, such as “none”; “(missing)” is the "
        "empty one; repeatable.",
        form=ValuesByColumn(),
    )
    criteria: tuple[Criterion, ...] = setting(
        (),
        label="Criteria",
        help="What the sensitive values of every released class must meet, or the class is suppressed like one below "
        "k: share:PERCENT (of the commonest harmful value at most), distinct:L, entropy:L, recursive:C,L, "
        "closeness:T or ordered-closeness:T; of one column or of all sensitive ones; repeatable.",
        option="--criterion",
        form=Criteria(),
    )


def sensitive_columns(columns: Sequence[str], harm: Harm) -> tuple[Sensitive, ...]:
    """Each sensitive column with what is said of it; those with criteria come first."""
    found = [
        Sensitive(
            name,
            harm.benign.get(name, ()),
            tuple(each.of(name) for each in harm.criteria if each.column in ("", name)),
        )
        for name in dict.fromkeys(columns)
    ]
    return tuple(sorted(found, key=lambda each: not each.criteria))


def check_sensitive(columns: Sequence[str], harm: Harm) -> None:
    """Nothing may be said of columns that are not sensitive: it would be without effect."""
    named = [("--benign", name) for name in harm.benign] + [("--criterion", each.column) for each in harm.criteria]
    for option, name in named:
        if not columns:
            raise UsageError(f"{option} needs --sensitive COLUMN: of which column?")
        if name and name not in columns:
            raise UsageError(f"{option}: “{name}” is not sensitive; name it with --sensitive.")
