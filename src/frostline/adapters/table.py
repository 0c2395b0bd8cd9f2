"""The user's own two tables: interactions and item content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import BinaryIO, Literal

from frostline.dataset import Adapter, DataFile, Dataset
from frostline.mapping import check_columns, dataset_of
from frostline.tablefile import open_file


@dataclass(frozen=True)
class Table(Adapter):
    """Interactions and item content in two files of the user's, or two sets of files.

    A file is Parquet or JSON lines if it starts like that, and separated text otherwise, whatever its name; text may be
    compressed by gzip or zstd. Ids are text and kept as they are written, spaces and leading zeros included; whole numbers
    of a Parquet file become decimal text.

    Parameters
    ----------
    interactions, items : str
        A file, a folder (its files, but those whose name starts with `.` or `_`) or a pattern such as
        `clicks/**/*.parquet`. The items' id column is called as the interactions' item column is, or `item_id`.
    columns : dict
        Names of the columns that hold `user`, `item`, `time` and `weight`; each is its own name by default. Time and
        weight may be absent unless they are named here. Times are unix seconds (milli-, micro- or nanoseconds are
        recognised by their size, and noted) or ISO 8601, UTC where no zone is given.
    separator : str, optional
        Of both files; by default the one among comma, semicolon, tab and bar that divides a file's header best.
    encoding : str
        Of both files, if they are text.
    repeats : {'sum', 'first', 'last', 'count'}
        How rows of the same user and item become one, see `frostline.ingest.clean`.
    missing_content : {'error', 'drop'}
        What happens to interactions with items that the items file does not have.
    min_weight : float, optional
        Rows of less weight are no interactions and dropped: 4 makes an interaction of every rating of 4 and more.
    """

    interactions: str
    items: str
    columns: dict[str, str] = field(default_factory=dict)
    separator: str | None = None
    encoding: str = "utf-8"
    repeats: Literal["sum", "first", "last", "count"] = "sum"
    missing_content: Literal["error", "drop"] = "error"
    min_weight: float | None = None

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(f"separator must be one character, not {self.separator!r}")
        if self.separator is not None and not self.separator.isascii():
            raise ValueError(f"separator {self.separator!r} is not ASCII; save the file with another")
        try:
            "".encode(self.encoding)
        except LookupError as error:
            raise ValueError(f"encoding '{self.encoding}' is not known; utf-8, cp1252 and utf-16 are common") from error

    def kinds(self) -> Mapping[str, str]:
        return {}

    def files(self) -> Mapping[str, DataFile]:
        return {
            name: DataFile(path, PurePath(path).name, many=True)
            for name, path in (("interactions", self.interactions), ("items", self.items))
        }

    def read(self, files: Mapping[str, BinaryIO | list[BinaryIO]], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read both tables; the interactions batch by batch.

        Raises
        ------
        InputError
            On what is wrong with a file or its values, naming file, row, column, value and remedy.
        """
        names = {"interactions": self.interactions, "items": self.items}
        sources = {
            table: [
                open_file(part, name if part is files[table] else part.name, self.separator, self.encoding)
                for part in (files[table] if isinstance(files[table], list) else [files[table]])
            ]
            for table, name in names.items()
        }
        return dataset_of(sources["interactions"], sources["items"], self.columns, content, names)
