"""How a record file is read: the same three options for every command that reads one."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vbas_desktop.settings.declaration import settings_of
from vbas_desktop.settings.reading import RecordOptions

from .arguments import add_setting
from .terminal import say_findings

if TYPE_CHECKING:
    from vbas_desktop.files.records.table import RecordTable


def add_reading_options(parser: Any, what: str = "the records", prefix: str = "") -> None:
    """``--category-counts``, ``--delimiter`` and ``--encoding``; with ``prefix`` those of another file."""
    for declared in settings_of(RecordOptions):
        option = f"--{prefix}{declared.option.removeprefix('--')}"
        add_setting(parser, replace(declared, option=option, help=declared.help.replace("the records", what)))


def reading_of(options: argparse.Namespace, prefix: str = "") -> RecordOptions:
    """How the options say that a record file is read."""
    start = prefix.replace("-", "_")
    given = {name.removeprefix(start): value for name, value in vars(options).items() if name.startswith(start)}
    return RecordOptions.from_options(given)


def say_warnings(*tables: RecordTable) -> None:
    """What was decided for the user while the files were read."""
    for table in tables:
        say_findings(table.findings)
