"""Pure array functions shared by approaches: nearest site, grouped counts, neighbours, map shapes and
colours, Pareto.

May use ``model``, numpy, scipy and shapely, and numba in ``kernels``; no files, no state.
"""
