"""How an approach declares what people see of it: its card and its parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbas_desktop.model.errors import Finding, InputError

_KEY = "vbas_parameter"


@dataclass(frozen=True)
class Card:
    """How an approach introduces itself.

    ``name`` is used in scripts, ``title`` in menus, ``summary`` (one sentence) as tool tip; ``when`` says when to
    choose it, ``formula`` and ``complexity`` go into the docs. ``reveals`` says what the released regions tell of small
    classes because of how the approach works; empty if they tell nothing.
    """

    name: str
    title: str
    summary: str
    formula: str = ""
    complexity: str = ""
    when: str = ""
    reveals: str = ""
    order: int = 100


@dataclass(frozen=True)
class Parameter:
    """The declaration of one parameter; ``kind`` is int, float, str, bool or "approach" (another approach, by name).

    ``required``: scripts must give it, because no default could be right for everybody. ``only_with``: it has an effect
    only while another parameter (by name) has that value, so that a form need not show it otherwise. ``instead``:
    scripts may write its value in place of the approach's name. ``region_columns``: names of columns of the region file
    that several regions share a value of, with commas; forms offer them in a list.
    """

    name: str
    kind: type | str
    default: Any
    label: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    option: str | None = None
    required: bool = False
    only_with: tuple[str, Any] | None = None
    instead: bool = False
    region_columns: bool = False

    def has_effect(self, values: Mapping[str, Any]) -> bool:
        """Whether it makes a difference beside these values of the approach's parameters."""
        return self.only_with is None or values.get(self.only_with[0]) == self.only_with[1]

    def parse(self, text: Any) -> Any:
        """The value from what a person typed; `InputError` says what would be allowed."""
        try:
            if self.kind is bool and isinstance(text, str):
                value: Any = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[
                    text.lower()
                ]
            elif self.kind is int:
                value = int(text)
            elif self.kind is float:
                value = float(text)
            else:
                value = text
        except (TypeError, ValueError, KeyError, OverflowError):
            raise self._refusal() from None
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Refuse a value of the wrong type or outside the bounds."""
        if self.kind == "approach":
            return
        numeric = self.kind in (int, float)
        wrong_type = (numeric and (isinstance(value, bool) or not isinstance(value, (int, float, np.number)))) or (
            self.kind in (str, bool) and not isinstance(value, self.kind)  # type: ignore[arg-type]
        )
        if wrong_type or (numeric and not _is_finite(value)) or (self.kind is int and int(value) != value):
            raise self._refusal()
        too_low = self.low is not None and value < self.low
        too_high = self.high is not None and value > self.high
        if too_low or too_high or (self.choices and value not in self.choices):
            raise self._refusal()

    def _refusal(self) -> InputError:
        return InputError(Finding("parameter", f"“{self.label}” must be {self.allowed}."))

    @property
    def allowed(self) -> str:
        """What may be entered, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind is bool:
            return "yes or no"
        words = {int: "a whole number", float: "a number"}.get(self.kind, "text")  # type: ignore[arg-type, call-overload]
        bounds = [f"at least {self.low:,.12g}"] if self.low is not None else []
        bounds += [f"at most {self.high:,.12g}"] if self.high is not None else []
        return f"{words} {' and '.join(bounds)}".strip()


def _is_finite(number: Any) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number with hundreds of digits
        return False


def parameter(default: Any, *, label: str, help: str, kind: type | str | None = None, **declared: Any) -> Any:
    """Declare a dataclass field as a parameter; the rest is as `Parameter` has it.

    ``option`` names a command-line option of its own (``--sites``).
    """
    made = Parameter("", kind or type(default), default, label, help, **declared)
    return dataclasses.field(default=default, metadata={_KEY: made})


def parameters_of(kind: type[Any]) -> tuple[Parameter, ...]:
    """The fields of a dataclass that are declared as parameters, in their order."""
    fields = [field for field in dataclasses.fields(kind) if _KEY in field.metadata]
    return tuple(dataclasses.replace(field.metadata[_KEY], name=field.name) for field in fields)


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
