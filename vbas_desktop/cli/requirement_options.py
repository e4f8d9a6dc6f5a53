"""What a researcher needs, as options of `run` and `compare`: mark the solutions that meet it, show only these."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import UsageError

if TYPE_CHECKING:
    from vbas_desktop.assessment.representability.requirement import Requirement


def add_requirement_options(parser: argparse.ArgumentParser, effect: str) -> None:
    """``--requirement`` and ``--suitable-only``."""
    group = parser.add_argument_group("requirement")
    group.add_argument("--requirement", metavar="F", help=f"JSON file with what a researcher needs: {effect}")
    group.add_argument("--suitable-only", action="store_true", help="show only the solutions that meet the requirement")


def requirement_of(options: argparse.Namespace) -> Requirement | None:
    """The requirement that was given, if any."""
    from vbas_desktop.assessment.representability.requirement import read_requirement

    if options.requirement:
        return read_requirement(options.requirement)
    if options.suitable_only:
        raise UsageError("--suitable-only needs --requirement F: suitable for what?")
    return None


def none_suitable(number: int) -> Exception:
    """What is said if no solution is left to show or to release."""
    from vbas_desktop.domain.errors import Finding, InputError

    message = f"None of the {number:,} solutions meets the requirement."
    remedy = "Ask for less, widen the range of site numbers, or leave --suitable-only out to see why."
    return InputError(Finding("none-suitable", message, remedy))


def verdict_lines(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The check of a requirement, one criterion on each line."""
    return [f"{row['verdict']:<14}{row['criterion']}: required {row['required']}, is {row['actual']}" for row in rows]
