"""What the values of options may be: lists of names, whole numbers, percentages, delimiters."""

from __future__ import annotations

import argparse
import csv
import math
from typing import Any

from vbas_desktop.domain.words import DELIMITER_NAMES

_DELIMITERS = {name: mark for mark, name in DELIMITER_NAMES.items()} | {"\\t": "\t", "space": " "}


def names(text: str) -> list[str]:
    """The names of a comma-separated list; a name that contains a comma is put in double quotes."""
    found = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not found or not all(found):
        raise argparse.ArgumentTypeError("a name is missing; write them as a,b,c")
    repeated = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if repeated:
        raise argparse.ArgumentTypeError(f"“{repeated[0]}” is there twice")
    return found


def whole(low: int) -> Any:
    """An argument type: whole numbers from ``low``."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"“{text}” is not a whole number") from None
        if number < low:
            raise argparse.ArgumentTypeError(f"{number} is too low; the least is {low}")
        return number

    return parse


def seed(text: str) -> str:
    """An argument type: the secret of an order, in hexadecimal digits."""
    found = text.strip().lower()
    if not found or len(found) > 64 or found.strip("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"“{text}” is not made of up to 64 hexadecimal digits (0 to 9, a to f)")
    return found


def percent(text: str) -> float:
    """An argument type: a percentage above 0."""
    try:
        number = float(text.rstrip("%"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number") from None
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError("must be above 0")
    return number


def numbers(low: int) -> Any:
    """An argument type: a comma-separated list of whole numbers from ``low``."""

    def parse(text: str) -> list[int]:
        return [whole(low)(name) for name in names(text)]

    return parse


def sets_of_names(text: str) -> list[list[str]]:
    """Lists of names separated by semicolons: ``age,sex;age,income``."""
    return [names(part) for part in text.split(";")]


def delimiter_of(text: str | None) -> str | None:
    """A delimiter from its name or itself; None stays None."""
    return None if text is None else _DELIMITERS.get(text.lower(), text)
