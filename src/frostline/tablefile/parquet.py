"""Parquet files; rows are counted from 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from frostline.errors import InputError
from frostline.tablefile.source import Source

BATCH = 2**19
"""Rows that are read at once."""


class ParquetTable(Source):
    def __init__(self, file: BinaryIO, name: str) -> None:
        with _readable(name):
            self._file = pq.ParquetFile(file)
        super().__init__(name, self._file.schema_arrow.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        if not self._file.metadata.num_rows:
            raise InputError("has no rows", "Export it again with its rows", file=self.name)
        batches, first = self._file.iter_batches(BATCH, columns=list(columns), use_threads=False), 1
        while True:
            with _readable(self.name):
                batch = next(batches, None)
            if batch is None:
                return
            # In the order that was asked for, not that of the file.
            yield pa.Table.from_batches([batch]).select(columns), np.arange(first, first + len(batch))
            first += len(batch)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a readable Parquet file ({error})", "Export it again", file=name) from error
