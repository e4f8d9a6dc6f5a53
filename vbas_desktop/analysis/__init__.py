"""Analyses of records and releases: representability, risk, policies, outliers, minimal uniques.

May import ``engine``, ``io`` and what lies below; ``releases`` and ``app`` import it.
"""
