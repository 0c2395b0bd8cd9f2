"""Checks of the items' content against the split: fields that are known too late, and items that are listed twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.api import Content
from frostline.artifacts import Job
from frostline.audit.checks import check
from frostline.audit.duplicates import duplicates, twins
from frostline.audit.later_known import later_known, measure
from frostline.encoding import encode
from frostline.folds import TEST, WARM
from frostline.twins import identities


def is_fitted_on_warm(
    content: Content, catalogue: pa.Table, item_ids: pa.ChunkedArray, is_warm: np.ndarray, fields: Mapping[str, Mapping]
) -> bool:
    """Whether the content of warm items is what it would be if nothing were known of the cold ones, to the last bit."""
    rows = pc.index_in(item_ids, catalogue["item_id"].combine_chunks()).to_numpy()
    known = pa.array(rows, mask=~is_warm)
    blanked = pa.table({"item_id": item_ids} | {name: catalogue[name].take(known) for name in fields})
    again, _ = encode(blanked, item_ids.combine_chunks(), is_warm, fields)
    one, other = _arrays(content), _arrays(again.take(np.flatnonzero(is_warm)))
    return all(np.array_equal(one[name], other[name]) for name in one)


def _arrays(content: Content) -> dict[str, np.ndarray]:
    matrix = content.matrix
    matrix.sort_indices()
    return content.to_arrays() | {"matrix": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def content_checks(job: Job) -> tuple[list[dict], dict]:
    """Read `catalogue` and each seed's `items`, `train`, `test`, `warm_content`, `test_content`.

    Returns
    -------
    checks : list of {name, result, detail}
    fields : dict
        What each field says of the interactions, see `later_known.measure`.
    """
    kinds = {name: options["as"] for name, options in job.params["content"].items()}
    catalogue = job.read_table("catalogue")
    identity = identities(catalogue)
    measured, listed, n_cold, n_test, fitted = [], {}, 0, 0, []
    for seed in job.params["seeds"]:
        items, train, test = (job.read_table(f"{name}[{seed}]") for name in ("items", "train", TEST))
        ids, fold = items["item_id"], items["fold"].to_numpy(zero_copy_only=False)
        rows = pc.index_in(ids, catalogue["item_id"].combine_chunks()).to_numpy()
        listed[seed] = [ids[row].as_py() for row in twins(identity[rows], fold).tolist()]
        n_cold += int((fold != WARM).sum())

        warm, cold = (Content.from_arrays(job.read_arrays(f"{part}_content[{seed}]")) for part in (WARM, TEST))
        is_warm, is_test = fold == WARM, fold == TEST
        if (warm.matrix.shape[0], cold.matrix.shape[0]) != (is_warm.sum(), is_test.sum()):
            continue  # of another split, which a check of the lineage says
        if not is_fitted_on_warm(warm, catalogue, ids, is_warm, job.params["content"]):
            fitted.append(f"seed {seed}: without the cold items, that of warm ones would be another")
        n_test = int(is_test.sum())
        of = test["item"].to_numpy()
        weight = test["weight"].to_numpy() if "weight" in test.column_names else np.ones(len(of))
        taken, summed = (np.bincount(of, part, len(fold))[is_test] for part in (None, weight))
        numbers = {
            name: catalogue[name].to_numpy(zero_copy_only=False).astype(np.float64)[rows][is_test]
            for name, kind in kinds.items()
            if kind == "number"
        }
        trained = np.bincount(train["item"].to_numpy(), minlength=len(fold))[is_warm]
        mean_weight = np.divide(summed, taken, out=np.full(n_test, np.nan), where=taken > 0)
        measured.append(measure(warm, cold, numbers, (trained, taken), mean_weight, seed))
    checks, fields = later_known(measured, n_test)
    holds = "blanking the cold items leaves that of warm ones as it is, to the last bit"
    checks.insert(0, check("content is fitted on warm items alone", fitted, holds))
    return [*checks, duplicates(listed, n_cold, "text" in kinds.values())], fields
