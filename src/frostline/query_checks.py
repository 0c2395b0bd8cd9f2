"""Checks of a split that asks queries, each with its history, of all items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frostline.artifacts import Job


def query_checks(job: Job, seed: int, folds: Sequence[str]) -> dict[str, str]:
    """What is wrong with a seed's files, by check; the empty text where it holds."""
    n_items = job.read_table(f"items[{seed}]").num_rows
    cells = {}
    for name in ("train", *folds, *(f"{what}_{fold}" for fold in folds for what in ("history", "excluded"))):
        table = job.read_table(f"{name}[{seed}]", columns=["query", "item"])
        cells[name] = table["query"].to_numpy().astype(np.int64) * n_items + table["item"].to_numpy()
    found = {}
    trained = {fold: int(np.isin(cells[fold], cells["train"]).sum()) for fold in folds}
    found["no label is trained on"] = _told(trained, "labels of {} are in train")
    barred = {fold: int(np.isin(cells[fold], cells[f"excluded_{fold}"]).sum()) for fold in folds}
    found["every label is a candidate of its query"] = _told(barred, "labels of {} are excluded")
    open_ = {f: int((~np.isin(cells[f"history_{f}"], cells[f"excluded_{f}"])).sum()) for f in folds}
    found["nothing of a query's history is a candidate"] = _told(open_, "pairs of the history of {} are candidates")
    return found


def _told(counts: dict[str, int], what: str) -> str:
    return " and ".join(f"{number} {what.format(fold)}" for fold, number in counts.items() if number)
