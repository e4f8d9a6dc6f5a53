"""Risky combinations: the values that single out fewer than k records, and coarsening columns until none is left."""
