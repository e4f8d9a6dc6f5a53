"""What a release is worth and what it risks: representability, risk, risky combinations.

May use ``engine``, ``io`` and what lies below; ``release`` and ``session`` use it.
"""
