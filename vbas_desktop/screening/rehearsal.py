"""A few people planned once, so that the loops of planning are compiled before they are needed."""

from __future__ import annotations

import numpy as np

from vbas_desktop.domain.progress import Silent

from .planners import planner
from .task import Task


def rehearse() -> None:
    """The two planners with compiled loops; the second starts from the first. With and without closed slots."""
    people, seats = np.array([4, 4, 5, 2]), np.array([4, 2, 4, 3, 2])
    for allowed in (None, np.ones((4, 5), bool)):
        planner("better").make(Task(people, seats, allowed=allowed), Silent())
