"""Frostline's methods on the very split of the nearest peer (PyPI: warm-transfer), against its own figures.

Usage: parity_split.py ML-1M.ZIP FOLDER, the folder holding what `peer_rows.py` exported. Prints both, as means over seeds,
and how far the order of the methods agrees.
"""

from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from frostline.adapters.movielens import MovieLens1M
from frostline.api import Warm
from frostline.donors.als import ALS
from frostline.encoding import encode
from frostline.ranking import Metric, evaluate, rank_relevant
from frostline.registry import load
from frostline.scoring import scores_of

METRICS = (Metric("ndcg", 10), Metric("auc"))
OURS = {
    "grouped_most_popular_pers": "grouped_popularity_personal",
    "knn_score_avg": "knn",
    "attention_knn": "attention_knn",
    # The peer limits it to k neighbours: with a bilinear donor that is attention_knn.
    "attention_emb": "attention_knn",
    "embedding_avg": "embedding_average",
    "debiased_knn": "debiased_knn",
    "scale_shift": "scale_shift",
    "magnitude_scaling": "magnitude_scaling",
    "linmap": "linmap",
    "logreg_calib": "logreg_calib",
    "stacking": "stacking",
    "stacking_plus": "stacking_plus",
}
"""The peer's methods and ours, with the parameters that both have by default."""


def figures(data, split, seed: int) -> dict[str, np.ndarray]:
    """Means of METRICS by method, over the users that the peer evaluated; they also teach the meta-methods, as there."""
    # Fixed-width text: searching among objects compares one pair at a time.
    user, item = (data.interactions[name].to_numpy(zero_copy_only=False).astype(str) for name in ("user", "item"))
    cold = {fold: np.sort(split[f"{fold}_items"].astype(str)) for fold in ("val", "test")}
    held_out = np.isin(item, np.concatenate(list(cold.values())))
    ids = data.items["item_id"].combine_chunks()
    warm_ids = np.unique(item[~held_out])
    names = ids.to_numpy(zero_copy_only=False).astype(str)
    content, _ = encode(data.items, ids, np.isin(names, warm_ids), {"genres": {"as": "categories"}})
    order = np.argsort(names)
    of = {
        part: content.take(order[np.searchsorted(names[order], wanted)])
        for part, wanted in {"warm": warm_ids, **cold}.items()
    }
    users = np.unique(user)
    weight = data.interactions["weight"].to_numpy().astype(np.float32)[~held_out]
    pairs = np.searchsorted(users, user[~held_out]), np.searchsorted(warm_ids, item[~held_out])
    train = csr_array((weight, pairs), shape=(len(users), len(warm_ids)))
    warm = Warm(len(users), seed, train, of["warm"], ALS().fit(train, seed))
    evaluated = np.sort(split["users"].astype(str))
    rows = np.searchsorted(users, evaluated)

    def relevant(fold: str) -> tuple[np.ndarray, np.ndarray]:
        own = np.isin(item, cold[fold]) & np.isin(user, evaluated)
        return np.searchsorted(evaluated, user[own]), np.searchsorted(cold[fold], item[own])

    truth = relevant("test")

    def judge(scores: np.ndarray) -> np.ndarray:
        return np.nanmean(evaluate(rank_relevant(scores, *truth, ties="item_id"), METRICS), axis=0)

    methods = {name: load("methods", name) for name in OURS.values()}
    free = {name for name, cls in methods.items() if not hasattr(cls, "combines")}
    free |= {name for cls in methods.values() for name in getattr(cls, "combines", ())}
    scores = {}
    for name in free:
        method = load("methods", name)()
        model = method.fit(warm)
        for fold in cold:
            scores[name, fold] = scores_of(method, model, warm, of[fold]).block(0, len(users))[rows]
    labels = np.zeros((len(rows), len(cold["val"])), dtype=bool)
    labels[relevant("val")] = True
    found = {}
    for name, cls in methods.items():
        if name in free:
            found[name] = judge(scores[name, "test"])
        else:
            stacked = {fold: np.stack([scores[signal, fold] for signal in cls.combines], axis=-1) for fold in cold}
            found[name] = judge(cls().score(cls().fit([(stacked["val"], labels)], seed), stacked["test"]))
    return found


def main(archive: str, folder: str) -> None:
    with open(archive, "rb") as stream:
        data = MovieLens1M().read({"archive": stream}, {"genres": {"as": "categories"}})
    with open(Path(folder, "results.csv"), newline="") as stream:
        peer = {(row["method"], int(row["seed"])): row for row in csv.DictReader(stream)}
    seeds = range(42, 47)
    ours = {seed: figures(data, np.load(Path(folder, f"split-{seed}.npz"), allow_pickle=True), seed) for seed in seeds}
    for position, column in enumerate(("ndcg@10", "auc")):
        means = []
        for theirs, name in OURS.items():
            mine = [ours[seed][name][position] for seed in seeds]
            other = [float(peer[theirs, seed][column]) for seed in seeds]
            means.append((statistics.fmean(mine), statistics.fmean(other)))
            gaps = " ".join(f"{a - b:+.4f}" for a, b in zip(mine, other, strict=True))
            print(
                f"{theirs:28s} {column:8s} ours {means[-1][0]:.4f}  peer {means[-1][1]:.4f}  "
                f"difference {means[-1][0] - means[-1][1]:+.4f}  by seed {gaps}"
            )
        print(f"rank correlation of the two orders, {column}: {spearmanr(*zip(*means, strict=True)).statistic:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
