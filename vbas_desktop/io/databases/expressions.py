"""The queries over records, as Ibis expressions that every engine gets in its own SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from .engine import RECORDS

REGIONS, KEPT = "vbas_regions", "vbas_kept"


@dataclass(frozen=True)
class Output:
    """One column of a release: where it comes from.

    ``column`` is that of the records, None for the place or the class size. ``of_group``: the text of the group instead
    of the value; ``rewritten``: some values are written otherwise.
    """

    what: str
    column: int | None = None
    rewritten: bool = False
    of_group: int | None = None
    group_of_missing: str = ""


@dataclass(frozen=True)
class Joined:
    """How records find their class: the region column, the quasi-identifiers with their strides and missing codes."""

    region: int
    columns: tuple[int, ...]
    strides: tuple[int, ...]
    missing_codes: tuple[int, ...]
    outputs: tuple[Output, ...] = field(default=())


def categories_table(number: int) -> str:
    """The name of the small table with the categories of a quasi-identifier."""
    return f"vbas_categories_{number}"


def rewritten_table(column: int) -> str:
    """The name of the small table with what is written for values of a column."""
    return f"vbas_rewritten_{column}"


def count_query(schema: Any, columns: Sequence[int], source: str, dialect: str) -> str:
    """How many records there are of each combination of values in some columns; ``source`` names all or a part."""
    records = _records(schema, source)
    names = [f"c{column}" for column in columns]
    return _sql(records.group_by(names).agg(n=records.count()), dialect)


def select_query(columns: Sequence[int], source: str, dialect: str) -> str:
    """Some columns of the records, or of a sample of them."""
    quote = "`" if dialect == "pyspark" else '"'
    return f"SELECT {', '.join(f'{quote}c{column}{quote}' for column in columns)} FROM {source}"


def release_query(schema: Any, joined: Joined, dialect: str) -> str:
    """The released rows as columns o0, o1, …, in no particular order."""
    found = _kept(schema, joined)
    outputs = {f"o{place}": _output(found, output) for place, output in enumerate(joined.outputs)}
    return _sql(found.select(**outputs), dialect)


def frequencies_query(schema: Any, joined: Joined, column: int, dialect: str) -> str:
    """How many released records have each value of a column."""
    found = _kept(schema, joined)
    return _sql(found.group_by(f"c{column}").agg(n=found.count()), dialect)


def _kept(schema: Any, joined: Joined) -> Any:
    """The records of classes that are released, with the columns of the small tables beside theirs."""
    import ibis

    records = _records(schema)
    key = ibis.schema({"r_key": "string", "r_area": "int32"})
    regions = ibis.table(key, name=REGIONS)
    found = records.join(regions, records[f"c{joined.region}"] == regions.r_key)
    parts = []
    for number, (column, stride, missing) in enumerate(
        zip(joined.columns, joined.strides, joined.missing_codes, strict=True)
    ):
        names = {f"q{number}_key": "string", f"q{number}_code": "int64", f"q{number}_text": "string"}
        categories = ibis.table(ibis.schema(names), name=categories_table(number))
        found = found.left_join(categories, records[f"c{column}"] == categories[f"q{number}_key"])
        code = ibis.cases(
            (records[f"c{column}"].isnull(), ibis.literal(missing, "int64")), else_=categories[f"q{number}_code"]
        )
        parts.append(code * ibis.literal(stride, "int64"))
    for output in joined.outputs:
        if output.rewritten and output.column is not None:
            name = f"w{output.column}"
            names = {f"{name}_key": "string", f"{name}_text": "string"}
            written = ibis.table(ibis.schema(names), name=rewritten_table(output.column))
            found = found.left_join(written, records[f"c{output.column}"] == written[f"{name}_key"])
    # Nested, so that the number of the class is computed once and not for every join.
    found = found.mutate(vbas_class=reduce(lambda one, other: one + other, parts))
    names = {"k_area": "int32", "k_class": "int64", "k_code": "string", "k_size": "int64"}
    kept = ibis.table(ibis.schema(names), name=KEPT)
    return found.join(kept, [found.r_area == kept.k_area, found.vbas_class == kept.k_class])


def _output(found: Any, output: Output) -> Any:
    import ibis

    if output.what == "place":
        return found.k_code
    if output.what == "size":
        return found.k_size
    value = found[f"c{output.column}"]
    if output.of_group is not None:
        return ibis.cases((value.isnull(), output.group_of_missing), else_=found[f"q{output.of_group}_text"])
    if output.rewritten:
        return ibis.coalesce(found[f"w{output.column}_text"], value)
    return value


def _records(schema: Any, name: str = RECORDS) -> Any:
    """The records. Values are only compared with others of their column, so any type will do for the expression."""
    import ibis

    return ibis.table(ibis.schema(dict.fromkeys(schema.names, "string")), name=name)


def _sql(expression: Any, dialect: str) -> str:
    import ibis

    return str(ibis.to_sql(expression, dialect=dialect, pretty=False))
