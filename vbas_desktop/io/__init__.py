"""Read and write files: records, regions, databases, documents, synthetic data, and how results are published.

May use ``model``, ``settings``, ``algorithms`` and ``approaches``.
"""
