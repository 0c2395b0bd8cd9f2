"""MIND: clicks on news articles in the impressions of a news service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from frostline.archive import REMEDY, member_of, opened
from frostline.card import Card
from frostline.dataset import KINDS, Adapter, DataFile, Dataset
from frostline.errors import InputError

_BEHAVIOURS = ("impression", "user", "time", "history", "shown")
_NEWS = ("item_id", "category", "subcategory", "title", "abstract", "url", "title_entities", "abstract_entities")


@dataclass(frozen=True)
class MIND(Adapter):
    """Clicks of the training and the validation part together; their own division is not used.

    Parameters
    ----------
    edition : {'small', 'large'}
    train, dev : str, optional
        The archives `MINDsmall_train.zip` and `MINDsmall_dev.zip`, or those of the large edition.
    history : bool
        Whether earlier clicks, of which the order is known but no time, are interactions too. For a split by time they
        should be: an article that occurs there is not new.
    """

    edition: Literal["small", "large"] = "small"
    train: str | None = None
    dev: str | None = None
    history: bool = False

    CARD = Card(
        title="MIND, the Microsoft news dataset",
        source="https://msnews.github.io (F. Wu and others, ACL 2020)",
        licence="Microsoft Research License Terms: research use; accept them on the publisher's page",
        interaction="a click on an article that was shown, at the time of the impression (whose zone is not told; "
        "taken for UTC). "
        "What was shown and not clicked is no interaction. No weights",
        checked="no real file at hand: on small files in the documented layout",
    )

    def kinds(self) -> Mapping[str, str]:
        return {"category": "categories", "subcategory": "categories", "title": "text", "abstract": "text"}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        return {
            part: DataFile(path, f"MIND{self.edition}_{part}.zip", card.source, licence=card.licence)
            for part, path in (("train", self.train), ("dev", self.dev))
        }

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read clicks and articles; all content fields are returned whichever are wanted.

        Raises
        ------
        InputError
            When a file is no zip, lacks a member, or a member is not in the official layout.
        """
        clicks, news = [], []
        for part, file in self.files().items():
            name = file.path or file.name
            with opened(files[part], name) as archive:
                where = f"{name}:behaviors.tsv"
                behaviours = _table(member_of(archive, "behaviors.tsv", name), _BEHAVIOURS, where)
                clicks += _clicks(behaviours, where, self.history)
                news.append(_articles(member_of(archive, "news.tsv", name), f"{name}:news.tsv"))
        return Dataset(
            interactions=pa.concat_tables(clicks).combine_chunks(),
            items=pa.concat_tables(news).combine_chunks(),
            sources={"interactions": "behaviors.tsv", "items": "news.tsv"},
        )


def _table(data: bytes, columns: tuple[str, ...], where: str) -> pa.Table:
    try:
        return csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=columns),
            csv.ParseOptions(delimiter="\t", quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"is not {len(columns)} fields separated by tabs ({error})", REMEDY, file=where) from error


def _clicks(behaviours: pa.Table, where: str, with_history: bool) -> Iterator[pa.Table]:
    try:
        time = pc.strptime(behaviours["time"], format="%m/%d/%Y %I:%M:%S %p", unit="s").cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(f"has times of another form ({error})", REMEDY, file=where, field="time") from error
    row, shown = _words(behaviours["shown"])
    marked = pc.extract_regex(shown, r"^(?P<item>.+)-(?P<clicked>[01])$")
    if marked.null_count:
        at = int(row[int(np.flatnonzero(marked.is_null())[0])])
        raise InputError(
            "an article that was shown has no mark -0 or -1", REMEDY, file=where, row=at + 1, field="impressions"
        )
    clicked = pc.equal(pc.struct_field(marked, "clicked"), "1").to_numpy(zero_copy_only=False)
    row = row[clicked]
    item = pc.struct_field(marked, "item").filter(pa.array(clicked))
    yield _interactions(behaviours, row, item, time.take(pa.array(row)), where)
    if with_history:
        # A user's history is the same in all his rows.
        last = np.unique(pc.index_in(behaviours["user"], pc.unique(behaviours["user"])).to_numpy(), return_index=True)[
            1
        ]
        of, item = _words(behaviours["history"].take(pa.array(last)))
        yield _interactions(behaviours, last[of], item, pa.nulls(len(item), pa.int64()), where)


def _words(texts: pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """The words of all texts, and which text each is of."""
    lists = pc.split_pattern(texts.combine_chunks(), " ")
    of, words = pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)
    is_word = pc.not_equal(words, "").to_numpy(zero_copy_only=False)
    return of[is_word], words.filter(pa.array(is_word))


def _interactions(behaviours: pa.Table, row: np.ndarray, item: pa.Array, time: pa.Array, where: str) -> pa.Table:
    return pa.table(
        {
            "user": behaviours["user"].take(pa.array(row)).combine_chunks(),
            "item": item,
            "time": time.combine_chunks() if isinstance(time, pa.ChunkedArray) else time,
            "row": row + 1,
            "file": pa.repeat(where, len(row)),
        }
    )


def _articles(data: bytes, where: str) -> pa.Table:
    news = _table(data, _NEWS, where)
    single = {
        name: [[value] if value else [] for value in news[name].to_pylist()] for name in ("category", "subcategory")
    }
    return pa.table(
        {
            "item_id": news["item_id"],
            **{name: pa.array(values, KINDS["categories"]) for name, values in single.items()},
            "title": news["title"],
            "abstract": news["abstract"],
            "row": np.arange(1, news.num_rows + 1),
            "file": pa.repeat(where, news.num_rows),
        }
    )
