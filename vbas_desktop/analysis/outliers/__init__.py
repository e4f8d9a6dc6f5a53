"""Treat classes of fewer than k records (k-outliers) and write the file without them."""
