"""The records of which ADC by differences keeps its state.

Everything of one point, site or class is one record: few arrays keep compiling short, and what is used together lies
together.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Records = NDArray[Any]

WITNESSES = 24
"""Bottleneck classes remembered of each region: one that a trial leaves as it is proves that the region stays at α."""

DEPENDENCIES = 40
"""Regions remembered that the trials of one site touched; with more, any change makes the site try again."""

LOGGED_MOVES = 1024
"""Accepted moves that one slice of work can log."""

POINT = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("distance", "f8"),
        ("second_distance", "f8"),
        ("owner", "i8"),
        ("second", "i8"),
        ("following", "i8"),
        ("preceding", "i8"),
        ("start", "i8"),
        ("file", "i8"),
        ("width", "i8"),
        ("offset", "i8"),
    ]
)
"""An initial region: its place, squared distances to its owner and runner-up, both, its neighbours in the list of its
owner's members, its position in the file, and its counts (``width`` entries from ``start``)."""

CLASS = np.dtype(
    [
        ("listed", "i8"),
        ("x", "f8"),
        ("y", "f8"),
        ("weight", "f8"),
        ("slot", "i8"),
        ("delta", "i8"),
        ("stamp", "i8"),
        ("changed", "i8"),
        ("size", "i8"),
        ("rare", "i8"),
    ]
)
"""Work space by class. By number of candidate: the class ``listed``, its place and weight. By class: the ``slot`` of
its candidate (or -1), the change ``delta`` of its size (valid if ``stamp`` is the current one), its summed-up ``size``;
``changed`` lists the changed classes, ``rare`` all classes from the one that fewest points have."""

MOVE = np.dtype([("point", "i8"), ("partner", "i8"), ("gain", "i8")])
"""A point that would change hands, the site it is won from (gain 1) or lost to (gain -1)."""

LOG = np.dtype([("site", "i8"), ("column", "i8"), ("x", "f8"), ("y", "f8")])
"""An accepted move."""


class Fact(IntEnum):
    """Positions in ``State.facts``, the numbers that change as the work goes on."""

    ALPHA = 0
    AT_ALPHA = 1
    CURSOR = 2
    VISITED = 3
    CANDIDATES = 4
    NEXT_CANDIDATE = 5
    STAR = 6
    BLOCKS = 7
    MOVED = 8
    TOUCHED = 9
    STAMP = 10
    VISIT_STAMP = 11
    WORK = 12
    LOGGED = 13
    TRIALS = 14
    TRIES = 15
    MOVES = 16


class Line(IntEnum):
    """Rows of ``State.lists``: sites (star, touched), hopes of the touched ones, blocks."""

    STAR = 0
    TOUCHED = 1
    HOPES = 2
    BLOCKS = 3


class State(NamedTuple):
    """Everything. ``notes`` holds the witnesses of each region, then the regions that its trials touched.

    ``listed`` holds points: those of a neighbourhood during a visit, those that came to be farther from their site
    during an accepted move.
    """

    facts: Integers
    points: Records
    boxes: Records
    sites: Records
    site_boxes: Records
    columns: NDArray[np.int32]
    values: Integers
    sizes: Integers
    notes: NDArray[np.int32]
    classes: Records
    moves: Records
    lists: Integers
    listed: Integers
    log: Records
