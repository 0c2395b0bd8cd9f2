"""KION: who watched what, and for how long, on a video service."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

import numpy as np
import pyarrow as pa

from frostline.archive import REMEDY, member_of, opened
from frostline.card import Card
from frostline.dataset import Adapter, DataFile, Dataset
from frostline.faults import Faults
from frostline.tablefile import Column, Source, open_file, require
from frostline.tablefile.times import Times

BELOW = "watched_below_minimum"
_VIEW = ("user_id", "item_id", "last_watch_dt", "watched_pct")


@dataclass(frozen=True)
class KION(Adapter):
    """Users' views of films and series, with the service's own metadata.

    Parameters
    ----------
    path : str, optional
        The publisher's zip file.
    min_watched_pct : float
        A row is an interaction if at least so many per cent were watched, 0 to 100. With 0 every row is, also one that
        does not say how much.
    """

    path: str | None = None
    min_watched_pct: float = 0.0

    CARD = Card(
        title="KION, the movie recommendation dataset of MTS",
        source="https://github.com/irsafilo/KION_DATASET, the archive data_original.zip, to be kept as kion.zip (I. Safilo, "
        "D. Tikhonovich, A. Petrov and D. Ignatov, arXiv 2209.00325, 2022)",
        licence="see the publisher's page",
        interaction="a user watched an item; rows below `min_watched_pct` are left out and counted. The time is the "
        "day of the "
        "last view; no weights",
        checked="no real file at hand: on small files in the documented layout; counts as published",
        expected={"interactions": 5_476_251, "users": 962_179, "items in the catalogue": 15_963},
    )
    URL: ClassVar = (
        "https://github.com/irsafilo/KION_DATASET/raw/f69775be31fa5779907cf0a92ddedb70037fb5ae/data_original.zip"
    )
    LISTS: ClassVar = ("genres", "countries", "studios", "directors", "actors", "keywords")

    def __post_init__(self) -> None:
        if not 0 <= self.min_watched_pct <= 100:
            raise ValueError(f"min_watched_pct is {self.min_watched_pct}; give per cent from 0 to 100")

    def kinds(self) -> Mapping[str, str]:
        texts = dict.fromkeys(("title", "title_orig", "description"), "text")
        numbers = dict.fromkeys(("release_year", "age_rating", "for_kids"), "number")
        return {"content_type": "categories", **dict.fromkeys(self.LISTS, "categories"), **numbers, **texts}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        return {"archive": DataFile(self.path, "kion.zip", card.source, url=self.URL, licence=card.licence)}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read interactions and the wanted fields of items.

        Raises
        ------
        InputError
            When the file is no zip, lacks a member or a column, or a value cannot be read.
        """
        name = self.path or "kion.zip"
        with opened(files["archive"], name) as archive:
            views, items = (
                open_file(io.BytesIO(member_of(archive, base, name)), f"{name}:{base}", ",")
                for base in ("interactions.csv", "items.csv")
            )
        for source, columns in ((views, _VIEW), (items, ("item_id", *content))):
            for column in columns:
                require(source, column, REMEDY)
        dropped: dict[str, int] = {}
        notes: list[str] = []
        return Dataset(
            interactions=self._views(views, dropped, notes),
            items=_items(items, content),
            sources={"interactions": views.name, "items": items.name},
            columns={"user": "user_id", "item": "item_id", "time": "last_watch_dt", "item_id": "item_id"},
            dropped=dropped,
            notes=notes,
            line_of=lambda file, row: views.line(row) if file == views.name else row,
        )

    def _views(self, source: Source, dropped: dict[str, int], notes: list[str]) -> Iterator[pa.Table]:
        faults, times = Faults(), Times()
        for raw, row in source.batches(_VIEW):
            columns = {name: Column(raw[name], row, source.name, name, faults) for name in raw.column_names}
            table = pa.table(
                {
                    "user": columns["user_id"].ids(),
                    "item": columns["item_id"].ids(),
                    "time": times.seconds(columns["last_watch_dt"]),
                    "row": row,
                }
            )
            if self.min_watched_pct:
                watched = columns["watched_pct"].numbers(missing=True).fill_null(np.nan).to_numpy()
                is_enough = watched >= self.min_watched_pct
                dropped[BELOW] = dropped.get(BELOW, 0) + int((~is_enough).sum())
                table = table.filter(pa.array(is_enough))
            yield table
        faults.raise_if_any(lambda file, row: source.line(row))
        notes += times.notes


def _items(source: Source, content: Mapping[str, Mapping[str, str]]) -> pa.Table:
    faults = Faults()
    raw, row = source.read(list(dict.fromkeys(["item_id", *content])))
    columns = {name: Column(raw[name], row, source.name, name, faults) for name in raw.column_names}
    table = {"item_id": columns["item_id"].ids().cast(pa.string())}
    table |= {
        name: columns[name].content(options["as"], options.get("separator", ",")) for name, options in content.items()
    }
    faults.raise_if_any()
    return pa.table(table | {"row": row})
