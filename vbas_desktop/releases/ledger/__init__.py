"""The ledger: what was handed to whom, and whether one more release would expose people together with earlier ones.

A ledger is a file of the custodian. It holds no value of any record: values and regions are keyed hashes.
"""

from .alternatives import (
    DIFFERENCING,
    DifferencingRisk,
    LedgerVerdict,
    ReleaseCandidate,
    columns_of_extract,
    differencing_error,
)
from .audiences import PUBLIC, same_audience, similar_audience
from .check import check_candidate
from .cross_release_groups import find_membership
from .entry import LedgerEntry
from .entry_builder import entry_from_folder, entry_from_plan
from .ledger_file import LEDGER_FILE, Ledger, lock_ledger, read_ledger, write_ledger

__all__ = [
    "DIFFERENCING",
    "LEDGER_FILE",
    "PUBLIC",
    "DifferencingRisk",
    "Ledger",
    "LedgerEntry",
    "LedgerVerdict",
    "ReleaseCandidate",
    "check_candidate",
    "columns_of_extract",
    "differencing_error",
    "entry_from_folder",
    "entry_from_plan",
    "find_membership",
    "lock_ledger",
    "read_ledger",
    "same_audience",
    "similar_audience",
    "write_ledger",
]
