"""Strata of a fold's relevant items: a query is asked once for each stratum in which it has any, of all its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from frostline.ranking import Metric, View

POPULARITY = "popularity"
UNKNOWN = "(none)"
"""What stands for an empty name of a stratum."""


@dataclass(frozen=True)
class Stratified:
    """The relevant pairs by (query, stratum): they are restricted to a stratum, and the candidates are not.

    Attributes
    ----------
    kind : str
        `popularity`, `category`, or what else the items are divided by.
    names : ndarray of str
    code : ndarray of int, shape (n_candidates,)
        Each candidate's stratum, a position in `names`.
    view : View
        A row a (query, stratum) with relevant items.
    value : ndarray of int, shape (n_rows,)
    n_relevant : ndarray of int, shape (n_rows,)
    """

    kind: str
    names: np.ndarray
    code: np.ndarray
    view: View
    value: np.ndarray
    n_relevant: np.ndarray


def item_strata(table: pa.Table, candidates: np.ndarray) -> dict[str, np.ndarray]:
    """What divides some items, leaving out what does not.

    Parameters
    ----------
    table : pyarrow.Table
        `split/strata.parquet`, a row an item. Popularity buckets are numbered from 1, the least popular.
    candidates : ndarray of int
        Row numbers.

    Returns
    -------
    dict of ndarray of str, shape (n_candidates,)
    """
    found = {}
    for name in table.column_names:
        if name not in ("item", "stratum"):  # which item it is, and how it was drawn
            values = np.array(table[name].to_pylist(), dtype=object)[candidates]
            kind = POPULARITY if name == "bucket" else name
            found[kind] = (values + 1).astype(str) if name == "bucket" else np.where(values == "", UNKNOWN, values)
    return {kind: values.astype(str) for kind, values in found.items() if len(set(values.tolist())) > 1}


def stratify(kind: str, values: np.ndarray, query: np.ndarray, column: np.ndarray) -> Stratified:
    """Divide the pairs by the strata `values` of their items, shape (n_candidates,)."""
    names, code = np.unique(values, return_inverse=True)
    key = query.astype(np.int64) * len(names) + code[column]
    asked, row, n_relevant = np.unique(key, return_inverse=True, return_counts=True)
    row_query, value = np.divmod(asked, len(names))
    return Stratified(kind, names, code, View(query, column, row=row, row_query=row_query), value, n_relevant)


def pair_strata(labels: pa.Table) -> dict[str, np.ndarray]:
    """What the labels say of their pairs beside query, item, time and weight, as text, leaving out what divides nothing."""
    known = ("query", "item", "time", "weight")
    found = {name: np.array(labels[name].to_pylist()).astype(str) for name in labels.column_names if name not in known}
    return {name: values for name, values in found.items() if len(set(values.tolist())) > 1}


def stratify_pairs(kind: str, values: np.ndarray, query: np.ndarray, column: np.ndarray) -> Stratified:
    """Divide the pairs by values of their own, shape (n_pairs,)."""
    names, code = np.unique(values, return_inverse=True)
    asked, row, n_relevant = np.unique(
        query.astype(np.int64) * len(names) + code, return_inverse=True, return_counts=True
    )
    row_query, value = np.divmod(asked, len(names))
    view = View(query, column, row=row, row_query=row_query)
    return Stratified(kind, names, np.empty(0, np.int64), view, value, n_relevant)


def stratum_metrics(metrics: Sequence[Metric], primary: Metric) -> tuple[Metric, ...]:
    """What is measured in strata: the primary metric first, then the others of its cut-off and AUC."""
    k = primary.k or max(metric.k for metric in metrics if metric.k)
    return (primary, *(metric for metric in metrics if metric != primary and metric.k in (k, None)))


def strata_table(
    strata: Sequence[Stratified], values: Sequence[np.ndarray], metrics: Sequence[Metric], queries: pa.Array
) -> pa.Table:
    """Rows (query, stratum, value, n_relevant, metrics) of all strata; `values` are their views' figures."""
    row_query = np.concatenate([np.empty(0, np.int64), *(one.view.row_query for one in strata)])
    sizes = [len(one.value) for one in strata]
    names = [name for one in strata for name in one.names.tolist()]
    starts = np.cumsum([0, *(len(one.names) for one in strata)])
    value = np.concatenate([np.empty(0, np.int64), *(one.value + at for one, at in zip(strata, starts, strict=False))])
    columns = {
        "query": _coded(row_query, queries),
        "stratum": _coded(
            np.repeat(np.arange(len(strata)), sizes), pa.array([one.kind for one in strata], pa.string())
        ),
        "value": _coded(value, pa.array(names, pa.string())),
        "n_relevant": pa.array(
            np.concatenate([np.empty(0, np.int64), *(one.n_relevant for one in strata)]), pa.int32()
        ),
    }
    figures = np.concatenate([np.empty((0, len(metrics))), *values])
    for position, metric in enumerate(metrics):
        columns[str(metric)] = pa.array(figures[:, position], from_pandas=True)
    return pa.table(columns)


def _coded(code: np.ndarray, names: pa.Array) -> pa.Array:
    # Not `names.take(…)`, which imports pyarrow.compute.
    return pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), names)
