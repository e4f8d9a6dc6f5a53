"""Findings as the window tells them: options of the command line become the names of the fields that do the same."""

from __future__ import annotations

import re

from vbas_desktop.domain.errors import Finding

_FIELDS = {
    "--category-counts": "“Second line has category numbers”",
    "--coordinates": "“Coordinates”",
    "--id-column": "“Region id column”",
    "--x-column": "“x or longitude column”",
    "--y-column": "“y or latitude column”",
    "--delimiter": "“Separator of the records”",
    "--encoding": "“Encoding of the records”",
    "--regions-delimiter": "“Separator of the regions”",
    "--regions-encoding": "“Encoding of the regions”",
    "--layer": "“Layer”",
    "--unknown-regions": "“Records of unknown regions”",
}
_OPTION = re.compile(r"--[a-z][a-z-]*")


def in_window_words(finding: Finding) -> str:
    """The finding in one paragraph; the file by its name, since its folder is known here."""
    place = finding.file.replace("\\", "/").rpartition("/")[2] if finding.file else None
    head = [place] if place else []
    if finding.row is not None:
        head.append(f"row {finding.row:,}")
    if finding.column is not None:
        head.append(f"column “{finding.column}”")
    text = f"{finding.message} {finding.remedy}".strip()
    named = _OPTION.sub(lambda found: _FIELDS.get(found.group(), found.group()), text)
    return f"{', '.join(head)}: {named}" if head else named
