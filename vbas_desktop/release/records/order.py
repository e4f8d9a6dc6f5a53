"""The secret that decides the order of the released rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions


def order_key(plan: Plan, options: ReleaseOptions, header: Sequence[str], sha256: str) -> bytes:
    """512 bits from the seed, the hash of the record file and what is released.

    The hash never leaves the organisation, so that a seed that was guessed tells nothing. With what is released mixed
    in, two releases of one file have unrelated orders even if they were given the same seed: rows that are in both
    cannot be told by their places.
    """
    problem = plan.problem
    content = {
        "regions": hashlib.sha256(plan.membership.astype(np.int64).tobytes()).hexdigest(),
        "k": problem.k,
        "region_column": problem.region_column,
        "quasi_identifiers": list(problem.quasi_identifiers),
        "groupings": [[grouping.column, dict(grouping.groups)] for grouping in problem.groupings],
        "columns": options.released_columns(header),
        "class_size": options.class_size,
        "form": [options.format, options.delimiter, options.escape_formulas],
    }
    told = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha512(f"vbas row order {options.shuffle_seed} {sha256} {told}".encode()).digest()
