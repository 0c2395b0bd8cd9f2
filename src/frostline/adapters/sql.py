"""Interactions and item content as two queries to a database: PostgreSQL or SQLite, through ADBC."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import BinaryIO, Literal

import adbc_driver_manager
import numpy as np
import pyarrow as pa

from frostline.artifacts import with_environment
from frostline.dataset import Adapter, DataFile, Dataset
from frostline.errors import InputError
from frostline.mapping import check_columns, dataset_of
from frostline.tablefile import Source

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql", "postgres")


@dataclass(frozen=True)
class SQL(Adapter):
    """What two queries give, read as the adapter `table` reads two files.

    Both are asked in one read-only transaction, so that they see the same state of a PostgreSQL database. The order of
    their rows makes no difference to what ingest writes.

    Parameters
    ----------
    uri : str
        `postgresql://user@host/database`, or `sqlite:///file.db`. `${NAME}` stands for an environment variable; a password
        belongs into one (or into `PGPASSWORD`), because parameters are written into the provenance of every result.
    interactions, items : str
        The queries. Columns are named as in `table`.
    columns, repeats, missing_content, min_weight
        As in `table`.
    """

    uri: str
    interactions: str
    items: str
    columns: dict[str, str] = field(default_factory=dict)
    repeats: Literal["sum", "first", "last", "count"] = "sum"
    missing_content: Literal["error", "drop"] = "error"
    min_weight: float | None = None

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if not self.uri.startswith((_SQLITE, *(f"{scheme}://" for scheme in _POSTGRES))):
            raise ValueError("uri must start with postgresql:// or sqlite:///")
        if re.match(r"\w+://[^/@:]*:(?!\$\{\w+\}@)[^/@]+@|.*[?&]password=(?!\$\{)", self.uri):
            raise ValueError(
                "uri holds a password, which would be written into every result's provenance. Put it into an environment "
                "variable and write ${NAME} in its place, or set PGPASSWORD"
            )

    @property
    def _is_sqlite(self) -> bool:
        return self.uri.startswith(_SQLITE)

    def kinds(self) -> Mapping[str, str]:
        return {}

    def files(self) -> Mapping[str, DataFile]:
        if not self._is_sqlite:
            return {}
        path = self.uri.removeprefix(_SQLITE)
        return {"database": DataFile(path, PurePath(path).name)}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Ask both queries: items at once, interactions batch by batch.

        Raises
        ------
        InputError
            When the database cannot be reached, a query fails, or a column cannot be used.
        """
        names = {"interactions": "query of interactions", "items": "query of items"}
        with ExitStack() as stack:
            connection = stack.enter_context(self._connect(files))
            # One result after the other: a connection carries no more at a time.
            with connection.cursor() as cursor:
                items = _Result(names["items"], cursor, self.items)
                items.keep()
            interactions = _Result(names["interactions"], stack.enter_context(connection.cursor()), self.interactions)
            dataset = dataset_of([interactions], [items], self.columns, content, names)
            return replace(dataset, close=stack.pop_all().close)

    def _connect(self, files: Mapping[str, BinaryIO]):
        try:
            if self._is_sqlite:
                from adbc_driver_sqlite import dbapi

                # Immutable, because a journal beside the file may be neither read nor written by this stage.
                path = re.sub("[%?#]", lambda sign: f"%{ord(sign[0]):02X}", files["database"].name)
                return dbapi.connect(f"file:{path}?immutable=1")
            from adbc_driver_postgresql import dbapi

            connection = dbapi.connect(with_environment(self.uri))
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return connection
        except adbc_driver_manager.Error as error:
            raise InputError(
                f"the database cannot be reached ({_first_line(error)})",
                "Check the address, that the server is up, and user and password (PGPASSWORD)",
                file=self.uri,
            ) from error


class _Result(Source):
    """Rows of a query, counted from 1."""

    def __init__(self, name: str, cursor, query: str) -> None:
        _asked(name, lambda: cursor.execute(query))
        self._reader = _asked(name, cursor.fetch_record_batch)
        self._kept: list[pa.RecordBatch] | None = None
        super().__init__(name, self._reader.schema.names)

    def keep(self) -> None:
        """Fetch all rows, so that the connection is free."""
        self._kept = list(self._fetched())

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        rows = 0
        for batch in self._fetched() if self._kept is None else self._kept:
            if len(batch):
                table = pa.Table.from_batches([batch]).select(list(columns))
                yield _plain(table), np.arange(rows + 1, rows + 1 + len(batch))
                rows += len(batch)
        if not rows:
            raise InputError("gives no rows", "Ask for rows that exist", file=self.name)

    def _fetched(self) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                yield _asked(self.name, self._reader.read_next_batch)
            except StopIteration:
                return


def _asked(name: str, ask: Callable):
    try:
        return ask()
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as error:
        raise InputError(f"fails ({_first_line(error)})", "Mend the query", file=name) from error


def _plain(table: pa.Table) -> pa.Table:
    """Columns of a database's own types as what they are stored as: a NUMERIC comes as text."""
    for place, column in enumerate(table.columns):
        if isinstance(column.type, pa.BaseExtensionType):
            chunks = [chunk.storage for chunk in column.chunks]
            table = table.set_column(place, table.column_names[place], pa.chunked_array(chunks))
    return table


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
