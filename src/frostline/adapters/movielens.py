"""MovieLens in the publisher's archives, all editions; the data cards stand with the classes."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Mapping
from csv import Error as CSVError
from csv import reader
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from frostline.archive import REMEDY, member_of, opened
from frostline.card import Card, unexpected
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
    URL: ClassVar[str] = ""
    CHECKSUM: ClassVar[str] = ""
    RATINGS: ClassVar[str]
    ITEMS: ClassVar[str]
    SEPARATOR: ClassVar[str]
    HEADER: ClassVar[str] = ""
    """First line of the ratings, if there is one."""
    EXPECTED: ClassVar[Mapping[str, int]]

    def kinds(self) -> Mapping[str, str]:
        return {"genres": "categories", "year": "number", "title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        return {
            "archive": DataFile(
                self.path, self.ARCHIVE, card.source, url=self.URL, checksum=self.CHECKSUM, licence=card.licence
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
            notes=unexpected(name, found, self.EXPECTED),
        )

    def _ratings(self, data: bytes, where: str) -> pa.Table:
        # Arrow separates by one character: "::" then leaves empty columns between, which a null type insists on.
        gap = len(self.SEPARATOR) - 1
        ids = pa.dictionary(pa.int32(), pa.string())
        types = {"user": ids, "-1": pa.null(), "item": ids, "-2": pa.null()}
        types |= {"weight": pa.float64(), "-3": pa.null(), "time": pa.int64()}
        names = [column for column in types if gap or not column.startswith("-")]
        n_before = 1 if self.HEADER else 0
        if self.HEADER and data.partition(b"\n")[0].strip() != self.HEADER.encode():
            raise InputError(f"does not begin with the header {self.HEADER!r}", REMEDY, file=where, row=1)
        try:
            table = csv.read_csv(
                pa.BufferReader(data),
                csv.ReadOptions(column_names=names, skip_rows=n_before),
                csv.ParseOptions(delimiter=self.SEPARATOR[0], quote_char=False),
                csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
            )
        except pa.ArrowInvalid as error:
            raise InputError(
                f"is not user, item, rating, time separated by {self.SEPARATOR!r} ({error})", REMEDY, file=where
            ) from error
        table = table.select(["user", "item", "weight", "time"]).unify_dictionaries().combine_chunks()
        return table.append_column("row", pa.arange(1 + n_before, 1 + n_before + table.num_rows))

    @abstractmethod
    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        """Ids, titles with the year, and genres."""


def _card(edition: str, expected: Mapping[str, int], checked: str, left_out: str = "") -> Card:
    return Card(
        title=f"MovieLens {edition}",
        source=f"GroupLens, https://grouplens.org/datasets/movielens/{edition.lower().replace('-small', '')}/ "
        "(F. M. Harper and J. A. Konstan, The MovieLens Datasets, ACM TiiS 5(4), 2015)",
        licence="research use, no commercial use, no redistribution without permission: see the README inside",
        interaction="every rating, whatever its height; the rating is the weight",
        checked=checked,
        expected=expected,
        left_out=left_out,
    )


_FILES = "https://files.grouplens.org/datasets/movielens/"
_REAL = "counts and fields against the real files, re-packed; the checksum is the publisher's .md5, not tried here"
_LAYOUT = "no real file at hand: on small files in the layout of the publisher's README; counts and .md5 as published"
_TAGS = "tags, which users add over the years"


class MovieLens1M(MovieLens):
    """MovieLens 1M: fields `genres`, `year` (from the title) and `title` (without the year)."""

    ARCHIVE = "ml-1m.zip"
    URL, CHECKSUM = f"{_FILES}ml-1m.zip", "md5:c4d9eecfca2ab87c1945afe126590906"
    RATINGS, ITEMS, SEPARATOR, ENCODING = "ratings.dat", "movies.dat", "::", "latin-1"
    EXPECTED: ClassVar = {"users": 6_040, "rated items": 3_706, "items": 3_883, "ratings": 1_000_209}
    CARD = _card("1M", EXPECTED, _REAL)

    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        ids, titles, genres = fields_of(data, "::", 3, where, self.ENCODING)
        return ids, titles, [_genres(genre) for genre in genres]


class MovieLens10M(MovieLens1M):
    """MovieLens 10M: as the 1M edition, in UTF-8 and with halves of stars."""

    ARCHIVE = "ml-10m.zip"
    URL, CHECKSUM = f"{_FILES}ml-10m.zip", "md5:ce571fd55effeba0271552578f2648bd"
    ENCODING = "utf-8"
    EXPECTED: ClassVar = {"users": 69_878, "rated items": 10_677, "items": 10_681, "ratings": 10_000_054}
    CARD = _card("10M", EXPECTED, _LAYOUT, _TAGS)


class MovieLens100K(MovieLens):
    """MovieLens 100K: fields as in the 1M edition; one of the publisher's genres is called `unknown`."""

    ARCHIVE = "ml-100k.zip"
    URL, CHECKSUM = f"{_FILES}ml-100k.zip", "md5:0e33842e24a9c977be4e0107933c0723"
    RATINGS, ITEMS, SEPARATOR = "u.data", "u.item", "\t"
    EXPECTED: ClassVar = {"users": 943, "rated items": 1_682, "items": 1_682, "ratings": 100_000}
    CARD = _card("100K", EXPECTED, _REAL)
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


class MovieLensCSV(MovieLens):
    """The editions as CSV files: fields as in the 1M edition."""

    RATINGS, ITEMS, SEPARATOR = "ratings.csv", "movies.csv", ","
    HEADER = "userId,movieId,rating,timestamp"

    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        try:
            rows = [row for row in reader(io.StringIO(data.decode(), newline=""), strict=True) if row]
        except (UnicodeDecodeError, CSVError) as error:
            raise InputError(f"is not CSV in UTF-8 ({error})", REMEDY, file=where) from error
        if rows[:1] != [["movieId", "title", "genres"]]:
            raise InputError("does not begin with the header 'movieId,title,genres'", REMEDY, file=where, row=1)
        for number, row in enumerate(rows, start=1):
            if len(row) != 3:
                raise InputError(f"{len(row)} fields instead of 3", REMEDY, file=where, row=number)
        ids, titles, genres = zip(*rows[1:], strict=True) if rows[1:] else ((), (), ())
        return ids, titles, [_genres(genre) for genre in genres]


class MovieLensLatestSmall(MovieLensCSV):
    """MovieLens latest-small, as of September 2018. The publisher may put another edition under the same name."""

    ARCHIVE = "ml-latest-small.zip"
    URL = f"{_FILES}ml-latest-small.zip"
    EXPECTED: ClassVar = {"users": 610, "rated items": 9_724, "items": 9_742, "ratings": 100_836}
    CARD = _card("latest-small", EXPECTED, "counts and fields against the real files, re-packed", _TAGS)


class MovieLens20M(MovieLensCSV):
    """MovieLens 20M."""

    ARCHIVE = "ml-20m.zip"
    URL, CHECKSUM = f"{_FILES}ml-20m.zip", "md5:cd245b17a1ae2cc31bb14903e1204af3"
    EXPECTED: ClassVar = {"users": 138_493, "rated items": 26_744, "items": 27_278, "ratings": 20_000_263}
    CARD = _card("20M", EXPECTED, _LAYOUT, _TAGS)


class MovieLens25M(MovieLensCSV):
    """MovieLens 25M."""

    ARCHIVE = "ml-25m.zip"
    URL, CHECKSUM = f"{_FILES}ml-25m.zip", "md5:6b51fb2759a8657d3bfcbfc42b592ada"
    EXPECTED: ClassVar = {"users": 162_541, "rated items": 59_047, "items": 62_423, "ratings": 25_000_095}
    CARD = _card("25M", EXPECTED, _LAYOUT, f"{_TAGS}; the tag genome, which is computed from them")


class MovieLens32M(MovieLensCSV):
    """MovieLens 32M."""

    ARCHIVE = "ml-32m.zip"
    URL, CHECKSUM = f"{_FILES}ml-32m.zip", "md5:d472be332d4daa821edc399621853b57"
    EXPECTED: ClassVar = {"users": 200_948, "items": 87_585, "ratings": 32_000_204}
    CARD = _card("32M", EXPECTED, _LAYOUT, _TAGS)


def _genres(text: str) -> list[str]:
    return [] if text == "(no genres listed)" else text.split("|")


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
