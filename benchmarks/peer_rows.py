"""Run the nearest peer (PyPI: warm-transfer) on MovieLens-1M with ALS, and export its splits and figures.

Usage, by the Python that the peer is installed for: peer_rows.py FOLDER.
Writes `split-<seed>.npz` (item ids of the folds, evaluated users) and `results.csv`.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from warmtransfer.bench.config import BenchConfig, ComponentCfg
from warmtransfer.bench.datasets import datasets
from warmtransfer.bench.runner import BenchmarkRunner
from warmtransfer.bench.splitters import splitters

METHODS = (
    "grouped_most_popular_pers",
    "knn_score_avg",
    "attention_knn",
    "attention_emb",
    "embedding_avg",
    "debiased_knn",
    "scale_shift",
    "magnitude_scaling",
    "linmap",
    "logreg_calib",
    "stacking",
    "stacking_plus",
)


def main(folder: str) -> None:
    config = BenchConfig(
        datasets=["ml-1m"],
        donors=[ComponentCfg(name="als", params={"factors": 64, "regularization": 0.05, "iterations": 20})],
        methods=[ComponentCfg(name=name) for name in METHODS],
        seeds=[42, 43, 44, 45, 46],
    )
    runner = BenchmarkRunner(config)
    data = datasets.get("ml-1m")().load()
    for seed in config.seeds:
        split = splitters.get("pseudo_cold")().split(data, seed)
        np.savez(
            Path(folder, f"split-{seed}.npz"),
            test_items=split.cold_items,
            val_items=np.unique(split.val["item_id"]),
            users=runner._sample_test_users(split, seed),
        )
    records = runner.run()
    with open(Path(folder, "results.csv"), "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


if __name__ == "__main__":
    main(*sys.argv[1:])
