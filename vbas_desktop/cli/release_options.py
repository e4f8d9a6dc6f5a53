"""The options of a release, shared by `run` and `export`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.words import counted

from .argument_types import delimiter_of, names, seed
from .errors import UsageError
from .terminal import say

if TYPE_CHECKING:
    from vbas_desktop.release import ReleaseOptions, ReleaseReport

DEFAULTS: dict[str, Any] = {
    "columns": None,
    "allow_column": [],
    "rename": [],
    "shuffle": True,
    "shuffle_seed": None,
    "class_size": None,
    "release_delimiter": None,
    "escape_formulas": False,
    "format": "csv",
    "policy": None,
    "geometry": ["geojson"],
    "pdf": True,
}
"""What is in force if nothing is said. `export` leaves an option out of its parser's defaults to keep the run's."""


def add_release_options(parser: argparse.ArgumentParser, defaults: bool = True) -> None:
    """What the released file looks like; without ``defaults`` only the options that were given are set."""
    group = parser.add_argument_group("release")

    def add(name: str, **more: Any) -> None:
        key = name.lstrip("-").replace("-", "_")
        group.add_argument(name, default=DEFAULTS[key] if defaults else argparse.SUPPRESS, **more)

    add("--columns", metavar="A,B", type=names, help="columns to release, in this order (default: all)")
    add(
        "--allow-column",
        metavar="A,B",
        type=names,
        action="extend",
        help="columns that are released although they tell of a person, a place or a category; repeatable",
    )
    add("--rename", metavar="OLD=NEW", action="append", help="another name for a column; repeatable")
    add(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="put the rows into random order, since order can identify (default: yes)",
    )
    add(
        "--shuffle-seed",
        metavar="HEX",
        type=seed,
        help="a given secret for the order of the rows, in hexadecimal digits (default: a new one for every release)",
    )
    add(
        "--class-size",
        metavar="NAME",
        nargs="?",
        const="class_size",
        help="add a column with the number of records that share the row's values",
    )
    add("--release-delimiter", metavar="CHAR", help="delimiter of the released CSV file (default: as in the records)")
    add(
        "--escape-formulas",
        action="store_true",
        help="put an apostrophe before cells that a spreadsheet would run as a formula",
    )
    add("--format", choices=("csv", "parquet"), help="format of the released records (default: csv)")
    add(
        "--policy",
        choices=("class-5", "class-11", "class-20", "area-5000", "area-20000"),
        help="a rule to judge the release by in its reports",
    )
    add("--geometry", metavar="A,B", type=names, help="formats of the shapes: geojson, gpkg (default: geojson)")
    add("--pdf", action=argparse.BooleanOptionalAction, help="the reports as PDF too (default: yes)")


def release_options(options: argparse.Namespace) -> ReleaseOptions:
    """The choices of the release from the options in force; a run without them gets the defaults."""
    from vbas_desktop.release import ReleaseOptions

    chosen = {name: getattr(options, name, default) for name, default in DEFAULTS.items()}
    return ReleaseOptions(
        columns=None if chosen["columns"] is None else tuple(chosen["columns"]),
        identifiers=tuple(options.identifiers),
        allow_columns=tuple(chosen["allow_column"]),
        renames=dict(_renamed(text) for text in chosen["rename"]),
        shuffle=chosen["shuffle"],
        shuffle_seed=chosen["shuffle_seed"],
        class_size=chosen["class_size"],
        delimiter=delimiter_of(chosen["release_delimiter"]),
        escape_formulas=chosen["escape_formulas"],
        format=chosen["format"],
        policy=chosen["policy"],
        geometry=tuple(chosen["geometry"]),
        pdf=chosen["pdf"],
    )


def say_release(report: ReleaseReport) -> None:
    """What was released, on stderr."""
    for finding in report.findings:
        say(f"{finding.severity}: {finding}")
    if report.policy_met is False:
        say("warning: the release does not meet the chosen policy; its report says what is missing.")
    say(
        f"Released {report.records_released:,} of {counted(report.records, 'record')} in "
        f"{counted(report.aggregated_regions, 'aggregated region')}; read back and verified. "
        f"What may leave the organisation: {report.folder}"
    )


def _renamed(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise UsageError(f"--rename {text}: write it as OLD=NEW.")
    return old, new
