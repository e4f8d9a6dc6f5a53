"""Read and write files: so far how results are written (`output`) and how stop signals are handled (`signals`).

May use ``domain`` alone.
"""
