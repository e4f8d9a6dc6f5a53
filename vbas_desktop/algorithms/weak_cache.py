"""What is costly to find, kept for as long as the object is there that it was found for.

Per file that is open, not per run: finding the graph or the cells of many regions takes longer than a run.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")


def cached_per_object(compute: Callable[[K], T]) -> Callable[[K], T]:
    """Make a function of one object compute its result once for each object."""
    results: WeakKeyDictionary[K, T] = WeakKeyDictionary()
    locks: WeakKeyDictionary[K, Lock] = WeakKeyDictionary()
    guard = Lock()

    def found_once(key: K) -> T:
        with guard:
            lock = locks.setdefault(key, Lock())
        # Two threads that ask for the same at once would otherwise both find it, and take twice the memory.
        with lock:
            result = results.get(key)
            if result is None:
                result = results[key] = compute(key)
        return result

    return found_once
