"""The user's own two files: interactions and item content, as CSV, TSV or Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import BinaryIO, Literal

import pyarrow as pa

from frostline.dataset import Adapter, DataFile, Dataset
from frostline.errors import suggest
from frostline.tablefile import Column, open_file, require


@dataclass(frozen=True)
class Table(Adapter):
    """Interactions and item content in two files of the user's.

    A file is Parquet if it starts like one, and separated text otherwise, whatever its name. Ids are text and kept as
    they are written, spaces and leading zeros included; whole numbers of a Parquet file become decimal text.

    Parameters
    ----------
    interactions, items : str
        The files. The items file's id column is called as the interactions' item column is, or `item_id`.
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
    """

    interactions: str
    items: str
    columns: dict[str, str] = field(default_factory=dict)
    separator: str | None = None
    encoding: str = "utf-8"
    repeats: Literal["sum", "first", "last", "count"] = "sum"
    missing_content: Literal["error", "drop"] = "error"

    def __post_init__(self) -> None:
        for role in self.columns:
            if role not in _ROLES:
                raise ValueError(f"columns has the unknown key '{role}', {suggest(role, _ROLES)}")
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(f"separator must be one character, not {self.separator!r}")
        if self.separator is not None and not self.separator.isascii():
            raise ValueError(f"separator {self.separator!r} is not ASCII; save the file with another")
        if len(set(self.columns.values())) < len(self.columns):
            raise ValueError(f"columns gives one column two roles: {self.columns}")
        try:
            "".encode(self.encoding)
        except LookupError as error:
            raise ValueError(f"encoding '{self.encoding}' is not known; utf-8, cp1252 and utf-16 are common") from error

    def kinds(self) -> Mapping[str, str]:
        return {}

    def files(self) -> Mapping[str, DataFile]:
        return {
            name: DataFile(path, PurePath(path).name)
            for name, path in (("interactions", self.interactions), ("items", self.items))
        }

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read both files.

        Raises
        ------
        InputError
            On the first thing that is wrong with a file or a value, naming file, row, column, value and remedy.
        """
        names = {role: self.columns.get(role, role) for role in _ROLES}
        events = open_file(files["interactions"], self.interactions, self.separator, self.encoding)
        wanted = {
            role: column
            for role, column in names.items()
            if role in ("user", "item") or role in self.columns or column in events.columns
        }
        for role, column in wanted.items():
            require(events, column, f"Name the column that holds it as `columns: {{{role}: …}}`")
        catalogue = open_file(files["items"], self.items, self.separator, self.encoding)
        names["item_id"] = names["item"] if names["item"] in catalogue.columns else "item_id"
        require(catalogue, names["item_id"], f"Call the column of ids '{names['item']}' or 'item_id'")
        for column in content:
            require(catalogue, column, "Name the field in `content` as the file does")

        raw, row = events.read(list(wanted.values()))
        parts = {role: Column(raw[column], row, self.interactions, column) for role, column in wanted.items()}
        table = {"user": parts["user"].ids(), "item": parts["item"].ids()}
        notes = [*events.notes, *catalogue.notes]
        if "time" in parts:
            table["time"], unit = parts["time"].unix_seconds()
            if unit != "seconds":
                notes.append(f"{self.interactions}, field '{names['time']}': times were read as {unit}")
        if "weight" in parts:
            table["weight"] = parts["weight"].numbers(missing=False)

        raw, item_row = catalogue.read(list(dict.fromkeys([names["item_id"], *content])))
        fields = {"item_id": Column(raw[names["item_id"]], item_row, self.items, names["item_id"]).ids()}
        for name, options in content.items():
            column = Column(raw[name], item_row, self.items, name)
            fields[name] = column.content(options["as"], options.get("separator", "|"))
            if options["as"] == "categories" and "separator" not in options and column.lacks("|"):
                notes.append(
                    f"{self.items}, field '{name}': no value contains '|', so each is one category; "
                    "give `separator` if they are lists"
                )
        return Dataset(
            interactions=pa.table(table | {"row": row}),
            items=pa.table(fields | {"row": item_row}),
            sources={"interactions": self.interactions, "items": self.items},
            columns=names,
            notes=notes,
        )


_ROLES = ("user", "item", "time", "weight")
