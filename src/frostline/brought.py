"""Donors trained elsewhere: files of the user's, held to what a donor may know (row C8).

A brought donor must have been trained on `split/train.parquet` of the seed. What can be seen of that from its file is
checked: it scores every warm item, and neither a cold one nor anything that the split does not know.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.api import Bilinear, Donor
from frostline.errors import FrostlineError

EXAMPLES = 3


@dataclass(frozen=True)
class Known:
    """What the split knows: ids of the queries, of the warm items in their order, and of the cold ones."""

    queries: pa.Array
    warm: pa.Array
    cold: pa.Array


class BroughtDonor(Donor):
    """Base of donors that are files of the user's. A path may contain `{seed}`: every seed draws other cold items."""

    def __post_init__(self) -> None:
        for path in self.files().values():
            if re.search(r"[{}]", path.replace("{seed}", "")):
                raise ValueError(f"the path {path!r} has braces that are not {{seed}}")

    @abstractmethod
    def files(self) -> Mapping[str, str]:
        """Paths of the files by a short name."""

    @abstractmethod
    def read(self, files: Mapping[str, BinaryIO], names: Mapping[str, str], known: Known) -> Bilinear:
        """Read the opened files, whose paths are `names`.

        Raises
        ------
        InputError
            Where a value cannot be read.
        FrostlineError
            Where the donor knows what it must not, or not what it must: see `Refusal`.
        """


class Refusal:
    """Collects what is wrong with a file, to say all of it at once with counts and examples."""

    def __init__(self, file: str) -> None:
        self._file, self._problems = file, []

    def add(self, what: str, wrong: np.ndarray, describe: Callable[[int], str]) -> None:
        """Note the rows where `wrong` is true, if there are any; `describe(index)` shows one."""
        index = np.flatnonzero(wrong)
        if len(index):
            shown = "; ".join(describe(int(i)) for i in index[:EXAMPLES])
            self._problems.append(f"{len(index)} {what} (for example {shown})")

    def raise_if_any(self) -> None:
        if self._problems:
            raise FrostlineError(
                f"{self._file}: cannot be used as a donor: {', and '.join(self._problems)}. A donor gives a number "
                "for all users and warm items of its seed, once, and for nothing else: train it on split/train.parquet of "
                "this seed, and give each seed a file of its own by {seed} in its path"
            )


def positions(ids: pa.Array, known: pa.Array) -> np.ndarray:
    """Place of each id among the known ones, −1 where it is not."""
    return pc.fill_null(pc.index_in(ids, known), -1).to_numpy(zero_copy_only=False).astype(np.int64)


def check_ids(refusal: Refusal, what: str, ids: pa.Array, place: np.ndarray, cold: np.ndarray | None = None) -> None:
    """Refuse cold items and unknown ids; `cold` marks the cold among the ids without a place."""
    unknown = place < 0
    if cold is not None:
        refusal.add(f"rows of cold {what}s", cold, lambda i: repr(ids[i].as_py()))
        unknown &= ~cold
    refusal.add(f"rows of unknown {what}s", unknown, lambda i: repr(ids[i].as_py()))
