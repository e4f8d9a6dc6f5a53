"""Warn of texts in the written files that a spreadsheet program might run as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.io.documents import hierarchies
from vbas_desktop.io.documents.run_options import GROUPS_FILE, files_to_repeat
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.text import count_formulas, describe_formulas
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasePlan
from .written_file import WrittenFile

_ESCAPED = "They were written with an apostrophe in front."
_ESCAPE = "Let them be escaped if the recipient opens the file with a spreadsheet program."


def formula_findings(
    written: WrittenFile, plan: ReleasePlan, options: ReleaseOptions, header: Sequence[str], document: Mapping[str, Any]
) -> list[Finding]:
    """Warn of formulas in the cells, the header, the ids and the names of a release, and in what is read back."""
    severity = Severity.HINT if options.escape_formulas else Severity.WARNING
    remedy = _ESCAPED if options.escape_formulas else _ESCAPE
    found = [
        Finding("formula", describe_formulas(count, "cell"), remedy, severity, column=column)
        for column, count in written.formulas.items()
    ]
    found += name_findings(plan, options, header)
    if "--generalise" in files_to_repeat(document):
        found += hierarchies.find_formulas(
            f"internal/{GROUPS_FILE}", hierarchies.groupings_from_json(document["options"]["groupings"])
        )
    return found


def name_findings(plan: ReleasePlan, options: ReleaseOptions, header: Sequence[str]) -> list[Finding]:
    """Warn of formulas among the names of columns, the ids and the names of regions; none are left once escaped."""
    if options.escape_formulas:
        return []
    columns = [name for _, name in options.released_columns(header)]
    names = [name for tier in plan.tiers for name in tier.names or ()]
    counts = (
        (f"release/anonymized.{options.format}", "name of a column", "names of columns", columns),
        ("release/crosswalk.csv", "id of a region", "ids of regions", plan.regions.ids),
        ("release/aggregated_regions.csv", "name of a region", "names of regions", names),
    )
    return [
        Finding("formula", describe_formulas(count, singular, plural), _ESCAPE, Severity.WARNING, file=file)
        for file, singular, plural, texts in counts
        if (count := count_formulas(texts))
    ]
