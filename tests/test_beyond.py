"""Rows P2, A5 and A6: coverage, exposure, novelty, diversity and coherence against their definitions, pair by pair."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_distances

from frostline import beyond
from frostline.beyond import exposure, gini, item_rows, measures, space_of
from frostline.config import Metrics
from frostline.lists import NOBODY

N_QUERIES, N_ITEMS, CANDIDATES = 12, 20, np.array([1, 4, 5, 8, 11, 15, 16])


def world(seed, counted=False):
    rng = np.random.default_rng(seed)
    dense = rng.random((N_ITEMS, 6)) * (rng.random((N_ITEMS, 6)) < 0.5)
    dense[CANDIDATES[2]] = 0  # an item without any content
    length = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, length, out=dense, where=length > 0)
    group = rng.integers(-1, 3, N_ITEMS)
    known = np.arange(N_ITEMS) if counted else np.setdiff1d(np.arange(N_ITEMS), CANDIDATES)
    history = [rng.choice(known, rng.integers(1, 6), replace=False) for _ in range(N_QUERIES)]
    query = np.repeat(np.arange(N_QUERIES), [len(own) for own in history])
    space = space_of(csr_array(dense), group, CANDIDATES, query, np.concatenate(history), N_QUERIES)
    lists = np.stack([rng.permutation(len(CANDIDATES))[:5] for _ in range(N_QUERIES)])
    return dense, group, history, space, lists


def by_definition(dense, group, history, lists, k, counted):
    distance = cosine_distances(dense)  # 1 where a row is empty, as long as it is not to itself
    times = [0] * len(CANDIDATES)
    novelty, diversity, coherence = [], [], []
    total = sum(map(len, history))
    for own, shown in zip(history, lists, strict=True):
        cut = [c for c in shown[:k] if c != NOBODY]
        for candidate in cut:
            times[candidate] += 1
        items = CANDIDATES[cut]
        if counted:
            seen = [sum(item in h for h in history) for item in items]
            novelty.append(np.mean([-math.log2((n + 1) / (total + N_ITEMS)) for n in seen]))
        else:
            novelty.append(np.mean([distance[item, h] for item in items for h in own]))
        pairs = [distance[a, b] for a, b in itertools.combinations(items, 2)]
        diversity += [np.mean(pairs)] if pairs else []
        same = [np.mean([group[item] == group[h] and group[item] >= 0 for h in own]) for item in items]
        coherence.append(np.mean(same))
    spread = np.abs(np.subtract.outer(times, times)).mean() / (2 * np.mean(times))
    return {
        f"coverage@{k}": np.mean(np.array(times) > 0),
        f"gini@{k}": spread,
        f"novelty@{k}": np.mean(novelty),
        f"diversity@{k}": np.mean(diversity) if diversity else None,
        f"coherence@{k}": np.mean(coherence),
    }


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_P2_A6_every_measure_is_what_its_definition_says(seed, counted):
    dense, group, history, space, lists = world(seed, counted)
    lists[3, 2:] = NOBODY  # a query with two candidates only
    found = measures(lists, space, np.arange(N_QUERIES), [1, 3, 5])
    expected = {}
    for k in (1, 3, 5):
        expected |= by_definition(dense, group, history, lists, k, counted)
    assert list(found) == list(expected) and found["diversity@1"] is None
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value, rel=1e-10)), name


def test_A6_the_same_queries_only():
    dense, group, history, space, lists = world(1)
    rows = np.array([0, 4, 7])
    found = measures(lists[rows], space, rows, [3])
    expected = by_definition(dense, group, [history[row] for row in rows], lists[rows], 3, False)
    assert found == {name: pytest.approx(value, rel=1e-10) for name, value in expected.items()}


def test_A5_equal_lists_give_equal_values_and_equal_items_no_diversity():
    dense, _, _, space, lists = world(2)
    assert measures(lists, space, np.arange(N_QUERIES), [5]) == measures(lists.copy(), space, np.arange(N_QUERIES), [5])
    alike = replace(space, matrix=csr_array(np.tile(dense[[CANDIDATES[0]]], (len(CANDIDATES), 1))))
    assert measures(lists, alike, np.arange(N_QUERIES), [5])["diversity@5"] == pytest.approx(0, abs=1e-12)


def test_what_nothing_is_known_of_is_undefined():
    space = space_of(csr_array((N_ITEMS, 0)), np.full(N_ITEMS, -1), CANDIDATES, np.array([0]), np.array([0]), 1)
    found = measures(np.array([[0, 1]]), space, np.array([0]), [2])
    assert [found[f"{name}@2"] for name in ("novelty", "diversity", "coherence")] == [None] * 3
    assert found["coverage@2"] == pytest.approx(2 / 7)


@pytest.mark.parametrize(
    ("times", "expected"), [([3, 3, 3], 0), ([0, 0, 0, 8], 3 / 4), ([1, 3], 1 / 4), ([1, 2, 3, 4, 5], 4 / 15)]
)
def test_gini_by_hand(times, expected):
    assert gini(np.array(times)) == pytest.approx(expected)


def test_the_items_of_the_table_have_what_the_files_say():
    """Two seeds, in which one item is cold twice: 3 of its 4 users are found in the first, and one of 2 in the second."""
    tables = [
        pa.table({"item": ["a", "b"], "n_relevant": [4, 1], "precision@2": [1.5, 0.0], "popularity": ["5", "1"]}),
        pa.table({"item": ["a", "c"], "n_relevant": [2, 0], "precision@2": [0.5, 0.0], "popularity": ["5", "1"]}),
    ]
    shown = [np.array([0.9, 0.1]), np.array([0.5, 0.0])]
    by_item = {(seed, "x"): (table, share) for seed, table, share in zip((1, 2), tables, shown, strict=True)}
    rows = item_rows(by_item, {"systems": {"x": "system"}, "seeds": [1, 2], "k": [1, 2]})
    assert [tuple(row[name] for name in ("item", "n_seeds", "n_relevant", "found", "exposure")) for row in rows] == [
        ("a", 2, 6, pytest.approx(4 / 6), pytest.approx(0.7)),
        ("b", 1, 1, 0, pytest.approx(0.1)),
        ("c", 1, 0, None, 0),
    ]
    assert rows[0]["popularity"] == "5" and rows[0]["category"] is None and rows[0]["k"] == 2


def test_exposure_is_the_share_of_lists():
    space = world(0)[3]
    assert exposure(np.array([[0, 1], [0, NOBODY]]), space).tolist() == [1, 0.5, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("primary", ["coherence@10", "coherence"])
def test_A6_nothing_may_be_tuned_or_chosen_by_coherence(primary):
    with pytest.raises(
        ValueError, match=r"is a floor: it is measured beside the others, and nothing may be chosen by it"
    ):
        Metrics(primary=primary)


def test_A5_P2_one_digest_for_all_systems(files):
    """The stage itself, over two seeds: every system has every measure, and the space is named by its digest."""
    rng = np.random.default_rng(0)
    inputs = {}

    def put(key, value):
        ending = ".npz" if isinstance(value, dict) else ".npy" if isinstance(value, np.ndarray) else ".parquet"
        inputs[key] = key.translate(str.maketrans("[],", "---")) + ending
        files.put(inputs[key], value)

    for seed in (1, 2):
        fold = np.where(np.isin(np.arange(N_ITEMS), CANDIDATES), "test", "warm")
        put(f"items[{seed}]", pa.table({"item_id": [f"i{n:02}" for n in range(N_ITEMS)], "fold": fold.tolist()}))
        dense, group, history, *_ = world(seed)
        put(f"reference[{seed}]", {"matrix": csr_array(dense), "group": group})
        query = np.repeat(np.arange(N_QUERIES), [len(own) for own in history])
        put(f"train[{seed}]", pa.table({"query": query, "item": np.concatenate(history)}))
        for system in ("a", "b"):
            of = f"[{seed},{system},test]"
            put(f"per_query{of}", pa.table({"n_relevant": [0, 1] * (N_QUERIES // 2)}))
            zero = np.zeros(len(CANDIDATES))
            items = {"item": [f"i{n:02}" for n in CANDIDATES], "n_relevant": np.ones(len(CANDIDATES), int)}
            put(f"per_item{of}", pa.table({**items, "precision@3": zero}))
            put(
                f"lists{of}",
                np.stack([rng.permutation(len(CANDIDATES))[:3] for _ in range(N_QUERIES)]).astype(np.int32),
            )
    outputs = ["parquet.parquet", "items_parquet.parquet"]
    names = {name.partition(".")[0]: name for name in outputs} | {"csv": "csv.json", "items_csv": "items.json"}
    files.run(beyond.run, inputs, names, systems={"a": "system", "b": "control"}, seeds=[1, 2], k=[3])
    rows = files.get(outputs[0]).to_pylist()
    assert {(row["system"], row["metric"]) for row in rows} == {
        (system, f"{name}@3") for system in "ab" for name in ("coverage", "gini", "novelty", "diversity", "coherence")
    }
    assert {row["n_queries"] for row in rows} == {N_QUERIES}, "half of the queries of each seed count"
    digests = {row["reference"] for row in rows}
    assert len(digests) == 1 and len(digests.pop().split()) == 2
    assert {row["note"] for row in rows if "novelty" in row["metric"]} == {"content distance to the history"}
    assert files.get(outputs[1]).num_rows == 2 * len(CANDIDATES)
