"""Reproduction of the published experiments: plans, tables beside the published ones, and claims."""
