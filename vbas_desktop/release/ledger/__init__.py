"""The ledger: what was handed to whom, and whether one more release would expose people together with earlier ones.

A ledger is a file of the custodian. It holds no value of any record: values and regions are keyed hashes.
"""

from .audiences import PUBLIC, same_audience, similar_audience
from .check import check
from .entry import Entry
from .fates import partition_of
from .file import LEDGER_FILE, Ledger, alone, read_ledger, write_ledger
from .making import entry_of_folder, entry_of_plan
from .verdict import DIFFERENCING, Exposing, Subject, Verdict, extract_columns, refuse

__all__ = [
    "DIFFERENCING",
    "LEDGER_FILE",
    "PUBLIC",
    "Entry",
    "Exposing",
    "Ledger",
    "Subject",
    "Verdict",
    "alone",
    "check",
    "entry_of_folder",
    "entry_of_plan",
    "extract_columns",
    "partition_of",
    "read_ledger",
    "refuse",
    "same_audience",
    "similar_audience",
    "write_ledger",
]
