"""Results stored for reuse: the protocol of a cache, its version in memory, and the fingerprint of a problem."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem

T = TypeVar("T")

CacheKey = Mapping[str, Any]
"""Everything that decides about a result, as plain JSON data."""


class ResultCache(Protocol[T]):
    """Stores results by what decides about them. Safe to use from several threads."""

    def get(self, key: CacheKey) -> T | None:
        """Return the stored result; None if there is none that can be used."""

    def put(self, key: CacheKey, result: T) -> T:
        """Store a result, and return it as `get` will: fresh and stored results cannot differ."""

    def clear(self) -> None:
        """Remove all results."""


class MemoryCache(ResultCache[T]):
    """Stores results for the length of the program only."""

    def __init__(self) -> None:
        self._results: dict[str, T] = {}

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: CacheKey) -> T | None:
        """Return the stored result, if there is one."""
        return self._results.get(hash_key(key))

    def put(self, key: CacheKey, result: T) -> T:
        """Store a result; the first one of a key stays."""
        return self._results.setdefault(hash_key(key), result)

    def clear(self) -> None:
        """Forget all results."""
        self._results.clear()


def hash_key(key: CacheKey) -> str:
    """Compute the name of a key: 32 hexadecimal digits. Raises `ValueError` if a number is not finite."""
    text = json.dumps(key, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def fingerprint_problem(problem: Problem) -> str:
    """Compute a SHA-256 of counts, regions and sensitive values, whatever files they came from; k is left out."""
    digest = hashlib.sha256()
    for array in (problem.regions.points, *_list_arrays(problem.counts)):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    facts: dict[str, Any] = {
        "ids": hashlib.sha256("\n".join(problem.regions.ids).encode()).hexdigest(),
        "unit": problem.regions.system.unit,
        "categories": list(problem.counts.n_categories),
        "unknown": problem.unknown_region_records,
    }
    if problem.regions.obstacles is not None:
        facts["obstacles"] = [source.sha256 for source in problem.regions.obstacles.sources]
    if problem.regions.earlier is not None:
        facts["earlier"] = problem.regions.earlier.source.sha256
    if problem.given is not None:
        facts["given"] = problem.given.source.sha256
    for sensitive in problem.sensitive:
        for array in _list_arrays(sensitive.cells):
            digest.update(np.ascontiguousarray(array).data)
        criteria = [criterion.text for criterion in sensitive.chosen.criteria]
        facts.setdefault("sensitive", []).append(
            [sensitive.column, sensitive.harmful.tolist(), criteria]
        )
    digest.update(json.dumps(facts, sort_keys=True).encode())
    return digest.hexdigest()


def _list_arrays(counts: ClassCounts) -> list[NDArray[np.int64]]:
    """List the arrays of counts as int64: scipy chooses the type of its indices by their number."""
    arrays = (counts.combinations, counts.table.indptr, counts.table.indices, counts.table.data)
    return [np.asarray(array, np.int64) for array in arrays]
