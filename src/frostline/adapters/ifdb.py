"""The Interactive Fiction Database: who played what, and what is known of a game."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from frostline.archive import REMEDY, member_of, opened
from frostline.card import Card, unexpected
from frostline.dataset import KINDS, Adapter, DataFile, Dataset
from frostline.errors import InputError

_PLACEHOLDER = datetime.datetime(1980, 1, 2)
"""Times before are no times."""


@dataclass(frozen=True)
class IFDB(Adapter):
    """Fields `genre`, `system` (what it was written in), `author`, `year` and `title`.

    Parameters
    ----------
    path : str, optional
        The zip file.
    missing_content : {'drop', 'error'}
        What becomes of interactions with games without a document.
    """

    path: str | None = None
    missing_content: Literal["drop", "error"] = "drop"

    ARCHIVE: ClassVar = "ifdb.zip"
    EXPECTED: ClassVar = {"rows": 71_033, "players": 3_179, "games": 9_547, "documents": 6_103}
    CARD = Card(
        title="IFDB, the Interactive Fiction Database",
        source="https://ifdb.org, as two Parquet files in one zip: playedgames.parquet and game_docs.parquet",
        licence="CC BY 3.0 US, credit IFDB",
        interaction="a player put a game on the list of those that he has played. 1,648 rows carry the date "
        "1980-01-01, "
        "which stands for an unknown one: their time is missing. 9,547 games are on a list and 5,942 of them have a "
        "document; by "
        "default the interactions of the others are dropped and counted, because without content a cold item cannot "
        "be told "
        "from another",
        checked="counts and fields against the real files",
        expected=EXPECTED,
        left_out="tags, which players add over the years (awards and lists of favourites are among them), and "
        "avg_rating, "
        "bayesian_avg and review_count, which are taken over all time: all of them know how popular a game became",
    )

    def kinds(self) -> Mapping[str, str]:
        lists = dict.fromkeys(("genre", "system", "author"), "categories")
        return {**lists, "year": "number", "title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        return {"archive": DataFile(self.path, self.ARCHIVE, "https://ifdb.org", licence=self.CARD.licence)}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read both files; all content fields are returned whichever are wanted.

        Raises
        ------
        InputError
            When the file is no zip, lacks a member, or a member is no Parquet file or lacks a column.
        """
        name = self.path or self.ARCHIVE
        with opened(files["archive"], name) as archive:
            played = _table(archive, "playedgames.parquet", name, ["userid", "gameid", "date_added"])
            games = _table(
                archive, "game_docs.parquet", name, ["gameid", "title", "author", "genre", "system_clean", "year"]
            )
        interactions = pa.table(
            {
                "user": played["userid"].cast(pa.string()),
                "item": played["gameid"].cast(pa.string()),
                "time": _unix_seconds(played["date_added"]),
                "row": np.arange(1, played.num_rows + 1),
            }
        )
        items = pa.table(
            {
                "item_id": games["gameid"].cast(pa.string()),
                "genre": _lists(games["genre"], r"/|,"),
                "system": _lists(games["system_clean"], r","),
                "author": _lists(games["author"], r",| and "),
                "year": pc.if_else(pc.equal(games["year"], ""), None, games["year"]).cast(pa.float64()),
                "title": games["title"].cast(pa.string()),
                "row": np.arange(1, games.num_rows + 1),
            }
        )
        found = {
            "rows": played.num_rows,
            "players": len(pc.unique(played["userid"])),
            "games": len(pc.unique(played["gameid"])),
            "documents": games.num_rows,
        }
        return Dataset(
            interactions=interactions,
            items=items,
            sources={"interactions": f"{name}:playedgames.parquet", "items": f"{name}:game_docs.parquet"},
            columns={"user": "userid", "item": "gameid", "time": "date_added", "item_id": "gameid"},
            notes=unexpected(name, found, self.EXPECTED),
        )


def _table(archive: zipfile.ZipFile, base: str, name: str, columns: list[str]) -> pa.Table:
    data = member_of(archive, base, name)
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a readable Parquet file ({error})", REMEDY, file=f"{name}:{base}") from error
    for column in columns:
        if column not in table.column_names:
            raise InputError(f"lacks the column '{column}'", REMEDY, file=f"{name}:{base}")
    return table


def _unix_seconds(times: pa.ChunkedArray) -> pa.ChunkedArray:
    seconds = times.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    return pc.if_else(pc.less(times, _PLACEHOLDER), None, seconds)


def _lists(values: pa.ChunkedArray, separators: str) -> pa.Array:
    parted = (re.split(separators, value or "") for value in values.to_pylist())
    return pa.array([[part.strip() for part in parts if part.strip()] for parts in parted], KINDS["categories"])
