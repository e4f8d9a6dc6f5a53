"""The people of a table of the population, by initial region and class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .source import Source


@dataclass(frozen=True, eq=False)
class Population:
    """How many people live in each initial region, and how many of each class of a problem do.

    ``region``, ``column`` (place of the class among those that occur in the records) and ``people`` list the classes
    that the records have; the others count in ``by_region`` alone.
    """

    source: Source
    by_region: NDArray[np.int64]
    region: NDArray[np.int64]
    column: NDArray[np.int64]
    people: NDArray[np.int64]
