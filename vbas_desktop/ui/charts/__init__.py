"""Charts with pyqtgraph: each draws the rows given to it and tells which solution was clicked."""
