"""Settings for writing records to a file, and for handing a release over to a recipient."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from pydantic import model_validator

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import escape_formula

from .codecs import NameList
from .option import OptionGroup, option

RECORD_KEY = "record_key"
"""The usual name of the added column with a pseudonymous key of each record."""

USUAL_AGGREGATION = "below:10"
"""The classes in which sensitive values are aggregated, unless others are named."""

_AGGREGATION = re.compile("all|below:([2-9]|[1-9][0-9]{1,8})")


def declare_escaping() -> Any:
    """Declare whether cells are escaped that a spreadsheet would run as formulas."""
    return option(
        False,
        label="Escape formulas",
        help="Put an apostrophe before cells that a spreadsheet would run as a formula.",
    )


def declare_aggregated_classes() -> Any:
    """Declare the setting of the classes in which sensitive values are aggregated."""
    return option(
        USUAL_AGGREGATION,
        label="Classes to aggregate",
        help="In which classes: all, or below:N for classes of fewer than N records.",
        metavar="below:N|all",
        titles={USUAL_AGGREGATION: "Classes of fewer than 10 records", "all": "All classes"},
        enabled_when=("aggregate", bool),
    )


def check_record_additions(record_key: str | None, aggregate_classes: str) -> list[Finding]:
    """List the findings on the name of the column of keys and on the classes in which values are aggregated."""
    findings = []
    if _AGGREGATION.fullmatch(aggregate_classes) is None:
        message = f"“{aggregate_classes}” does not say in which classes values are aggregated."
        remedy = "Write all, or below:N with a number of 2 or more, such as below:10."
        findings.append(Finding("release-option", message, remedy))
    if record_key is not None and not record_key.strip():
        message = "The added column with a key of each record has no name."
        findings.append(
            Finding("release-option", message, "Write a name behind --record-key, or nothing.")
        )
    return findings


def size_below(aggregate_classes: str) -> int | None:
    """Return the size below which the sensitive values of a class are aggregated; None: in every class."""
    return None if aggregate_classes == "all" else int(aggregate_classes.partition(":")[2])


class RecordWriting(OptionGroup):
    """Settings for a file of records that is not a release; without ``shuffle_seed`` a fresh secret orders the rows."""

    title: ClassVar[str] = "Writing"
    identifiers: NameList = option(
        (),
        label="Identifiers",
        help="Columns that are not written.",
        choices_from="record columns",
    )
    shuffle_seed: str | None = option(
        None,
        label="Shuffle seed",
        help="Order the rows by this in place of a fresh secret; keep it to yourself.",
        unset_text="Random",
    )
    escape_formulas: bool = declare_escaping()

    def text(self, text: str) -> str:
        """Return a field, or the name of a column, as it is written."""
        return escape_formula(text) if self.escape_formulas else text

    def row(self, row: Sequence[str]) -> Sequence[str]:
        """Return a row with the formulas of its fields escaped, if that is chosen."""
        return [escape_formula(text) for text in row] if self.escape_formulas else row


class AddedColumns(OptionGroup):
    """Columns that are added to a file without small classes, or aggregated in it.

    record_key: name of the added column of keys (None: not added). aggregate: columns with one value per class.
    """

    title: ClassVar[str] = "Writing"
    record_key: str | None = option(
        None,
        label="Add a column of random keys",
        help="Add a column with a random key of each record, another one in every file; which record has which key is "
        "listed in NAME.index.csv next to the file, which must stay in the organisation.",
        bare_value=RECORD_KEY,
    )
    aggregate: NameList = option(
        (),
        label="Aggregated columns",
        help="Sensitive columns that are written as one value per class: the mean of numbers, the most frequent value "
        "of categories. The number of records of each class is listed in NAME.class_counts.csv next to the file.",
        default_text="none",
        choices_from="record columns",
    )
    aggregate_classes: str = declare_aggregated_classes()

    @model_validator(mode="after")
    def _check(self) -> Self:
        findings = check_record_additions(self.record_key, self.aggregate_classes)
        if findings:
            raise InputError(findings)
        return self

    @property
    def aggregate_below(self) -> int | None:
        """Return the size below which a class gets one value; None: every class does."""
        return size_below(self.aggregate_classes)


class RecipientOptions(OptionGroup):
    """The audience of a release and the ledger that it is checked against.

    ``ledger`` None: the one beside the record file, if there is one. Without an ``audience`` the release is compared
    with everything that was handed over to anybody. ``despite`` is why it is handed over although people could be
    singled out. ``also`` is the address of a place that gets the released records, too. ``compared_k`` is demanded of
    groups in place of the largest k of the releases that are compared, for the reason ``k_reason``. ``new_audience``
    confirms that an audience differs from one with a similar name.
    """

    title: ClassVar[str] = "Ledger"
    ledger: str | None = option(
        None,
        label="Ledger",
        help="File that lists what was handed over so far.",
        command_help="file that lists what was handed over (default: vbas-ledger.json next to the records, if it "
        "exists)",
        metavar="FILE",
    )
    audience: str | None = option(
        None,
        label="Recipient",
        help="Who gets the release: it is compared with what they already have. “public” means everyone.",
        unset_text="Anyone",
        command_help="who gets the release: it is compared with what they have already; “public” is everybody "
        "(default: compared with all that anybody has)",
    )
    despite: str | None = option(
        None,
        label="Reaso&n to release all the same",
        help="Kept in run.json and in the ledger.",
        command_help="release although people could be singled out with earlier releases; the reason is recorded",
        flag="--despite-ledger",
        metavar="REASON",
    )
    also: str | None = option(
        None,
        label="Also p&ut it into",
        help="A folder, FILE.parquet, FILE.duckdb#schema.table, or a table or folder of a server; left empty: nowhere.",
        unset_text="Nowhere",
        command_help="put the released records into this place, too: a folder, FILE.parquet, FILE.duckdb#schema.table, "
        "postgresql://user@host/database#schema.table, spark://host:port/folder or …#schema.table",
        flag="--target",
        metavar="ADDRESS",
    )
    compared_k: int | None = option(
        None,
        label="&k beside earlier releases",
        help="The least number of people in groups that several releases tell apart; left empty: the largest k of "
        "these releases.",
        unset_text="The largest",
        command_help="least number of people in groups that several releases tell apart (default: the largest k of the "
        "releases compared); needs --ledger-reason",
        flag="--ledger-k",
        ge=2,
    )
    k_reason: str | None = option(
        None,
        label="Reason for this k",
        help="Kept in run.json, in the internal report and in the ledger.",
        command_help="why --ledger-k is used; the reason is recorded",
        flag="--ledger-reason",
        metavar="REASON",
    )
    new_audience: bool = option(
        False,
        label="A new audience",
        help="The audience differs from the one in the ledger that has a similar name.",
        command_help="the audience is not the one in the ledger that has a similar name",
    )
