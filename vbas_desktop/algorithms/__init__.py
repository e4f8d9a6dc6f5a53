"""Pure array functions shared by approaches: nearest site, grouped counts, neighbours, map shapes and
colours, Pareto.

May use ``model``, numpy, scipy, numba and shapely; no files, no state.
"""
