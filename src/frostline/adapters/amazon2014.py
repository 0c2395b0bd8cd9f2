"""Amazon reviews of 2014, the 5-core of a category, and the products' metadata."""

from __future__ import annotations

import ast
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Literal

import pyarrow as pa

from frostline.card import Card
from frostline.dataset import KINDS, Adapter, DataFile, Dataset
from frostline.errors import InputError
from frostline.mapping import dataset_of
from frostline.tablefile import open_file

_REMEDY = "Get the file again from the publisher and leave it as it is"


@dataclass(frozen=True)
class Amazon2014(Adapter):
    """Reviews by users and of products that have at least five.

    Parameters
    ----------
    category : str
        As the publisher spells it, such as `Beauty` or `Video_Games`.
    reviews, metadata : str, optional
        The files `reviews_CATEGORY_5.json.gz` and `meta_CATEGORY.json.gz`, packed or not.
    missing_content : {'error', 'drop'}
        What becomes of reviews of products without metadata.
    min_weight : float, optional
        Reviews with fewer stars are no interactions.
    """

    category: str = "Beauty"
    reviews: str | None = None
    metadata: str | None = None
    missing_content: Literal["error", "drop"] = "error"
    min_weight: float | None = None

    CARD = Card(
        title="Amazon reviews, 2014, 5-core",
        source="https://jmcauley.ucsd.edu/data/amazon/ (R. He and J. McAuley, Ups and Downs, WWW 2016)",
        licence="research use: see the publisher's page",
        interaction="every review, whatever its stars; they are the weight. Times are whole days",
        checked="no real file at hand: on small files in the documented layout; counts differ by category and are "
        "not checked",
        left_out="salesRank and related (also bought, also viewed), which know the later sales; price and "
        "description. The 5-core "
        "was taken over the whole period: that an item is there tells that it got five reviews",
    )
    BASE: ClassVar = "https://snap.stanford.edu/data/amazon/productGraph/categoryFiles/"

    def kinds(self) -> Mapping[str, str]:
        return {"categories": "categories", "brand": "categories", "title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        places = {
            "reviews": (self.reviews, f"reviews_{self.category}_5.json.gz"),
            "metadata": (self.metadata, f"meta_{self.category}.json.gz"),
        }
        return {
            label: DataFile(path, name, card.source, url=self.BASE + name, licence=card.licence)
            for label, (path, name) in places.items()
        }

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read reviews and products; all content fields are returned whichever are wanted.

        Raises
        ------
        InputError
            When a file lacks a column, or a line or value cannot be read.
        """
        names = {"interactions": self.reviews or self.files()["reviews"].name}
        names |= {"items": self.metadata or self.files()["metadata"].name}
        reviews = open_file(files["reviews"], names["interactions"])
        columns = {"user": "reviewerID", "item": "asin", "time": "unixReviewTime", "weight": "overall"}
        return dataset_of([reviews], _products(files["metadata"], names["items"]), columns, {}, names)


def _products(file: BinaryIO, name: str) -> pa.Table:
    """Products as a table. The lines look like JSON and are Python literals; later editions are JSON."""
    ids, titles, brands, categories, rows = [], [], [], [], []
    for row, line in enumerate(_lines(file, name), start=1):
        if not line.strip():
            continue
        product = _parsed(line, name, row)
        ids.append(str(product["asin"]))
        titles.append(str(product.get("title") or ""))
        brands.append([str(product["brand"])] if product.get("brand") else [])
        paths = product.get("categories") or []
        categories.append([str(part) for path in paths for part in (path if isinstance(path, list) else [path])])
        rows.append(row)
    return pa.table(
        {
            "item_id": pa.array(ids, pa.string()),
            "categories": pa.array(categories, KINDS["categories"]),
            "brand": pa.array(brands, KINDS["categories"]),
            "title": pa.array(titles, pa.string()),
            "row": pa.array(rows, pa.int64()),
        }
    )


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if file.read(2) == b"\x1f\x8b" else file
    file.seek(0)
    try:
        for line in stream:
            yield line.decode()
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"is damaged or cut short ({error})", _REMEDY, file=name) from error


def _parsed(line: str, name: str, row: int) -> dict:
    try:
        product = json.loads(line)
    except ValueError:
        try:
            product = ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise InputError(f"is neither JSON nor a Python literal ({error})", _REMEDY, file=name, row=row) from error
    if not isinstance(product, dict) or not product.get("asin"):
        raise InputError("has no product with an 'asin'", _REMEDY, file=name, row=row)
    return product
