"""What an adapter hands to the stage `ingest`, and how an adapter names the files that it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

import pyarrow as pa

KINDS = {"categories": pa.list_(pa.string()), "number": pa.float64(), "text": pa.string()}
"""Kinds of content fields and the column type in which `ingest/items.parquet` stores each."""

MISSING = (
    "",
    "-",
    "NaN",
    "nan",
    "NAN",
    "null",
    "NULL",
    "Null",
    "None",
    "NONE",
    r"\N",
    "NA",
    "N/A",
    "#N/A",
    "<NA>",
    "NaT",
)
"""What sources write where they have no value: missing as a number or a time, refused as an id."""


@dataclass(frozen=True)
class DataFile:
    """A file that an adapter reads.

    Attributes
    ----------
    path : str or None
        Where the user's config says it is, if it says so.
    name : str
        File name under which it is looked for in the folder `FROSTLINE_DATA` names.
    source : str
        Where a person can get it, shown when it is nowhere to be found.
    """

    path: str | None
    name: str
    source: str = ""


@dataclass(frozen=True)
class Dataset:
    """Raw tables as read, before cleaning.

    Attributes
    ----------
    interactions : pyarrow.Table
        `user` and `item`, string or dictionary of string (ids are text as the source spells it); `time` int64 (unix
        seconds, null where unknown) and `weight` float64, each absent if the source has none; `row` int64, the row in
        the source file as counted in an editor, for messages.
    items : pyarrow.Table
        `item_id` string, one column a content field (types as in `KINDS`), and `row` int64 as above.
    sources : dict
        Names of the files behind `interactions` and `items`, as the user knows them, for messages.
    columns : dict
        What the source calls `user`, `item`, `time`, `weight` and `item_id` where it has other names for them.
    dropped, dropped_items : dict
        Rows of interactions and of items that the adapter itself left out on purpose, by reason.
    links : dict or None
        Where interactions are links between items: what became of the references, see `frostline.links`.
    judgements : dict or None
        Where interactions are judgements of items for text queries: their counts, see `frostline.judgements`.
    notes : sequence of str
        What the adapter recognised or found odd, for the quality report.
    truth : dict of arrays or None
        For generated data: `users`, `items` (ids, fixed-width str), `user_factors`, `item_factors` (float32) such that
        the expected interest of user u in item i rises with `user_factors[u] @ item_factors[i]`.
    """

    interactions: pa.Table
    items: pa.Table
    sources: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_items: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, object] | None = None
    judgements: Mapping[str, object] | None = None
    notes: Sequence[str] = ()
    truth: Mapping[str, object] | None = None


class Adapter(ABC):
    """Base of adapters: one source of data. A dataclass whose fields are its options.

    Registered by name in `frostline.registry`.

    An adapter may have the options `repeats` and `missing_content`; ingest then cleans by them (`ingest.clean`).
    """

    has_truth: ClassVar[bool] = False
    """Whether `read` gives the truth behind the data, so that there can be an oracle."""

    @abstractmethod
    def kinds(self) -> Mapping[str, str]:
        """Content fields that the source is known to have, each with its kind (a key of `KINDS`)."""

    @abstractmethod
    def files(self) -> Mapping[str, DataFile]:
        """The files to open, by a short name; empty for generated data."""

    @abstractmethod
    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read the opened files.

        `content` maps each wanted field to its options: its kind `as` and, if given, a `separator` of categories.
        Files are opened for the adapter and it opens none; further content fields may be returned and are ignored.
        """
