"""Ids to numbers, a batch at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.dataset import MISSING


class Ids:
    """Different ids in the order of their first appearance, numbered from 0."""

    def __init__(self) -> None:
        self.values = pa.array([], pa.string())

    def encode(self, ids: pa.ChunkedArray | pa.Array) -> np.ndarray:
        """Number of each id, int64; −1 for what is null, blank, or spells a missing value."""
        place = place_among(ids, self.values)
        unknown = np.flatnonzero(place < 0)
        if len(unknown):
            code, names = coded(ids.take(pa.array(unknown)))
            used = np.unique(code[code < len(names)])
            new = used[~is_missing(names.take(pa.array(used)))]
            number = np.full(len(names) + 1, -1)
            number[new] = len(self.values) + np.arange(len(new))
            place[unknown] = number[code]
            self.values = pa.concat_arrays([self.values, names.take(pa.array(new))])
        return place

    def sort(self) -> np.ndarray:
        """Sort the ids, and return the new number of each old one."""
        order = pc.sort_indices(self.values)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order.to_numpy()] = np.arange(len(order))
        self.values = self.values.take(order)
        return rank


def place_among(ids: pa.ChunkedArray | pa.Array, known: pa.StringArray) -> np.ndarray:
    """Place of each id among the known ones, int64; −1 where it is not one of them."""
    if pa.types.is_dictionary(ids.type):
        code, names = coded(ids)
        return np.append(place_among(names, known), -1)[code]
    # As they come, and not each different one once: finding the different ones takes longer than looking all of them up.
    return pc.index_in(ids, known).fill_null(-1).to_numpy().astype(np.int64)


def is_missing(ids: pa.StringArray) -> np.ndarray:
    """Which ids are blank or spell a missing value."""
    return pc.is_in(pc.utf8_trim_whitespace(ids), pa.array(MISSING)).to_numpy(zero_copy_only=False)


def coded(ids: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, pa.StringArray]:
    """Place of each text among the different ones (their number for a null), and these."""
    if isinstance(ids, pa.Array):
        ids = pa.chunked_array([ids])
    if not pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_encode()
    ids = ids.unify_dictionaries().combine_chunks()
    names = ids.dictionary
    return ids.indices.fill_null(len(names)).to_numpy().astype(np.int64), names
