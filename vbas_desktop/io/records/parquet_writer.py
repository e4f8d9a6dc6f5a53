"""Write rows as Parquet.

The values are decoded row group by row group: a dictionary that Arrow would write as it is also lists the values of
records that are not released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..hashing import HashingWriter
from .row_chunks import ReleasedColumn, RowChunk, divide_rows, prepare_ahead

BYTES_PER_GROUP = 64 << 20


def write_parquet(
    out: HashingWriter, columns: Sequence[ReleasedColumn], chunks: Iterable[RowChunk]
) -> None:
    """Write the rows of the chunks in row groups of one size; only those of very long rows are smaller."""
    schema = pa.schema([(column.name, column.type) for column in columns])

    def decode(chunk: RowChunk) -> Any:
        arrays = iter(chunk.arrays)
        values = [
            next(arrays)
            if column.codes is None
            else pc.take(column.values, pa.array(column.codes(chunk.rows)), boundscheck=False)
            for column in columns
        ]
        return pa.Table.from_arrays(values, schema=schema)

    with pq.ParquetWriter(pa.PythonFile(out, "w"), schema, compression="zstd") as writer:
        for group in prepare_ahead(decode, divide_rows(columns, chunks, BYTES_PER_GROUP)):
            writer.write_table(group, row_group_size=max(1, group.num_rows))
