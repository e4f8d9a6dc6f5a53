"""Results of engines with the types that the records have: engines know fewer units of time than Parquet."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def typed_as(column: Any, kind: Any) -> Any:
    """The column as a type, where it can be."""
    if column.type == kind or pa.types.is_nested(kind):
        return column
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return column.cast(plain)
    except pa.ArrowException:
        return column


def cast(found: Any, types: Any) -> Any:
    """A table or batch under the names and types of a schema."""
    columns = [typed_as(column, field.type) for column, field in zip(found.columns, types, strict=True)]
    return type(found).from_arrays(columns, names=types.names)
