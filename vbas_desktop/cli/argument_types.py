"""What the values of options may be, as argparse wants it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

from vbas_desktop.settings import forms

T = TypeVar("T")


def typed(parse: Callable[[str], T]) -> Callable[[str], T]:
    """An argument type of a function that says with a ValueError what would be allowed."""

    def checked(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


names = typed(forms.Names().parse)
"""The names of a comma-separated list; a name that contains a comma is put in double quotes."""

percent = typed(forms.Percent().parse)
"""A percentage above 0."""

sets_of_names = typed(forms.sets_of_names)
"""Lists of names separated by semicolons."""

delimiter_of = forms.Delimiter().value
"""A delimiter from its name or itself; None stays None."""


def whole(low: int) -> Any:
    """An argument type: whole numbers from ``low``."""
    return typed(forms.Whole(low=low).parse)


def numbers(low: int) -> Any:
    """An argument type: a comma-separated list of whole numbers from ``low``."""
    return typed(lambda text: [forms.Whole(low=low).parse(name) for name in forms.Names().parse(text)])
