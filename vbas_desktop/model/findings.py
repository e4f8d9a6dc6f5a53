"""Collecting everything that is wrong with a file, so that it is all said at once and no list grows endless."""

from __future__ import annotations

from collections import Counter

from .errors import Finding, Severity, stop_on_errors

LISTED_PER_KIND = 20
"""How many findings of one kind and column are listed one by one; the rest is counted."""


class FindingList:
    """Findings of one file. Of each kind and column the first few are kept, the others counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._kept: list[Finding] = []
        self._seen: Counter[tuple[str, str | None]] = Counter()
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
        """Note an error (or what ``severity`` says)."""
        self.note(Finding(code, message, remedy, severity, self.file, row, column))

    def note(self, finding: Finding) -> None:
        """The same for a finding that somebody made; what was said already is not said again."""
        if finding.row is None and finding in self._kept:
            return
        kind = (finding.code, finding.column)
        self._seen[kind] += 1
        self._severity[kind] = finding.severity
        if self._seen[kind] <= LISTED_PER_KIND:
            self._kept.append(finding)

    def warn(
        self, code: str, message: str, remedy: str = "", *, row: int | None = None, column: str | None = None
    ) -> None:
        """Note a warning: the file can be used, but something was decided for the user."""
        self.add(code, message, remedy, row=row, column=column, severity=Severity.WARNING)

    def hint(
        self, code: str, message: str, remedy: str = "", *, row: int | None = None, column: str | None = None
    ) -> None:
        """Note a hint: nothing is wrong, but the user may want to look."""
        self.add(code, message, remedy, row=row, column=column, severity=Severity.HINT)

    def all(self) -> tuple[Finding, ...]:
        """The findings in order of discovery, each long kind closed by the number that is not listed."""
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
            for (code, column), count in self._seen.items()
            if count > LISTED_PER_KIND
        ]
        return tuple(self._kept + rest)

    def stop_on_errors(self) -> tuple[Finding, ...]:
        """Raise `InputError` with everything found if one finding is an error, else hand all back."""
        return stop_on_errors(self.all())
