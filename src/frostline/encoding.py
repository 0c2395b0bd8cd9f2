"""Item content as features whose vocabularies and scales come from warm items only.

Changing a cold item's content can change that item's row and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array, hstack

from frostline.api import Content

BUMPS = (6, 12, 24)


def encode(
    catalogue: pa.Table, item_ids: pa.Array, warm: np.ndarray, fields: Mapping[str, Mapping[str, str]]
) -> tuple[Content, dict[str, list[str]]]:
    """Encode the fields of some items.

    Parameters
    ----------
    catalogue : pyarrow.Table
        As ingest writes it: `item_id` and a column a field.
    item_ids : pyarrow.Array of string, length n_items
        All of them in the catalogue.
    warm : ndarray of bool, shape (n_items,)
        Whether vocabularies and scales are fitted on an item.
    fields : dict
        Options of each field, `as` its kind.

    Returns
    -------
    content : Content
        Of all items.
    vocabulary : dict
        What the columns of each field stand for.
    """
    rows = pc.index_in(item_ids, catalogue["item_id"].combine_chunks())
    blocks, vocabulary = [], {}
    for name, options in fields.items():
        matrix, names = _ENCODERS[options["as"]](catalogue[name].combine_chunks().take(rows), warm)
        blocks.append(matrix)
        vocabulary[name] = names
    content = Content(
        csr_array(hstack(blocks, format="csr", dtype=np.float32)),
        tuple(fields),
        tuple(options["as"] for options in fields.values()),
        np.cumsum([0, *(block.shape[1] for block in blocks)]),
    )
    return content, vocabulary


def encode_categories(values: pa.Array, warm: np.ndarray) -> tuple[csr_array, list[str]]:
    """Multi-hot over the categories that warm items have; an unknown category of a cold item has no column.

    Parameters
    ----------
    values : array of list of string, length n_items
    warm : ndarray of bool, shape (n_items,)

    Returns
    -------
    matrix : csr_array of float32, shape (n_items, n_categories)
    names : list of str
    """
    owner = np.asarray(pc.list_parent_indices(values))
    flat = pc.list_flatten(values)
    names = pc.unique(flat.filter(pa.array(warm[owner]))).sort()
    column = pc.index_in(flat, names)
    known = np.asarray(pc.is_valid(column))
    indices = np.asarray(column.drop_null()), owner[known]
    shape = (len(values), len(names))
    return csr_array((np.ones(len(indices[0]), np.float32), indices[::-1]), shape=shape), names.to_pylist()


def encode_number(values: pa.Array, warm: np.ndarray) -> tuple[csr_array, list[str]]:
    """A smooth basis: Gaussian bumps over the number's quantile among warm items, so that no outlier stretches it.

    Bump j of the n of a width is `exp(−(q − c_j)² / 2w²)`, with centres `c_j` spread evenly over [0, 1] and w their
    distance; `BUMPS` says how many each width has. Wide bumps carry a trend where items are few, narrow ones tell close
    neighbours apart. q is the mid-rank quantile of the value among the warm ones, interpolated between them and clipped
    outside of their range. A missing number has an empty row.
    """
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    present = np.isfinite(numbers)
    known = numbers[warm & present]
    centres = np.concatenate([np.linspace(0, 1, count) for count in BUMPS])
    if not len(known):
        return csr_array((len(numbers), len(centres)), dtype=np.float32), [""] * len(centres)
    levels, count = np.unique(known, return_counts=True)
    quantile = (np.cumsum(count) - count / 2) / count.sum()
    position = np.interp(numbers[present], levels, quantile)
    per_width = np.repeat(np.array(BUMPS) - 1, BUMPS)
    dense = np.zeros((len(numbers), len(centres)), dtype=np.float32)
    dense[present] = np.exp(-0.5 * ((position[:, None] - centres) * per_width) ** 2)
    return csr_array(dense), [f"{value:g}" for value in np.quantile(known, centres)]


def encode_text(values: pa.Array, warm: np.ndarray) -> tuple[csr_array, list[str]]:
    """TF-IDF of words and word pairs that occur in at least two warm items, rows of length one (or empty)."""
    # Importing scikit-learn takes longer than the rest of this stage, and content without text does not need it.
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = np.array([text or "" for text in values.to_pylist()], dtype=object)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    try:
        vectorizer.fit(texts[warm])
    except ValueError:
        # No word occurs in two warm items: the field then has no column, which is no reason to stop.
        return csr_array((len(texts), 0), dtype=np.float32), []
    return csr_array(vectorizer.transform(texts)), vectorizer.get_feature_names_out().tolist()


_ENCODERS = {"categories": encode_categories, "number": encode_number, "text": encode_text}
