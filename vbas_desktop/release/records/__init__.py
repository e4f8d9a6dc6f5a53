"""Writing the anonymised file: rows composed of the input's fields, in an order that tells nothing.

Its counterpart is `vbas_desktop.audit`, which reads the result back and imports nothing of this package.
"""
