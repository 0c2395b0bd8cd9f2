"""Stage `reference`: one neutral space of all items, in which the lists of every system are compared.

TF-IDF over the categories and the words of the texts, its vocabulary and weights fitted on warm items. It is no system's
own features, and all systems of a seed are measured in the same one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from frostline.artifacts import Job
from frostline.folds import WARM

_WORD = re.compile(r"(?u)\b\w\w+\b")


def run(job: Job) -> None:
    """Read `catalogue` (ingest's items) and `items` (the split's); write `reference`: `matrix` and `group`.

    `matrix` is CSR, float64, shape (n_items, n_terms), rows as in `split/items.parquet`, of length one or empty. `group` is
    each item's group by number, −1 without: its category, of several the rarest among warm items.
    """
    items = job.read_table("items")
    catalogue = job.read_table("catalogue")
    rows = pc.index_in(items["item_id"].combine_chunks(), catalogue["item_id"].combine_chunks())
    fields = {name: catalogue[name].combine_chunks().take(rows) for name in job.params["content"]}
    warm = items["fold"].to_numpy(zero_copy_only=False) == WARM
    matrix = tf_idf(item_terms(fields, job.params["content"], len(warm)), warm)
    categories = next(
        (fields[name] for name, spec in job.params["content"].items() if spec["as"] == "categories"), None
    )
    group = np.full(items.num_rows, -1) if categories is None else rarest(categories.to_pylist(), warm)
    job.write_arrays("reference", {"matrix": matrix, "group": group})


def item_terms(fields: Mapping[str, pa.Array], specs: Mapping[str, Mapping[str, str]], n_items: int) -> list[list[str]]:
    """Terms of each item: its categories, and the words of its texts in lower case; those of each field on their own."""
    terms: list[list[str]] = [[] for _ in range(n_items)]
    for name, values in fields.items():
        kind = specs[name]["as"]
        if kind in ("categories", "text"):
            for own, value in zip(terms, values.to_pylist(), strict=True):
                found = (value or []) if kind == "categories" else _WORD.findall((value or "").lower())
                own.extend(f"{name}={term}" for term in found)
    return terms


def tf_idf(terms: Sequence[Sequence[str]], warm: np.ndarray) -> csr_array:
    """Counts times ln((1 + n) / (1 + n with the term)) + 1 over the n warm items, rows brought to length one.

    As scikit-learn has it by default. A term that no warm item has does not count.

    Parameters
    ----------
    terms : sequence of n_items sequences of str
    warm : ndarray of bool, shape (n_items,)
    """
    counts = [Counter(own) for own in terms]
    frequency = Counter(term for own, is_warm in zip(counts, warm.tolist(), strict=True) if is_warm for term in own)
    column = {term: number for number, term in enumerate(sorted(frequency))}
    weight = np.log((1 + warm.sum()) / (1 + np.array([frequency[term] for term in column]))) + 1
    cells = [(row, column[t], count) for row, own in enumerate(counts) for t, count in own.items() if t in column]
    row, col, count = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    value = count * weight[col]
    length = np.sqrt(np.bincount(row, value**2, minlength=len(counts)))
    matrix = csr_array((value / length[row], (row, col)), shape=(len(counts), len(column)))
    matrix.sort_indices()
    return matrix


def rarest(categories: Sequence[Sequence[str] | None], warm: np.ndarray) -> np.ndarray:
    """Number of each item's rarest category among warm items, ties by name; −1 without any."""
    known = (names or () for names, is_warm in zip(categories, warm.tolist(), strict=True) if is_warm)
    frequency = Counter(name for names in known for name in names)
    found = [min(names, key=lambda name: (frequency[name], name)) if names else None for names in categories]
    number = {name: position for position, name in enumerate(sorted({name for name in found if name is not None}))}
    return np.array([number.get(name, -1) for name in found], dtype=np.int64)
