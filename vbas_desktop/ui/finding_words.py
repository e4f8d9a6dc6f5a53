"""Findings as the window tells them: options of the command line become the names of the fields that do the same."""

from __future__ import annotations

import re

from vbas_desktop.domain.errors import Finding

_READING = {
    "--category-counts": "Second line has category numbers",
    "--coordinates": "Coordinates",
    "--id-column": "Region id column",
    "--x-column": "x or longitude column",
    "--y-column": "y or latitude column",
    "--delimiter": "Separator of the records",
    "--encoding": "Encoding of the records",
    "--regions-delimiter": "Separator of the regions",
    "--regions-encoding": "Encoding of the regions",
    "--regions-decimal": "Decimal sign of the regions",
    "--layer": "Layer",
}
_FIELDS = _READING | {"--unknown-regions": "Records of unknown regions"}
_OPTION = re.compile(r"(--[a-z][a-z-]*)(?: (yes|no|suppress|planar|geographic|degrees|comma|point)\b)?")


def is_about_reading(finding: Finding) -> bool:
    """Whether a field of the reading options may help."""
    return any(option in _READING for option, _ in _OPTION.findall(finding.remedy))


def in_window_words(finding: Finding) -> str:
    """The finding in one paragraph; the file by its name, since its folder is known here."""
    place = finding.file.replace("\\", "/").rpartition("/")[2] if finding.file else None
    head = [place] if place else []
    if finding.row is not None:
        head.append(f"row {finding.row:,}")
    if finding.column is not None:
        head.append(f"column “{finding.column}”")
    text = f"{finding.message} {finding.remedy}".strip()
    named = _OPTION.sub(_as_field, text)
    where = " It is in Reading options." if is_about_reading(finding) else ""
    return f"{', '.join(head)}: {named}{where}" if head else named + where


def _as_field(option: re.Match[str]) -> str:
    field, value = _FIELDS.get(option[1]), option[2]
    if field is None:
        return option[0]
    return f"“{field}: {value}”" if value else f"“{field}”"
