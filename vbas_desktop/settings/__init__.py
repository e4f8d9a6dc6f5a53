"""What people can set, declared once: reading, protection, run, release, comparison.

Options of `vbas`, labels and bounds in the window, the project file, ``run.json``, the reports' list and the command
that repeats a run are all made from these declarations. Knows approaches; reads and writes no file.
"""
