"""The map: `geometry` prepares arrays in a thread, `item` paints them, `canvas` is the view around it, `view` the part
of the window with switches, legend and hover card; `side_by_side` links two canvases.
"""
