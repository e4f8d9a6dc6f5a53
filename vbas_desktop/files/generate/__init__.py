"""Synthetic records and regions with known counts, made from a spec file. The door is `make.generate`."""
