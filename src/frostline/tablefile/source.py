"""What all sources of columns have in common, and their messages about columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from frostline.errors import InputError, suggest


class Source(ABC):
    """A table that is read in batches of columns.

    Attributes
    ----------
    name : str
        The file's name as the user knows it.
    columns : list of str
    notes : list of str
        What was recognised or found odd.
    repeated_headers : list of int
        Rows that hold the header once more, which `batches` leaves out.
    """

    def __init__(self, name: str, columns: list[str]) -> None:
        self.name, self.columns = name, columns
        self.notes: list[str] = []
        self.repeated_headers: list[int] = []

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        """The columns, a batch at a time, with the row of each record.

        Rows may be provisional: `line` tells what they are in the file.

        Raises
        ------
        InputError
            At the latest after the last batch, if the file is not what it seemed to be.
        """

    def line(self, row: int) -> int:
        """The row as a person counts it, once all batches have been read."""
        return row

    def explain_absence(self, column: str) -> None:  # noqa: B027
        """Raise if there is a better reason for the absence of a column than that the file has none."""

    def read(self, columns: Sequence[str]) -> tuple[pa.Table, np.ndarray]:
        """All batches as one table, with the row of each record as a person counts it."""
        batches = list(self.batches(columns))
        table = pa.concat_tables([batch for batch, _ in batches], promote_options="permissive")
        rows = np.concatenate([row for _, row in batches])
        self.repeated_headers = [self.line(row) for row in self.repeated_headers]
        return table, np.array([self.line(row) for row in rows.tolist()])


def require(source: Source, column: str, remedy: str) -> None:
    """Refuse a table that does not have a column, or has it more than once."""
    if column not in source.columns:
        source.explain_absence(column)
        # The nearest spelling is sought without regard to case and outer spaces first.
        same = [name for name in source.columns if name.strip().casefold() == column.strip().casefold()]
        hint = (
            f"did you mean '{same[0]}'? Allowed: {', '.join(source.columns)}"
            if same
            else suggest(column, source.columns)
        )
        raise InputError("there is no such column", f"{remedy}: {hint}", file=source.name, field=column)
    if source.columns.count(column) > 1:
        raise InputError(
            "the header has this column more than once", "Rename one", file=source.name, row=1, field=column
        )
