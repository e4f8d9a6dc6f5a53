"""Loops that numba compiles; only their Python sides in `algorithms` import them, and only when they are needed."""
