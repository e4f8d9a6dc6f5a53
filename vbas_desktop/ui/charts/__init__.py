"""Charts of solutions: bars by site number, two measures with their front, all measures side by side.

Each is a plain widget that draws rows given to it and tells which solution was clicked.
"""
