"""Stage `beyond`: what lists are like apart from being right, at the same k on the same queries as the metrics.

Measures are of one seed's lists; what they are compared in is the stage `reference`'s space.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from frostline.artifacts import Job
from frostline.folds import TEST, candidate_rows
from frostline.lists import NOBODY
from frostline.results import rounded
from frostline.tables import write_rows

COLUMNS = ("system", "metric", "mean", "sd", "n_seeds", "n_queries", "kind", "reference", "note")
STRATA = ("popularity", "category")
ITEM_COLUMNS = ("system", "item", *STRATA, "n_seeds", "n_relevant", "found", "exposure", "k")
BY_CONTENT, BY_COUNT = "content distance to the history", "self-information, in bits"


@dataclass(frozen=True)
class Space:
    """What the lists of a seed are measured by.

    Attributes
    ----------
    matrix : csr_array of float64, shape (n_candidates, n_terms)
        Rows of length one, or empty.
    group : ndarray of int, shape (n_candidates,)
        −1 without.
    profile : csr_array of float64, shape (n_queries, n_terms)
        Mean of the rows of the items in each query's history.
    group_share : ndarray of float64, shape (n_queries, n_groups)
        Share of each query's history that is of a group.
    information : ndarray of float64, shape (n_candidates,), or None
        −log₂ of a candidate's share of all training interactions, add-one; None if no candidate has any.
    """

    matrix: csr_array
    group: np.ndarray
    profile: csr_array
    group_share: np.ndarray
    information: np.ndarray | None


def run(job: Job) -> None:
    """Read every seed's `reference`, `items`, `train`, `history` and all `lists`, `per_query`, `per_item`; write `beyond`
    and `items`.
    """
    params, n_queries = job.params, 0
    found: dict = {}
    by_item: dict = {}
    for seed in params["seeds"]:
        fold = job.read_table(f"items[{seed}]")["fold"].to_numpy(zero_copy_only=False)
        candidates = candidate_rows(fold, params["candidates"], TEST)
        first = f"per_query[{seed},{next(iter(params['systems']))},{TEST}]"
        asked = job.read_table(first, columns=["n_relevant"])["n_relevant"].to_numpy() > 0
        n_queries += int(asked.sum())
        space = read_space(job, seed, candidates, len(asked))
        for system in params["systems"]:
            lists = job.read_array(f"lists[{seed},{system},{TEST}]")[:][asked]
            found[seed, system] = measures(lists, space, np.flatnonzero(asked), params["k"])
            by_item[seed, system] = job.read_table(f"per_item[{seed},{system},{TEST}]"), exposure(lists, space)
    digests = " ".join(job.digest(f"reference[{seed}]").removeprefix("sha256:")[:12] for seed in params["seeds"])
    note = BY_CONTENT if space.information is None else BY_COUNT
    write_rows(job, "", beyond_rows(found, n_queries, params, digests, note), COLUMNS)
    write_rows(job, "items_", item_rows(by_item, params), ITEM_COLUMNS)


def read_space(job: Job, seed: int, candidates: np.ndarray, n_queries: int) -> Space:
    reference = job.read_arrays(f"reference[{seed}]")
    known = job.read_table(f"history[{seed}]", columns=["query", "item"])
    pairs = known["query"].to_numpy(), known["item"].to_numpy()
    counts = np.bincount(
        job.read_table(f"train[{seed}]", columns=["item"])["item"].to_numpy(), minlength=len(reference["group"])
    )
    return space_of(reference["matrix"], reference["group"], candidates, *pairs, n_queries, counts)


def space_of(
    matrix: csr_array, group: np.ndarray, candidates, query, item, n_queries: int, counts: np.ndarray | None = None
) -> Space:
    """From rows of all items, the candidates' row numbers, the (query, item) pairs of the histories, and how often each item
    is in training, by default as often as in the histories."""
    n_items = matrix.shape[0]
    size = np.maximum(np.bincount(query, minlength=n_queries), 1)
    history = csr_array((1 / size[query], (query, item)), shape=(n_queries, n_items))
    groups = csr_array(
        (np.ones((group >= 0).sum()), (np.flatnonzero(group >= 0), group[group >= 0])),
        shape=(n_items, 1 + max(group.max(initial=-1), 0)),
    )
    counts = np.bincount(item, minlength=n_items) if counts is None else counts
    information = -np.log2((counts[candidates] + 1) / (counts.sum() + n_items)) if counts[candidates].any() else None
    return Space(
        matrix[candidates], group[candidates], history @ matrix, np.asarray((history @ groups).todense()), information
    )


def measures(lists: np.ndarray, space: Space, rows: np.ndarray, ks: Sequence[int]) -> dict[str, float | None]:
    """All measures of some queries' lists, cut at each k.

    - `coverage`: share of the candidates that are in any list.
    - `gini`: Gini coefficient of how often the candidates are listed, 0 when all are equally often.
    - `novelty`: mean over the listed of 1 − cosine with the query's profile, which is its mean distance to the items of the
      history (Vargas & Castells, RecSys 2011); where candidates have training interactions, of −log₂ of their share.
    - `diversity`: mean of 1 − cosine over the pairs of a list (Ziegler et al., WWW 2005); undefined for a single item.
    - `coherence`: mean over the listed of the share of the history that is of their group. A floor, never an aim.

    Parameters
    ----------
    lists : ndarray of int, shape (n, max(ks))
        Candidates, `NOBODY` at the end of short lists.
    space : Space
    rows : ndarray of int, shape (n,)
        The queries' rows in `space`.
    """
    found: dict[str, float | None] = {}
    n_candidates = space.matrix.shape[0]
    has_terms, has_groups = space.matrix.nnz > 0, (space.group >= 0).any()
    profile = space.profile[rows]
    for k in ks:
        cut = lists[:, :k]
        row, place = np.nonzero(cut != NOBODY)
        shown = cut[row, place]
        size = np.bincount(row, minlength=len(cut))
        times = np.bincount(shown, minlength=n_candidates)
        listed = csr_array((np.ones(len(row)), (row, shown)), shape=(len(cut), n_candidates)) @ space.matrix
        found[f"coverage@{k}"] = float((times > 0).mean())
        found[f"gini@{k}"] = gini(times)
        if space.information is not None:
            novelty = np.bincount(row, space.information[shown], minlength=len(cut)) / size
        else:
            novelty = 1 - np.asarray(listed.multiply(profile).sum(axis=1)).ravel() / size
        found[f"novelty@{k}"] = float(novelty.mean()) if has_terms or space.information is not None else None
        squared = np.asarray(listed.multiply(listed).sum(axis=1)).ravel()
        own = np.bincount(row, np.asarray(space.matrix.multiply(space.matrix).sum(axis=1)).ravel()[shown], len(cut))
        several = size > 1
        pairs = size[several] * (size[several] - 1)
        is_defined = has_terms and several.any()
        found[f"diversity@{k}"] = float((1 - (squared - own)[several] / pairs).mean()) if is_defined else None
        share = np.where(space.group[shown] >= 0, space.group_share[rows[row], space.group[shown]], 0)
        coherence = np.bincount(row, share, minlength=len(cut)) / size
        found[f"coherence@{k}"] = float(coherence.mean()) if has_groups else None
    return found


def gini(times: np.ndarray) -> float:
    """Gini coefficient of numbers that are not negative and not all zero: mean absolute difference over twice the mean."""
    ordered = np.sort(times)
    n = len(ordered)
    return float(((2 * np.arange(1, n + 1) - n - 1) @ ordered) / (n * ordered.sum()))


def exposure(lists: np.ndarray, space: Space) -> np.ndarray:
    """Share of the lists that each candidate is in."""
    return np.bincount(lists[lists != NOBODY], minlength=space.matrix.shape[0]) / len(lists)


def beyond_rows(found: Mapping, n_queries: int, params: Mapping, digests: str, note: str) -> list[dict]:
    """`found` maps (seed, system) to its measures; `mean` and `sd` are over seeds, empty where a measure is undefined."""
    rows = []
    for system, kind in params["systems"].items():
        for metric in next(iter(found.values())):
            values = [found[seed, system][metric] for seed in params["seeds"]]
            known = [value for value in values if value is not None]
            rows.append(
                {
                    "system": system,
                    "metric": metric,
                    "mean": rounded(statistics.fmean(known)) if known else None,
                    "sd": rounded(statistics.stdev(known)) if len(known) > 1 else None,
                    "n_seeds": len(known),
                    "n_queries": n_queries,
                    "kind": kind,
                    "reference": digests,
                    "note": note if metric.startswith("novelty@") else "",
                }
            )
    return rows


def item_rows(by_item: Mapping[tuple[int, str], tuple[pa.Table, np.ndarray]], params: Mapping) -> list[dict]:
    """How well each cold item's own users are found, and how often it is shown, over the seeds in which it is cold.

    `found` is the share of its relevant users in whose first k it is expected to be, `exposure` the share of all lists of
    length k that it is in; k is the largest.
    """
    k = max(params["k"])
    rows = []
    for system in params["systems"]:
        about: dict[str, dict] = {}
        for seed in params["seeds"]:
            table, shown = by_item[seed, system]
            strata = {kind: table[kind].to_pylist() for kind in STRATA if kind in table.column_names}
            n_relevant = table["n_relevant"].to_pylist()
            hits = k * table[f"precision@{k}"].to_numpy()
            for row, item in enumerate(table["item"].to_pylist()):
                one = about.setdefault(item, {"n_seeds": 0, "n_relevant": 0, "hits": 0.0, "exposure": 0.0})
                one |= {kind: values[row] for kind, values in strata.items()}
                one["n_seeds"] += 1
                one["n_relevant"] += n_relevant[row]
                one["hits"] += hits[row]
                one["exposure"] += shown[row]
        for item, one in sorted(about.items()):
            rows.append(
                {
                    "system": system,
                    "item": item,
                    **{kind: one.get(kind) for kind in STRATA},
                    "n_seeds": one["n_seeds"],
                    "n_relevant": one["n_relevant"],
                    "found": rounded(one["hits"] / one["n_relevant"]) if one["n_relevant"] else None,
                    "exposure": rounded(float(one["exposure"] / one["n_seeds"])),
                    "k": k,
                }
            )
    return rows
