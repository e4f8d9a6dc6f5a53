"""Shortest ways around obstacles in the plane: a constrained mesh of the free area, and exact distances on it."""
