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
        code, names = coded(ids)
        place = np.append(pc.index_in(names, self.values).fill_null(-1).to_numpy().astype(np.int64), -1)
        is_used = np.zeros(len(names) + 1, dtype=bool)
        is_used[code] = True
        new = np.flatnonzero(is_used[:-1] & (place[:-1] < 0))
        new = new[~is_missing(names.take(pa.array(new)))]
        place[new] = len(self.values) + np.arange(len(new))
        self.values = pa.concat_arrays([self.values, names.take(pa.array(new))])
        return place[code]

    def sort(self) -> np.ndarray:
        """Sort the ids, and return the new number of each old one."""
        order = pc.sort_indices(self.values)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order.to_numpy()] = np.arange(len(order))
        self.values = self.values.take(order)
        return rank


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
