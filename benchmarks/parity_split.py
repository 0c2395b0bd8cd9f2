"""Frostline's methods on the very split of the nearest peer (PyPI: warm-transfer), against its own figures.

Usage: parity_split.py ML-1M.ZIP FOLDER, the folder holding what the peer exported for each seed: `split-<seed>.npz` with
`test_items`, `val_items` and `eval_users_2000`, and `results.csv` with its figures. Prints both, seed by seed.
"""

from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from frostline.adapters.movielens import MovieLens1M
from frostline.api import Content, Warm
from frostline.content import encode_categories
from frostline.donors.als import ALS
from frostline.methods.grouped_popularity_personal import GroupedPopularityPersonal
from frostline.methods.knn import KNN
from frostline.methods.linmap import LinMap
from frostline.ranking import Metric, evaluate, rank_relevant
from frostline.scoring import score_distinct

METRICS = (Metric("ndcg", 10), Metric("auc"))
PEER = {"grouped_popularity_personal": "grouped_most_popular_pers", "knn": "knn_score_avg", "linmap": "linmap"}


def figures(data, split, seed: int) -> dict[str, np.ndarray]:
    """Means of METRICS by method, over the users that the peer evaluated."""
    user_ids = np.unique(data.interactions["user"].to_numpy(zero_copy_only=False).astype(np.int64))
    user = np.searchsorted(user_ids, data.interactions["user"].to_numpy(zero_copy_only=False).astype(np.int64))
    item = data.interactions["item"].to_numpy(zero_copy_only=False).astype(np.int64)
    weight = data.interactions["weight"].to_numpy().astype(np.float32)
    test = np.sort(split["test_items"].astype(np.int64))
    held_out = np.isin(item, np.concatenate([test, split["val_items"].astype(np.int64)]))
    warm_ids = np.unique(item[~held_out])
    train = csr_array(
        (weight[~held_out], (user[~held_out], np.searchsorted(warm_ids, item[~held_out]))),
        shape=(len(user_ids), len(warm_ids)),
    )
    catalogue = data.items["item_id"].to_numpy(zero_copy_only=False).astype(np.int64)
    matrix, names = encode_categories(data.items["genres"].combine_chunks(), np.isin(catalogue, warm_ids))
    content = Content(matrix, ("genres",), ("categories",), np.array([0, len(names)]))
    order = np.argsort(catalogue)
    rows = {name: order[np.searchsorted(catalogue[order], ids)] for name, ids in (("warm", warm_ids), ("test", test))}
    warm = Warm(len(user_ids), seed, train, content.take(rows["warm"]), ALS().fit(train, seed))
    cold = content.take(rows["test"])
    evaluated = np.searchsorted(user_ids, np.sort(split["eval_users_2000"].astype(np.int64)))
    of_test = np.isin(item, test) & np.isin(user, evaluated)
    query, column = np.searchsorted(evaluated, user[of_test]), np.searchsorted(test, item[of_test])
    found = {}
    for name, method in (
        ("grouped_popularity_personal", GroupedPopularityPersonal()),
        ("knn", KNN(k=20)),
        ("linmap", LinMap(alpha=10.0)),
    ):
        scores = score_distinct(method, method.fit(warm), warm, cold).block(0, len(user_ids))[evaluated]
        values = evaluate(rank_relevant(scores, query, column, ties="item_id"), METRICS)
        found[name] = np.nanmean(values, axis=0)
    return found


def main(archive: str, folder: str) -> None:
    with open(archive, "rb") as stream:
        data = MovieLens1M().read({"archive": stream}, {"genres": {"as": "categories"}})
    with open(Path(folder, "results.csv"), newline="") as stream:
        peer = list(csv.DictReader(stream))
    seeds = range(42, 47)
    ours = {seed: figures(data, np.load(Path(folder, f"split-{seed}.npz")), seed) for seed in seeds}
    for name, theirs in PEER.items():
        for position, (metric, column) in enumerate((("NDCG@10", "ndcg@10"), ("AUC", "auc"))):
            mine = [ours[seed][name][position] for seed in seeds]
            other = [
                float(next(row[column] for row in peer if row["method"] == theirs and row["seed"] == str(seed)))
                for seed in seeds
            ]
            gaps = " ".join(f"{a - b:+.4f}" for a, b in zip(mine, other, strict=True))
            print(
                f"{name:28s} {metric:8s} ours {statistics.fmean(mine):.4f} ± {statistics.pstdev(mine):.4f}  "
                f"peer {statistics.fmean(other):.4f} ± {statistics.pstdev(other):.4f}  by seed {gaps}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
