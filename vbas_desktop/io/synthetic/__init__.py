"""Synthetic records and regions with known counts, made from a spec file. It begins with `make.generate`."""
