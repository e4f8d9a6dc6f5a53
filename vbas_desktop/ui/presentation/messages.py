"""Findings and failures in the words of the window: fields instead of options, files by their names."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass

from vbas_desktop.model.findings import Finding, InputError, VerificationFailed, explain_os_error
from vbas_desktop.model.text import shorten
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import PrivacySettings

_EXPLAINED_ELSEWHERE = (
    "codebook",
    "obstacles",
    "coarsen_from",
    "region_map",
    "keep_records",
    "drop_records",
)
"""Messages about these files say themselves where the window asks for them."""

_READING_LABELS = {
    setting.flag: setting.label
    for setting in ReadingSettings.options()
    if setting.name not in _EXPLAINED_ELSEWHERE
}
_FIELD_LABELS = _READING_LABELS | {
    "--unknown-regions": PrivacySettings.option("unknown_regions").label.replace("&", "")
}
_OPTION = re.compile(r"(--[a-z][a-z-]*)(?: (yes|no|suppress|planar|geographic|degrees|comma|point)\b)?")

_BRACKETED_OPTION = re.compile(r" \(--[^)]*\)")
"""An option in brackets: a hint for users of the command."""


def is_about_reading(finding: Finding) -> bool:
    """Say if a field of the reading options may help with this finding."""
    return any(option in _READING_LABELS for option, _ in _OPTION.findall(finding.remedy))


def describe_finding(finding: Finding) -> str:
    """Describe a finding in one paragraph, with the name of its file without the folder, or the whole address."""
    file_name = finding.file or ""
    if "://" not in file_name:
        file_name = file_name.replace("\\", "/").rpartition("/")[2]
    head = [file_name] if file_name else []
    if finding.row is not None:
        head.append(f"row {finding.row:,}")
    if finding.column is not None:
        head.append(f"column “{shorten(finding.column)}”")
    text = _BRACKETED_OPTION.sub("", f"{finding.message} {finding.remedy}".strip())
    named = _OPTION.sub(_name_field, text)
    where = " It is in Reading options." if is_about_reading(finding) else ""
    return f"{', '.join(head)}: {named}{where}" if head else named + where


def _name_field(option: re.Match[str]) -> str:
    field = _FIELD_LABELS.get(option[1])
    value = option[2]
    if field is None:
        return option[0]
    return f"“{field}: {value}”" if value else f"“{field}”"


EXPORTING = "Exporting to "
"""How the title of a job begins that writes a release; the name of its folder follows."""

_MOST_FINDINGS = 12
"""How many problems a message lists; a file can have one in every column."""


@dataclass(frozen=True)
class TaskFailure:
    """Why a job ended without a result. ``details`` is for whoever mends the program; it holds no data."""

    title: str
    message: str
    findings: tuple[Finding, ...] = ()
    details: str = ""

    @property
    def heading(self) -> str:
        """Say what could not be done."""
        target = self.title.removeprefix(EXPORTING)
        return f"{self.title} failed." if target == self.title else f"Could not export to {target}."


def describe_failure(title: str, error: BaseException) -> TaskFailure:
    """Describe a failure in words. The text of unforeseen errors is left out of the details: it may quote a record."""
    if isinstance(error, InputError):
        messages = [describe_finding(finding) for finding in error.findings[:_MOST_FINDINGS]]
        if len(error.findings) > _MOST_FINDINGS:
            messages.append(f"… and {len(error.findings) - _MOST_FINDINGS:,} more of this kind.")
        return TaskFailure(title, "\n".join(messages), error.findings)
    if isinstance(error, VerificationFailed):
        return TaskFailure(title, str(error))
    details = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        finding = explain_os_error(error)
        return TaskFailure(title, describe_finding(finding), (finding,), details)
    if isinstance(error, MemoryError):
        return TaskFailure(
            title, "There is not enough memory for this. Close other programs and try again."
        )
    message = f"Something unexpected happened ({type(error).__name__}). "
    message += "Your data and the results so far are still here."
    return TaskFailure(title, message, details=details)
