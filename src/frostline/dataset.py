"""What an adapter hands to the stage `ingest`, and how an adapter names the files that it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

import pyarrow as pa

from frostline.card import Card

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
    url, checksum, licence : str
        Where a machine can get it, `algorithm:hexdigest` if the publisher gives it, and under what terms, shown then.
    many : bool
        Whether the path may be a folder or a pattern such as `clicks/*.parquet`; `read` then gets a list of files.
    """

    path: str | None
    name: str
    source: str = ""
    many: bool = False
    url: str = ""
    checksum: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Dataset:
    """Raw tables as read, before cleaning.

    Attributes
    ----------
    interactions : pyarrow.Table or iterable of such tables
        Batches, of which there is at least one, are read once and one after the other. `user` and `item`, string or
        dictionary of string (ids are text as the source spells it); `time` int64 (unix seconds, null where unknown) and
        `weight` float64, each absent if the source has none; `row` int64, the row in the source file as counted in an
        editor, for messages; and `file` (string), its name, where there are several.
    items : pyarrow.Table
        `item_id` string, one column a content field (types as in `KINDS`), and `row` int64 and `file` as above.
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
    examples : dict
        The first few of these rows of interactions: `{reason: [{'file': …, 'row': …, 'value': …}, …]}`.
    notes : sequence of str
        What the adapter recognised or found odd, for the quality report. An adapter that gives batches may go on filling
        `dropped`, `examples` and `notes` until the last one.
    line_of : callable
        From a file's name and a value of `row` to the line that an editor shows, asked after the last batch.
    truth : dict of arrays or None
        For generated data: `users`, `items` (ids, fixed-width str), `user_factors`, `item_factors` (float32) such that
        the expected interest of user u in item i rises with `user_factors[u] @ item_factors[i]`.
    close : callable
        Called after the last batch, or when reading ends before it.
    """

    interactions: pa.Table | Iterable[pa.Table]
    items: pa.Table
    sources: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_items: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, object] | None = None
    judgements: Mapping[str, object] | None = None
    examples: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    line_of: Callable[[str, int], int] = lambda file, row: row
    truth: Mapping[str, object] | None = None
    close: Callable[[], None] = lambda: None


class Adapter(ABC):
    """Base of adapters: one source of data. A dataclass whose fields are its options.

    Registered by name in `frostline.registry`.

    An adapter may have the options `repeats`, `missing_content` and `min_weight`; ingest then cleans by them
    (`ingest.clean_to`).
    """

    CARD: ClassVar[Card | None] = None
    """What to know of the data set, where the adapter is of one."""

    has_truth: ClassVar[bool] = False
    """Whether `read` gives the truth behind the data, so that there can be an oracle."""

    @abstractmethod
    def kinds(self) -> Mapping[str, str]:
        """Content fields that the source is known to have, each with its kind (a key of `KINDS`)."""

    @abstractmethod
    def files(self) -> Mapping[str, DataFile]:
        """The files to open, by a short name; empty for generated data."""

    @abstractmethod
    def read(self, files: Mapping[str, BinaryIO | list[BinaryIO]], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read the opened files.

        `content` maps each wanted field to its options: its kind `as` and, if given, a `separator` of categories.
        Files are opened for the adapter and it opens none; further content fields may be returned and are ignored.
        """
