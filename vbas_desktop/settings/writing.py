"""How records are written to a file (what is left out, what orders the rows, what a spreadsheet must not run), and who
gets a release and where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.listing import defused

from .declaration import Settings, setting
from .forms import Flag, Form, Names, Whole

RECORD_KEY = "record_key"
"""The usual name of the added column with a pseudonymous key of each record."""

USUAL_AGGREGATION = "below:10"
"""The classes in which sensitive values are aggregated, unless others are named."""

_AGGREGATION = re.compile("all|below:([2-9]|[1-9][0-9]{1,8})")


def escaping() -> Any:
    """The setting that every written file of records has."""
    return setting(
        False,
        label="Escape &cells that a spreadsheet would run as formulas",
        help="Put an apostrophe before cells that a spreadsheet would run as a formula.",
        form=Flag(),
    )


def aggregated_classes() -> Any:
    """Declare the setting of the classes in which sensitive values are aggregated."""
    return setting(
        USUAL_AGGREGATION,
        label="Classes to aggregate",
        help="In which classes: all, or below:N for classes of fewer than N records.",
        form=Form("below:N|all"),
    )


def check_record_additions(record_key: str | None, aggregate_classes: str) -> list[Finding]:
    """List what is wrong with the name of the column of keys and with the classes in which values are aggregated."""
    findings = []
    if _AGGREGATION.fullmatch(aggregate_classes) is None:
        message = f"“{aggregate_classes}” does not say in which classes values are aggregated."
        remedy = "Write all, or below:N with a number of 2 or more, such as below:10."
        findings.append(Finding("release-option", message, remedy))
    if record_key is not None and not record_key.strip():
        message = "The added column with a key of each record has no name."
        findings.append(Finding("release-option", message, "Write a name behind --record-key, or nothing."))
    return findings


def size_below(aggregate_classes: str) -> int | None:
    """Return the size below which the sensitive values of a class are aggregated; None: in every class."""
    return None if aggregate_classes == "all" else int(aggregate_classes.partition(":")[2])


@dataclass(frozen=True)
class Writing(Settings, group="writing"):
    """How a file that is no release is written; without ``shuffle_seed`` a fresh secret orders the rows."""

    identifiers: tuple[str, ...] = setting(
        (),
        label="Identifiers",
        help="Columns that are not written.",
        form=Names(),
    )
    shuffle_seed: str | None = setting(
        None,
        label="Seed of the order",
        help="Order the rows by this in place of a fresh secret; keep it to yourself.",
    )
    escape_formulas: bool = escaping()

    def text(self, text: str) -> str:
        """A field, or the name of a column, as it is written."""
        return defused(text) if self.escape_formulas else text

    def row(self, row: Sequence[str]) -> Sequence[str]:
        """A row as it is written."""
        return [defused(text) for text in row] if self.escape_formulas else row


@dataclass(frozen=True)
class HandledColumns(Settings, group="writing"):
    """Which columns of a file without small classes are added or aggregated.

    ``record_key`` names the added column of keys (None: not added); ``aggregate`` are columns with one value per class.
    """

    record_key: str | None = setting(
        None,
        label="Add a column of random keys",
        help="Add a column with a random key of each record, another one in every file; which record has which key is "
        "listed in NAME.index.csv next to the file, which must stay in the organisation.",
        without_value=RECORD_KEY,
    )
    aggregate: tuple[str, ...] = setting(
        (),
        label="Aggregated columns",
        help="Sensitive columns that are written as one value per class: the mean of numbers, the most frequent value "
        "of categories. The number of records of each class is listed in NAME.class_counts.csv next to the file.",
        form=Names(),
        usual="none",
    )
    aggregate_classes: str = aggregated_classes()

    def __post_init__(self) -> None:
        findings = check_record_additions(self.record_key, self.aggregate_classes)
        if findings:
            raise InputError(findings)

    @property
    def aggregate_below(self) -> int | None:
        """Return the size below which a class gets one value; None: every class does."""
        return size_below(self.aggregate_classes)


@dataclass(frozen=True)
class HandingOver(Settings, group="ledger"):
    """The audience of a release and the ledger that it is checked against.

    ``ledger`` None: the one beside the record file, if there is one. Without an ``audience`` the release is compared
    with everything that was handed over to anybody. ``despite`` is why it is handed over although people could be
    singled out. ``also`` is the address of a place that gets the released records, too. ``compared_k`` is demanded of
    groups in place of the largest k of the releases that are compared, for the reason ``k_reason``. ``new_audience``
    confirms that an audience differs from one with a similar name.
    """

    ledger: str | None = setting(
        None,
        label="Ledger",
        help="File that lists what was handed over so far.",
        in_command="file that lists what was handed over (default: vbas-ledger.json next to the records, if it exists)",
        form=Form("FILE"),
    )
    audience: str | None = setting(
        None,
        label="A&udience",
        help="Who gets the release: what they have already is compared with it. “public” is everybody.",
        in_command="who gets the release: it is compared with what they have already; “public” is everybody "
        "(default: compared with all that anybody has)",
    )
    despite: str | None = setting(
        None,
        label="Reaso&n to release all the same",
        help="Kept in run.json and in the ledger.",
        in_command="release although people could be singled out with earlier releases; the reason is recorded",
        option="--despite-ledger",
        form=Form("REASON"),
    )
    also: str | None = setting(
        None,
        label="Also p&ut it into",
        help="A folder, FILE.parquet, FILE.duckdb#schema.table, or a table or folder of a server; left empty: nowhere.",
        in_command="put the released records into this place, too: a folder, FILE.parquet, FILE.duckdb#schema.table, "
        "postgresql://user@host/database#schema.table, spark://host:port/folder or …#schema.table",
        option="--target",
        form=Form("ADDRESS"),
    )
    compared_k: int | None = setting(
        None,
        label="&k beside earlier releases",
        help="The least number of people in groups that several releases tell apart; left empty: the largest k of "
        "these releases.",
        in_command="least number of people in groups that several releases tell apart (default: the largest k of the "
        "releases compared); needs --ledger-reason",
        option="--ledger-k",
        form=Whole(low=2),
    )
    k_reason: str | None = setting(
        None,
        label="Reason for this k",
        help="Kept in run.json, in the internal report and in the ledger.",
        in_command="why --ledger-k is used; the reason is recorded",
        option="--ledger-reason",
        form=Form("REASON"),
    )
    new_audience: bool = setting(
        False,
        label="A new audience",
        help="The audience differs from the one in the ledger that has a similar name.",
        in_command="the audience is not the one in the ledger that has a similar name",
        form=Flag(),
    )
