"""Functions of shapely applied to many shapes, some at a time.

They hold Python's lock while they make or read Python objects. With hundreds of thousands of shapes in one call the
window's thread would wait for it for seconds; between two blocks it gets its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 5_000
"""Shapes in one call: about ten milliseconds."""

Taken = Callable[..., tuple[NDArray[Any], NDArray[np.intp]]]


def apply_in_blocks(function: Callable[..., NDArray[Any]], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Apply a function that gives one result for each element of arrays of the same length."""
    number = len(arrays[0])
    if number <= _BLOCK:
        return function(*arrays)
    starts = range(0, number, _BLOCK)
    return np.concatenate([function(*(array[start : start + _BLOCK] for array in arrays)) for start in starts])


def take_apart(function: Taken, shapes: NDArray[np.object_]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Get the parts, rings or coordinates of all shapes, and the number of the shape that each of them belongs to.

    ``function`` is `shapely.get_parts`, `shapely.get_rings` or `shapely.get_coordinates`.
    """
    if len(shapes) <= _BLOCK:
        return function(shapes, return_index=True)
    taken = []
    owners = []
    for start in range(0, len(shapes), _BLOCK):
        some, owner = function(shapes[start : start + _BLOCK], return_index=True)
        taken.append(some)
        owners.append(owner + start)
    return np.concatenate(taken), np.concatenate(owners)
