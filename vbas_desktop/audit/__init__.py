"""The auditor: reads written files again and recounts them.

It cuts rows, numbers values and counts in its own way and imports neither what loads records (`io.records`) nor what
writes them (`release`), so that a fault in those cannot hide itself here. May touch `io` for paths and dialects.
"""
