"""Application state without Qt: the data, the choices, the runs and what is selected.

May use every room but ``ui`` and ``cli``. A `Session` is changed by one thread only (the window's); work for other
threads leaves it as frozen data (`OpenFilesRequest`, `RunTask`) and comes back as frozen data. Whoever wants to know
about changes subscribes with a plain callback.
"""
