"""The user's own catalogue: a table of items with text, and the links between them in a column or in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from frostline.dataset import MISSING, Adapter, DataFile, Dataset
from frostline.errors import InputError, suggest
from frostline.judgements import with_judgements
from frostline.links import Reference, longest, resolve
from frostline.tablefile import Column, open_file, require

_ROLES = ("item", "links", "source", "target")


@dataclass(frozen=True)
class LinkedItems(Adapter):
    """Items with text, a column of groups and links, each file CSV, TSV or Parquet.

    Rows of the same item become one: the longest text stays, their links are united, and the report lists them.

    Parameters
    ----------
    items : str
        One row an item.
    links : str, optional
        A file with a row a link. Without it, links stand in a column of the items file.
    judgements : str, optional
        A file of text queries with judged items, columns `query`, `item`, `relevance`: the truth of the lens `judged`,
        in place of links.
    columns : dict
        Names of the columns `item` and `links` of the items file, `source` and `target` of the links file; each is its
        own name by default.
    link_separator : str
        Between the ids in a column of links.
    separator : str, optional
        Of the files, if they are text; found by itself as a rule.
    encoding : str
    """

    items: str
    links: str | None = None
    judgements: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    link_separator: str = "|"
    separator: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        for role in self.columns:
            if role not in _ROLES:
                raise ValueError(f"columns has the unknown key '{role}', {suggest(role, _ROLES)}")
        if not self.link_separator:
            raise ValueError("link_separator is empty")

    def kinds(self) -> Mapping[str, str]:
        """Unknown beforehand: the config gives each field's kind."""
        return {}

    def files(self) -> Mapping[str, DataFile]:
        named = {"items": self.items, "links": self.links, "judgements": self.judgements}
        return {role: DataFile(path, PurePath(path).name) for role, path in named.items() if path}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read the files; a link is an interaction, its `user` the item that refers (with judgements, the query).

        Raises
        ------
        InputError
            On the first thing that is wrong with a file or a value, naming file, row, column, value and remedy.
        """
        names = {role: self.columns.get(role, role) for role in _ROLES}
        source = open_file(files["items"], self.items, self.separator, self.encoding)
        in_column = not self.links and not self.judgements
        wanted = [names["item"], *([names["links"]] if in_column else [])]
        for column in wanted:
            require(source, column, "Name the column as `columns: {item: …, links: …}`, or give a file of `links`")
        for column in content:
            require(source, column, "Name the field in `content` as the file does")
            if in_column and column == names["links"]:
                raise InputError(
                    "is the column of links, which must not be content", "Leave it out", file=self.items, field=column
                )
        raw, row = source.read(list(dict.fromkeys([*wanted, *content])))
        keys = _ids(Column(raw[names["item"]], row, self.items, names["item"]), self.items, row, names["item"])
        fields = {
            name: Column(raw[name], row, self.items, name).content(options["as"], options.get("separator", "|"))
            for name, options in content.items()
        }
        texts = [fields[name].to_pylist() for name, options in content.items() if options["as"] == "text"]
        kept, repeated = longest(
            keys, [[text or "" for text in line] for line in zip(*texts, strict=True)] or [()] * len(keys)
        )
        items = pa.table(fields | {"item_id": pa.array(keys), "row": pa.array(row, pa.int64())}).take(pa.array(kept))
        ids = [keys[number] for number in kept]
        dataset = Dataset(
            interactions=pa.table({"user": pa.array([], pa.string()), "item": pa.array([], pa.string())}),
            items=items,
            sources={"items": self.items},
            dropped_items={"repeated_key": len(keys) - len(kept)} if repeated else {},
            columns={"item_id": names["item"], "user": names["source"], "item": names["target"]},
            notes=[*source.notes, *(f"{self.items}: {text}" for text in _alike(repeated, row))],
        )
        if self.judgements:
            return with_judgements(dataset, files["judgements"], self.judgements)
        if in_column:
            column = Column(raw[names["links"]], row, self.items, names["links"]).content(
                "categories", self.link_separator
            )
            references = [
                Reference(key, part.strip(), self.items, number)
                for key, parts, number in zip(keys, column.to_pylist(), row.tolist(), strict=True)
                for part in parts or ()
                if part.strip() not in MISSING
            ]
        else:
            references = self._linked(files["links"], names, set(ids))
        links = resolve(references, ids)
        if not links.pairs:
            raise InputError(
                f"none of {len(references)} references names another item",
                "Write links by the items' ids",
                file=self.links or self.items,
                field=names["target"] if self.links else names["links"],
            )
        return replace(
            dataset,
            interactions=links.table(),
            sources={"interactions": self.links or self.items, "items": self.items},
            dropped=links.dropped,
            links=links.report | {"repeated_keys": {key: row[found].tolist() for key, found in repeated.items()}},
        )

    def _linked(self, file: BinaryIO, names: Mapping[str, str], known: set[str]) -> list[Reference]:
        source = open_file(file, self.links, self.separator, self.encoding)
        ends = [names["source"], names["target"]]
        for column in ends:
            require(source, column, "Name the column as `columns: {source: …, target: …}`")
        raw, row = source.read(ends)
        sources, targets = (_ids(Column(raw[name], row, self.links, name), self.links, row, name) for name in ends)
        for one, number in zip(sources, row.tolist(), strict=True):
            if one not in known:
                raise InputError(
                    f"'{one}' is no item of {self.items}",
                    "Add its row there or remove the link",
                    file=self.links,
                    row=number,
                    field=names["source"],
                )
        return [Reference(*link, self.links, n) for *link, n in zip(sources, targets, row.tolist(), strict=True)]


def _ids(column: Column, file: str, row: np.ndarray, name: str) -> list[str]:
    ids = column.ids().cast(pa.string()).to_pylist()
    for number, value in zip(row.tolist(), ids, strict=True):
        if value is None or value.strip() in MISSING:
            raise InputError(
                f"{value!r} is not an id", "Fill it in or remove the row", file=file, row=number, field=name
            )
    return ids


def _alike(repeated: Mapping[str, Sequence[int]], row: np.ndarray) -> list[str]:
    return [f"rows {', '.join(map(str, row[found]))} are all '{key}'" for key, found in list(repeated.items())[:5]]
