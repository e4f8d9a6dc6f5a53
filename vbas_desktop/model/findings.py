"""Findings about inputs, and the errors that carry them.

A finding says what is wrong, where, and what to do. `input_error` makes the error of a single finding; a
`FindingList` collects everything that is wrong with a file, so that it is reported at once. Errors of the operating
system become findings as well.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .text import shorten, shorten_quotes


class Severity(StrEnum):
    """The weight of a finding: errors stop, warnings and hints are listed and carried along."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True)
class Finding:
    """One problem or remark about an input. ``row`` counts lines of the file from 1 (the names are row 1).

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
        location = [self.file] if self.file else []
        if self.row is not None:
            location.append(f"row {self.row:,}")
        if self.column is not None:
            location.append(f"column “{shorten(self.column)}”")
        head = f"{', '.join(location)}: " if location else ""
        tail = f" {self.remedy}" if self.remedy else ""
        return f"{head}{self.message}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON data, in which ``run.json`` carries warnings."""
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
    """The input is wrong; all problems that were found are listed, errors first."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.findings,))


def input_error(
    code: str,
    message: str,
    remedy: str = "",
    *,
    file: object = None,
    row: int | None = None,
    column: str | None = None,
) -> InputError:
    """Return the error of a single finding; ``file`` may be a path or an address."""
    return InputError(
        Finding(code, message, remedy, Severity.ERROR, None if file is None else str(file), row, column)
    )


class UsageError(Exception):
    """The settings do not fit together; the message says which and what would."""


@dataclass(frozen=True)
class Check:
    """One point that was verified by reading the written files back; ``detail`` may hold counts: internal only."""

    name: str
    passed: bool
    detail: str = ""


class VerificationFailed(Exception):
    """A written result did not pass its own verification; nothing was left at the target."""


def stop_on_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings. Raises `InputError` with all of them if one is an error."""
    all_findings = tuple(findings)
    if any(finding.severity is Severity.ERROR for finding in all_findings):
        raise InputError(
            sorted(all_findings, key=lambda finding: finding.severity is not Severity.ERROR)
        )
    return all_findings


LISTED_PER_KIND = 20
"""Number of findings of one kind and column that are listed one by one; the others are counted."""


class FindingList:
    """Findings of one file. Of each kind and column the first few are kept, the others counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._listed: list[Finding] = []
        self._counts: Counter[tuple[str, str | None]] = Counter()
        self._severity: dict[tuple[str, str | None], Severity] = {}

    def add(
        self,
        code: str,
        message: str,
        remedy: str = "",
        *,
        row: int | None = None,
        column: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Note a finding of this file; an error unless ``severity`` says otherwise."""
        self.note(Finding(code, message, remedy, severity, self.file, row, column))

    def note(self, finding: Finding) -> None:
        """Note a finding. One without a row is noted once."""
        if finding.row is None and finding in self._listed:
            return
        kind = (finding.code, finding.column)
        self._counts[kind] += 1
        self._severity[kind] = finding.severity
        if self._counts[kind] <= LISTED_PER_KIND:
            self._listed.append(finding)

    def warn(
        self,
        code: str,
        message: str,
        remedy: str = "",
        *,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        """Note a warning: the file can be used, but something was decided for the user."""
        self.add(code, message, remedy, row=row, column=column, severity=Severity.WARNING)

    def hint(
        self,
        code: str,
        message: str,
        remedy: str = "",
        *,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        """Note a hint: nothing is wrong, but the user may want to look."""
        self.add(code, message, remedy, row=row, column=column, severity=Severity.HINT)

    def all(self) -> tuple[Finding, ...]:
        """Return the findings in order of discovery, and for each long kind the number that is not listed."""
        rest = [
            Finding(
                code,
                f"… and {count - LISTED_PER_KIND:,} more of this kind.",
                "",
                self._severity[code, column],
                self.file,
                None,
                column,
            )
            for (code, column), count in self._counts.items()
            if count > LISTED_PER_KIND
        ]
        return tuple(self._listed + rest)

    def stop_on_errors(self) -> tuple[Finding, ...]:
        """Return all findings. Raises `InputError` with them if one is an error."""
        return stop_on_errors(self.all())


_NO_SPACE = (
    "The disk is full, or a limit was reached.",
    "Free some space, or choose a folder on another disk.",
)
_NOT_ALLOWED = (
    "Access is not allowed.",
    "Check the permissions of the file and of its folders, or choose others.",
)
_NO_MEMORY = ("There is not enough memory.", "Close other programs, and try again.")
_TOO_MANY_FILES = ("Too many files are open.", "Close other programs, and try again.")
_IN_USE = ("Another program uses it.", "Close that program, and try again.")
_THERE_ALREADY = ("Something else is there already.", "Choose another name, or remove it.")
_NO_ANSWER = (
    "The disk or network drive does not answer.",
    "Check the connection, or copy the files to another disk.",
)

_EXPLANATIONS = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: _NO_SPACE,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: ("The disk is read-only.", "Choose a folder on another disk."),
    errno.ENOENT: ("There is no such file or folder.", "Check the path."),
    errno.ENOTDIR: ("A part of the path is a file, not a folder.", "Check the path."),
    errno.EISDIR: ("This is a folder, not a file.", "Name a file."),
    errno.EEXIST: _THERE_ALREADY,
    errno.ENOTEMPTY: _THERE_ALREADY,
    errno.ENAMETOOLONG: ("The path is too long.", "Choose shorter names."),
    errno.ELOOP: ("The links on the path lead in a circle.", "Check the path."),
    errno.EMFILE: _TOO_MANY_FILES,
    errno.ENFILE: _TOO_MANY_FILES,
    errno.EBUSY: _IN_USE,
    errno.ETXTBSY: _IN_USE,
    errno.ENOMEM: _NO_MEMORY,
    errno.EIO: _NO_ANSWER,
    errno.ESTALE: _NO_ANSWER,
    errno.ETIMEDOUT: _NO_ANSWER,
}


def explain_os_error(error: OSError) -> Finding:
    """Describe what the system refused, with its path and a remedy."""
    default = (
        f"The file cannot be read or written ({error.strerror or type(error).__name__}).",
        "Check the path, the permissions and the free space.",
    )
    message, remedy = _EXPLANATIONS.get(error.errno or 0, default)
    path = error.filename
    file = _visible(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else None
    return Finding("system", message, remedy, file=file)


def _visible(path: str) -> str:
    """Name the folder of a hidden file: the program gave it that name, which tells the user nothing."""
    folder, name = os.path.split(path)
    return folder or "." if name.startswith(".") and name not in (".", "..") else path
