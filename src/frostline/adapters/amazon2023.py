"""Amazon reviews of 2023, one category: JSON lines as the McAuley lab gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Literal

from frostline.card import Card
from frostline.dataset import Adapter, DataFile, Dataset
from frostline.mapping import dataset_of
from frostline.tablefile import open_file


@dataclass(frozen=True)
class Amazon2023(Adapter):
    """Reviews of a category's products. An item is a `parent_asin`: sizes and colours of a product are one item.

    Parameters
    ----------
    category : str
        As the publisher spells it, such as `All_Beauty` or `Video_Games`.
    reviews, metadata : str, optional
        The files `CATEGORY.jsonl.gz` and `meta_CATEGORY.jsonl.gz`, packed or not.
    repeats : {'last', 'first', 'sum', 'count'}
        How several reviews of a product by one user become one.
    missing_content : {'error', 'drop'}
        What becomes of reviews of products without metadata.
    min_weight : float, optional
        Reviews with fewer stars are no interactions.
    """

    category: str = "All_Beauty"
    reviews: str | None = None
    metadata: str | None = None
    repeats: Literal["sum", "first", "last", "count"] = "last"
    missing_content: Literal["error", "drop"] = "error"
    min_weight: float | None = None

    CARD = Card(
        title="Amazon reviews, 2023",
        source="https://amazon-reviews-2023.github.io (Y. Hou, J. Li, Z. He, A. Yan, X. Chen and J. McAuley, "
        "Bridging Language "
        "and Items for Retrieval and Recommendation, arXiv 2403.03952, 2024)",
        licence="research use: see the publisher's page",
        interaction="every review, whatever its stars; they are the weight. The time is that of the review, to the "
        "second",
        checked="no real file at hand: on small files in the documented layout; counts differ by category and are "
        "not checked",
        left_out="average_rating and rating_number, taken over all time; bought_together; price, which is that of "
        "the day the "
        "page was read",
    )
    BASE: ClassVar = "https://mcauleylab.ucsd.edu/public_datasets/data/amazon_2023/raw/"

    def kinds(self) -> Mapping[str, str]:
        lists = dict.fromkeys(("main_category", "categories", "store"), "categories")
        return {**lists, "title": "text"}

    def files(self) -> Mapping[str, DataFile]:
        card = self.CARD
        places = {
            "reviews": (self.reviews, "review_categories/", f"{self.category}.jsonl.gz"),
            "metadata": (self.metadata, "meta_categories/", f"meta_{self.category}.jsonl.gz"),
        }
        return {
            label: DataFile(path, name, card.source, url=f"{self.BASE}{folder}{name}", licence=card.licence)
            for label, (path, folder, name) in places.items()
        }

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read reviews, and the wanted fields of products.

        Raises
        ------
        InputError
            When a file lacks a column, or a line or value cannot be read.
        """
        names = {"interactions": self.reviews or self.files()["reviews"].name}
        names |= {"items": self.metadata or self.files()["metadata"].name}
        reviews, products = (
            open_file(files[label], names[of]) for label, of in (("reviews", "interactions"), ("metadata", "items"))
        )
        # A single value is one category, whatever is in it.
        whole = {field: {"separator": "\0"} | options for field, options in content.items()}
        columns = {"user": "user_id", "item": "parent_asin", "time": "timestamp", "weight": "rating"}
        return dataset_of([reviews], [products], columns, whole, names)
