"""What the reports of a release draw on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Check, Finding
from vbas_desktop.domain.solution import RunResult
from vbas_desktop.engine.place import PlaceVector
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.release.disclosure import Told
from vbas_desktop.release.folder import ReleasedFile
from vbas_desktop.release.plan import Plan
from vbas_desktop.release.records.sink import Written
from vbas_desktop.settings.release import ReleaseOptions

from .figures import Maps


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything that the report for the file may draw on."""

    plan: Plan
    table: RecordTable
    result: RunResult
    options: ReleaseOptions
    written: Written
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    maps: Maps
    pieces: NDArray[np.integer]
    document: Mapping[str, Any]
    place: PlaceVector
    told: Told
    telltales: tuple[Finding, ...]
