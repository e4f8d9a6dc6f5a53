"""Pure array functions shared by approaches: nearest site, grouped counts, Voronoi neighbours, Pareto.

May use ``domain``, numpy, scipy and numba; no files, no state.
"""
