"""What makes two problems the same, for those who keep what was computed of one."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from vbas_desktop.domain.problem import Problem


def fingerprint(problem: Problem) -> str:
    """What the counts, the regions and their places are, whatever files they came from; k is left out."""
    digest = hashlib.sha256()
    for array in (problem.regions.points, problem.counts.classes, *problem.counts.arrays):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    told: dict[str, object] = {
        "ids": hashlib.sha256("\n".join(problem.regions.ids).encode()).hexdigest(),
        "unit": problem.regions.system.unit,
        "categories": list(problem.counts.category_numbers),
        "unknown": problem.unknown_region_records,
    }
    if problem.regions.obstacles is not None:
        told["obstacles"] = [source.sha256 for source in problem.regions.obstacles.sources]
    if problem.regions.earlier is not None:
        told["earlier"] = problem.regions.earlier.source.sha256
    for each in problem.sensitive:
        for array in (each.cells.classes, *each.cells.rows):
            digest.update(np.ascontiguousarray(array).data)
        texts = [criterion.text for criterion in each.chosen.criteria]
        told.setdefault("sensitive", []).append([each.column, each.harmful.tolist(), texts])  # type: ignore[attr-defined]
    digest.update(json.dumps(told, sort_keys=True).encode())
    return digest.hexdigest()
