"""What the program does, as frozen jobs: one for each use, executed by `vbas`, by the window and by Python users alike.

A job is made of settings and data, holds no state, and tells a `Progress` how far it is. Knows neither command line
nor window.
"""
