"""MovieLens in the publisher's archives.

Data card
---------
source
    GroupLens, https://grouplens.org/datasets/movielens/ (F. M. Harper and J. A. Konstan, 2015).
licence
    Research use, no redistribution: see the README inside each archive.
interaction
    Every rating, whatever its height; the rating is the weight.
checked
    Both editions against the real files: numbers of users, rated items, items and ratings as in `EXPECTED`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from frostline.archive import REMEDY, member_of, opened
from frostline.dataset import KINDS, Adapter, DataFile, Dataset
from frostline.errors import InputError

# "Land Before Time III: The Time of the Great Giving (1995) (V)" has its year before the mark of a video.
_YEAR = r"\s*\((?P<year>\d{4})\)(?P<mark>\s*\([A-Z]+\))?\s*$"


@dataclass(frozen=True)
class MovieLens(Adapter):
    """What the editions, and what is laid out like them, share; a subclass describes its files.

    Parameters
    ----------
    path : str, optional
        The publisher's zip file.
    """

    path: str | None = None

    ARCHIVE: ClassVar[str]
    SOURCE: ClassVar[str]
    URL: ClassVar[str] = ""
    CHECKSUM: ClassVar[str] = ""
    LICENCE: ClassVar[str] = "research use, no redistribution: see the README inside"
    RATINGS: ClassVar[str]
    ITEMS: ClassVar[str]
    SEPARATOR: ClassVar[str]
    EXPECTED: ClassVar[Mapping[str, int]]

    def kinds(self) -> Mapping[str, str]:
        return {"genres": "categories", "year": "number", "title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        return {
            "archive": DataFile(
                self.path, self.ARCHIVE, self.SOURCE, url=self.URL, checksum=self.CHECKSUM, licence=self.LICENCE
            )
        }

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read ratings and movies; all content fields are returned whichever are wanted.

        Raises
        ------
        InputError
            When the file is no zip, lacks a member, or a member is not in the official layout.
        """
        name = self.path or self.ARCHIVE
        with opened(files["archive"], name) as archive:
            interactions = self._ratings(member_of(archive, self.RATINGS, name), f"{name}:{self.RATINGS}")
            ids, titles, genres = self._movies(member_of(archive, self.ITEMS, name), f"{name}:{self.ITEMS}")
        titles = pa.array(titles, pa.string())
        year = pc.struct_field(pc.extract_regex(titles, _YEAR), "year")
        items = pa.table(
            {
                "item_id": pa.array(ids, pa.string()),
                "genres": pa.array(genres, KINDS["categories"]),
                "year": pc.cast(year, pa.float64()),
                "title": pc.replace_substring_regex(titles, _YEAR, r"\2"),
                "row": pa.array(range(1, len(ids) + 1)),
            }
        )
        found = {
            "users": len(pc.unique(interactions["user"])),
            "rated items": len(pc.unique(interactions["item"])),
            "items": items.num_rows,
            "ratings": interactions.num_rows,
        }
        return Dataset(
            interactions=interactions,
            items=items,
            sources={"interactions": f"{name}:{self.RATINGS}", "items": f"{name}:{self.ITEMS}"},
            notes=[
                f"UNEXPECTED COUNT: {name} has {count:,} {what}, the publisher's {self.EXPECTED[what]:,}"
                for what, count in found.items()
                if count != self.EXPECTED[what]
            ],
        )

    def _ratings(self, data: bytes, where: str) -> pa.Table:
        # Arrow separates by one character: "::" then leaves empty columns between, which a null type insists on.
        gap = len(self.SEPARATOR) - 1
        ids = pa.dictionary(pa.int32(), pa.string())
        types = {"user": ids, "-1": pa.null(), "item": ids, "-2": pa.null()}
        types |= {"weight": pa.float64(), "-3": pa.null(), "time": pa.int64()}
        names = [column for column in types if gap or not column.startswith("-")]
        try:
            table = csv.read_csv(
                pa.BufferReader(data),
                csv.ReadOptions(column_names=names),
                csv.ParseOptions(delimiter=self.SEPARATOR[0], quote_char=False),
                csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
            )
        except pa.ArrowInvalid as error:
            raise InputError(
                f"is not user, item, rating, time separated by {self.SEPARATOR!r} ({error})", REMEDY, file=where
            ) from error
        table = table.select(["user", "item", "weight", "time"]).unify_dictionaries().combine_chunks()
        return table.append_column("row", pa.arange(1, table.num_rows + 1))

    @abstractmethod
    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        """Ids, titles with the year, and genres."""


class MovieLens1M(MovieLens):
    """MovieLens 1M: fields `genres`, `year` (from the title) and `title` (without the year)."""

    ARCHIVE = "ml-1m.zip"
    SOURCE = "https://grouplens.org/datasets/movielens/1m/"
    URL = "https://files.grouplens.org/datasets/movielens/ml-1m.zip"
    CHECKSUM = "md5:c4d9eecfca2ab87c1945afe126590906"
    RATINGS, ITEMS, SEPARATOR = "ratings.dat", "movies.dat", "::"
    EXPECTED: ClassVar = {"users": 6_040, "rated items": 3_706, "items": 3_883, "ratings": 1_000_209}

    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        ids, titles, genres = fields_of(data, "::", 3, where)
        return ids, titles, [genre.split("|") for genre in genres]


class MovieLens100K(MovieLens):
    """MovieLens 100K: fields as in the 1M edition; one of the publisher's genres is called `unknown`."""

    ARCHIVE = "ml-100k.zip"
    SOURCE = "https://grouplens.org/datasets/movielens/100k/"
    URL = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
    CHECKSUM = "md5:0e33842e24a9c977be4e0107933c0723"
    RATINGS, ITEMS, SEPARATOR = "u.data", "u.item", "\t"
    EXPECTED: ClassVar = {"users": 943, "rated items": 1_682, "items": 1_682, "ratings": 100_000}
    # In the order of the flags in u.item, as u.genre lists them.
    GENRES = (
        "unknown|Action|Adventure|Animation|Children's|Comedy|Crime|Documentary|Drama|Fantasy|Film-Noir|Horror|Musical|"
        "Mystery|Romance|Sci-Fi|Thriller|War|Western"
    )

    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        names = self.GENRES.split("|")
        ids, titles, _release, _video, _url, *flags = fields_of(data, "|", 5 + len(names), where)
        genres = [
            [genre for genre, flag in zip(names, movie, strict=True) if flag == "1"]
            for movie in zip(*flags, strict=True)
        ]
        return ids, titles, genres


def fields_of(data: bytes, separator: str, width: int, where: str, encoding: str = "latin-1") -> list[tuple[str, ...]]:
    """Columns of a small file without quoting."""
    # Not `splitlines`, which would also break at characters that are text.
    lines = data.decode(encoding).replace("\r\n", "\n").split("\n")
    rows = [line.split(separator) for line in lines if line]
    for row, fields in enumerate(rows, start=1):
        if len(fields) != width:
            raise InputError(
                f"{len(fields)} fields separated by {separator!r} instead of {width}", REMEDY, file=where, row=row
            )
    if not rows:
        raise InputError("is empty", REMEDY, file=where)
    return list(zip(*rows, strict=True))
