"""How a record file is read: the same three options for every command that reads one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.errors import Severity

from .argument_types import delimiter_of
from .terminal import say

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordOptions, RecordTable


def add_reading_options(parser: Any, what: str = "the records", prefix: str = "") -> None:
    """``--category-counts``, ``--delimiter`` and ``--encoding``; with ``prefix`` those of another file."""
    parser.add_argument(
        f"--{prefix}category-counts",
        choices=("auto", "yes", "no"),
        default="auto",
        help=f"whether line 2 of {what} is the number of response categories (default: %(default)s)",
    )
    parser.add_argument(f"--{prefix}delimiter", metavar="CHAR", help=f"delimiter of {what}, such as ; or tab")
    parser.add_argument(f"--{prefix}encoding", metavar="NAME", help=f"encoding of {what}, such as latin-1")


def reading_of(options: argparse.Namespace, prefix: str = "") -> RecordOptions:
    """How the options say that a record file is read."""
    from vbas_desktop.files.records import RecordOptions

    delimiter, encoding, counts = (
        getattr(options, prefix.replace("-", "_") + name) for name in ("delimiter", "encoding", "category_counts")
    )
    return RecordOptions(delimiter_of(delimiter), encoding, counts)


def say_warnings(*tables: RecordTable) -> None:
    """What was decided for the user while the files were read."""
    for table in tables:
        for finding in table.findings:
            if finding.severity is not Severity.HINT:
                say(f"{finding.severity}: {finding}")
