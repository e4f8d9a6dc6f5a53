"""Writes the SQL queries over records: count the classes, release the rows, count released values.

Every engine runs the same text. It contains only names that the program gives (``c0``, ``vbas_classes`` …) and
integers: names of columns stay in the definition of `RECORDS`, values and texts in small uploaded tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .engine import RECORDS

REGIONS = "vbas_regions"
"""Table of the regions: key of the records (``r_key``), number of the aggregated region (``r_area``)."""
CLASSES = "vbas_classes"
"""Table of the released classes: aggregated region, class, released code and size (``k_area`` … ``k_size``)."""


@dataclass(frozen=True)
class OutputColumn:
    """One column of a release and its origin: ``what`` is value, region or size.

    ``column`` is that of the records, None for the released region or the class size. ``of_group``: the number of the
    quasi-identifier whose groups are written instead of its values; ``rewritten``: some values are written otherwise.
    """

    what: str
    column: int | None = None
    rewritten: bool = False
    of_group: int | None = None


@dataclass(frozen=True)
class ReleaseJoin:
    """Join records with their classes: region column, quasi-identifiers with their strides and missing codes."""

    region: int
    columns: tuple[int, ...]
    strides: tuple[int, ...]
    missing_codes: tuple[int, ...]
    outputs: tuple[OutputColumn, ...] = ()


def categories_table_name(number: int) -> str:
    """Name the table with the categories of a quasi-identifier.

    Its columns are ``q0_key`` (the value, null: missing), ``q0_code`` and ``q0_text`` (the text of the group).
    """
    return f"vbas_categories_{number}"


def rewritten_table_name(column: int) -> str:
    """Name the table with what is written for values of a column: ``w0_key`` and ``w0_text``."""
    return f"vbas_rewritten_{column}"


def count_query(columns: Sequence[int], source: str = RECORDS) -> str:
    """Count the records of each combination of values in some columns; ``source`` names all records or a part."""
    listed = _list_columns(columns)
    return f"SELECT {listed}, count(*) AS n FROM {source} GROUP BY {listed}"


def select_query(columns: Sequence[int], source: str = RECORDS) -> str:
    """Select some columns of the records, or of a sample of them."""
    return f"SELECT {_list_columns(columns)} FROM {source}"


def release_query(join: ReleaseJoin) -> str:
    """Select the released rows as columns o0, o1, …, in no particular order."""
    outputs = ", ".join(
        f"{_output_expression(output)} AS o{number}" for number, output in enumerate(join.outputs)
    )
    return f"SELECT {outputs} FROM {_join_released(join)}"


def frequencies_query(join: ReleaseJoin, column: int) -> str:
    """Count the released records with each value of a column."""
    return f"SELECT c{column}, count(*) AS n FROM {_join_released(join)} GROUP BY c{column}"


def _list_columns(columns: Sequence[int]) -> str:
    return ", ".join(f"c{column}" for column in columns)


def _join_released(join: ReleaseJoin) -> str:
    """Join the records with the small tables, and keep those of released classes."""
    joins = [f"{RECORDS} JOIN {REGIONS} ON c{join.region} = r_key"]
    terms = []
    quasi_identifiers = zip(join.columns, join.strides, join.missing_codes, strict=True)
    for number, (column, stride, missing) in enumerate(quasi_identifiers):
        joins.append(f"LEFT JOIN {categories_table_name(number)} ON c{column} = q{number}_key")
        terms.append(f"CASE WHEN c{column} IS NULL THEN {missing} ELSE q{number}_code END * {stride}")
    rewritten = [
        output.column for output in join.outputs if output.rewritten and output.column is not None
    ]
    joins += [
        f"LEFT JOIN {rewritten_table_name(column)} ON c{column} = w{column}_key" for column in rewritten
    ]
    # A subquery, so that the number of the class is computed once and not for every comparison.
    classified = f"(SELECT *, {' + '.join(terms)} AS vbas_class FROM {' '.join(joins)}) AS classified"
    return f"{classified} JOIN {CLASSES} ON r_area = k_area AND vbas_class = k_class"


def _output_expression(output: OutputColumn) -> str:
    """Write the expression of one released column."""
    if output.what == "region":
        return "k_code"
    if output.what == "size":
        return "k_size"
    value = f"c{output.column}"
    if output.of_group is not None:
        text = f"q{output.of_group}_text"
        missing = f"SELECT {text} FROM {categories_table_name(output.of_group)} WHERE q{output.of_group}_key IS NULL"
        return f"CASE WHEN {value} IS NULL THEN ({missing}) ELSE {text} END"
    return f"coalesce(w{output.column}_text, {value})" if output.rewritten else value
