"""Items that are listed twice under different ids: the same in all their content, a text such as a title included.

That two films share their genres says nothing; that they share title, year and genres says that they are one. If one of
the two were cold and the other warm, the cold one would not be new.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def identities(catalogue: pa.Table) -> np.ndarray:
    """A number for each item that has the same content as another one, equal for those; −1 for all others.

    Parameters
    ----------
    catalogue : pyarrow.Table
        As ingest writes it: `item_id` and the content fields, of which text columns are strings.

    Returns
    -------
    ndarray of int64, shape (n_items,)
    """
    fields = catalogue.drop_columns(["item_id"])
    texts = [name for name in fields.column_names if pa.types.is_string(fields.schema.field(name).type)]
    found = np.full(catalogue.num_rows, -1, dtype=np.int64)
    if not texts:
        return found
    codes = [fields[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in texts]
    _, group, size = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True, return_counts=True)
    is_named = np.any([pc.not_equal(fields[name], "").to_numpy(zero_copy_only=False) for name in texts], axis=0)
    # Few texts occur twice, so few rows have to be looked at as a whole.
    rows = np.flatnonzero((size[group.reshape(-1)] > 1) & is_named)
    alike: dict[tuple, list[int]] = {}
    for row, content in zip(rows.tolist(), fields.take(pa.array(rows)).to_pylist(), strict=True):
        alike.setdefault(tuple(map(repr, content.values())), []).append(row)
    for number, same in enumerate(same for same in alike.values() if len(same) > 1):
        found[same] = number
    return found
