"""Goodbooks-10k: ratings of the ten thousand most popular books of a readers' site."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Literal

from frostline.archive import member_of, opened
from frostline.card import Card
from frostline.dataset import Adapter, DataFile, Dataset
from frostline.mapping import dataset_of
from frostline.tablefile import open_file


@dataclass(frozen=True)
class Goodbooks10K(Adapter):
    """Ratings without times, and what a book's cover says.

    Parameters
    ----------
    path : str, optional
        The publisher's zip file.
    repeats : {'sum', 'count'}
        How rows of the same user and book become one; there are no times to take the first or the last by.
    """

    path: str | None = None
    repeats: Literal["sum", "count"] = "sum"

    CARD = Card(
        title="Goodbooks-10k",
        source="https://github.com/zygmuntz/goodbooks-10k, release v1.0 (Z. Zajac, 2017)",
        licence="CC BY-SA 4.0",
        interaction="every rating, whatever its height; the rating (1 to 5) is the weight. No times",
        checked="no real file at hand: on small files in the documented layout; counts as published",
        expected={"users": 53_424, "items": 10_000, "ratings": 5_976_479},
        left_out="average_rating and the counts of ratings and reviews, taken over all time; tags, which readers "
        "add. The books "
        "are the ten thousand with the most ratings, so that none is really new",
    )
    URL: ClassVar = "https://github.com/zygmuntz/goodbooks-10k/releases/download/v1.0/goodbooks-10k.zip"

    def kinds(self) -> Mapping[str, str]:
        lists = dict.fromkeys(("authors", "language_code"), "categories")
        return {**lists, "original_publication_year": "number", "title": "text", "original_title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        return {"archive": DataFile(self.path, "goodbooks-10k.zip", card.source, url=self.URL, licence=card.licence)}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read ratings and the wanted fields of books.

        Raises
        ------
        InputError
            When the file is no zip, lacks a member or a column, or a value cannot be read.
        """
        name = self.path or "goodbooks-10k.zip"
        with opened(files["archive"], name) as archive:
            ratings, books = (
                open_file(io.BytesIO(member_of(archive, base, name)), f"{name}:{base}", ",")
                for base in ("ratings.csv", "books.csv")
            )
        separated = {field: {"separator": ", "} | options for field, options in content.items()}
        columns = {"user": "user_id", "item": "book_id", "weight": "rating"}
        return dataset_of([ratings], [books], columns, separated, {"interactions": ratings.name, "items": books.name})
