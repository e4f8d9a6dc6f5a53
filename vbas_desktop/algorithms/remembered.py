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


def remembered(find: Callable[[K], T]) -> Callable[[K], T]:
    """The same function, which finds the answer for each object once."""
    known: WeakKeyDictionary[K, T] = WeakKeyDictionary()
    finding: WeakKeyDictionary[K, Lock] = WeakKeyDictionary()
    knowing = Lock()

    def found_once(asked: K) -> T:
        with knowing:
            own = finding.setdefault(asked, Lock())
        # Two threads that ask for the same at once would otherwise both find it, and take twice the memory.
        with own:
            found = known.get(asked)
            if found is None:
                found = known[asked] = find(asked)
        return found

    return found_once
