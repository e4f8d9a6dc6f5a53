"""The Python interface: few verbs that take paths or data frames and give results that draw themselves.

Everything here is reached as ``import vbas_desktop as vbas``; all else in the package is private and may change.
"""

from .data import Data, read
from .results import Comparison, Run, Solution
from .verbs import compare, export, release, run, verify

__all__ = ["Comparison", "Data", "Run", "Solution", "compare", "export", "read", "release", "run", "verify"]
