"""MovieTweetings, the snapshot of 100,000 ratings, in the publisher's files."""

from __future__ import annotations

from typing import ClassVar

from frostline.adapters.movielens import MovieLens, fields_of
from frostline.archive import REMEDY
from frostline.card import Card
from frostline.errors import InputError


class MovieTweetings100K(MovieLens):
    """MovieTweetings 100K: fields `genres`, `year` (from the title) and `title` (without the year)."""

    ARCHIVE = "movietweetings-100k.zip"
    RATINGS, ITEMS, SEPARATOR = "ratings.dat", "movies.dat", "::"
    EXPECTED: ClassVar = {"users": 16_554, "rated items": 10_506, "items": 10_506, "ratings": 100_000}
    CARD = Card(
        title="MovieTweetings, the snapshot of 100,000 ratings",
        source="https://github.com/sidooms/MovieTweetings, folder snapshots/100K, to be zipped (S. Dooms, T. De "
        "Pessemier "
        "and L. Martens, CrowdRec 2013)",
        licence="MIT",
        interaction="every rating that somebody tweeted, whatever its height; the rating (0 to 10) is the weight, "
        "so that a "
        "zero is no interaction",
        checked="counts and fields against the real files; 66 films have no genre",
        expected=EXPECTED,
    )

    def _movies(self, data: bytes, where: str) -> tuple[list[str], list[str], list[list[str]]]:
        try:
            ids, titles, genres = fields_of(data, "::", 3, where, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8 ({error})", REMEDY, file=where) from error
        return ids, titles, [[name for name in genre.split("|") if name] for genre in genres]
