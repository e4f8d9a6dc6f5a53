"""VBAS Desktop: k-anonymous record files by merging small regions, guided by a Voronoi diagram.

Rooms, from the inside out: ``domain`` (plain data), ``algorithms`` (array functions), ``approaches`` (the strategies),
``engine`` (runs them) and ``files`` (reads the outside world), ``assessment``, ``comparison`` and ``screening`` (what
is built on both), ``release`` (writes what leaves the organisation), ``session`` (application state without Qt), and on
top ``cli`` and ``ui``. Imports only ever point inwards; Qt lives in ``ui`` alone.
"""

from .files.regions.doors import close_doors

__version__ = "0.1.0"

close_doors()
