"""What can be wrong with an input, said so that the person who owns the file can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .names import shorten, shorten_quotes


class Severity(StrEnum):
    """How much a finding matters: errors stop, warnings and hints are listed and carried along."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True)
class Finding:
    """One thing found in an input. ``row`` counts lines of the file from 1 (the names are row 1).

    ``message`` never quotes the content of a record, only its kind; ``remedy`` says what to do. Names in quotation
    marks are cut in both.
    ``code`` is a stable short name, such as ``unknown-region``, for tests and scripts.
    """

    code: str
    message: str
    remedy: str = ""
    severity: Severity = Severity.ERROR
    file: str | None = None
    row: int | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shorten_quotes(self.message))
        object.__setattr__(self, "remedy", shorten_quotes(self.remedy))

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.row is not None:
            place.append(f"row {self.row:,}")
        if self.column is not None:
            place.append(f"column “{shorten(self.column)}”")
        head = f"{', '.join(place)}: " if place else ""
        tail = f" {self.remedy}" if self.remedy else ""
        return f"{head}{self.message}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain JSON data (``run.json`` carries warnings in this form)."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "remedy": self.remedy,
            "file": self.file,
            "row": self.row,
            "column": self.column,
        }


class InputError(Exception):
    """The input is wrong; every problem that could be found is listed, errors first."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.findings,))


def refusal(
    code: str, message: str, remedy: str = "", *, file: object = None, row: int | None = None, column: str | None = None
) -> InputError:
    """The error of a single finding; ``file`` may be a path or an address."""
    return InputError(Finding(code, message, remedy, Severity.ERROR, None if file is None else str(file), row, column))


class UsageError(Exception):
    """The settings do not fit together; the message says which and what would."""


@dataclass(frozen=True)
class Check:
    """One thing that was verified by reading the written files back; ``detail`` may hold counts: internal only."""

    name: str
    passed: bool
    detail: str = ""


class VerificationFailed(Exception):
    """A written result did not pass its own verification; nothing was left at the target."""


def stop_on_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Raise `InputError` with all findings if one of them is an error, else hand them back."""
    found = tuple(findings)
    if any(finding.severity is Severity.ERROR for finding in found):
        raise InputError(sorted(found, key=lambda finding: finding.severity is not Severity.ERROR))
    return found
