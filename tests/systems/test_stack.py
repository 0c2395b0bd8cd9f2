"""The stack: candidates and features against their definitions, and val scores that no gold of their own fold reached."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from frostline import fit_stack
from frostline.errors import FrostlineError
from frostline.folds import user_folds
from frostline.sparse import NEVER, SparseScores
from frostline.systems import Events, Known, Queries
from frostline.systems.stack import DAY, Stack, _around, as_scores, scores_at

N_QUERIES, N_ITEMS = 40, 30


def world(seed=0):
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(N_QUERIES), 4)
    item = np.concatenate([rng.permutation(N_ITEMS)[:4] for _ in range(N_QUERIES)])
    time = np.tile(np.arange(4), N_QUERIES) * 20 * DAY + rng.integers(0, 5 * DAY, N_QUERIES).repeat(4)
    events = Events(query, item, time)
    known = Known(N_QUERIES, N_ITEMS, 1, 20, events, domain=np.arange(N_ITEMS) % 2)
    return known, Queries([f"u{n}" for n in range(N_QUERIES)], events, (query, item)), rng


def signals(rng):
    values = rng.random((N_QUERIES, N_ITEMS)).astype(np.float32) + 0.5
    stored = rng.random(values.shape) < 0.5
    partial = SparseScores(csr_array(np.where(stored, values, 0)), NEVER)
    return values, stored, [partial, SparseScores(csr_array(values.shape, dtype=np.float32), values[0])]


def test_candidates_are_the_best_of_every_system_and_none_that_is_excluded():
    known, queries, rng = world()
    values, stored, given = signals(rng)
    proposed = Stack(depth=3).propose(known, queries, given)
    barred = np.zeros((N_QUERIES, N_ITEMS), bool)
    barred[queries.excluded] = True
    expected = set()
    for q in range(N_QUERIES):
        for row in (np.where(stored[q] & ~barred[q], values[q], -np.inf), np.where(barred[q], -np.inf, values[0])):
            expected |= {(q, int(i)) for i in np.argsort(-row)[:3] if row[i] > -np.inf}
    assert set(zip(proposed.query.tolist(), proposed.item.tolist(), strict=True)) == expected
    score = np.where(stored, values, np.nan)[proposed.query, proposed.item]
    np.testing.assert_array_equal(proposed.features[:, 0], score)
    np.testing.assert_array_equal(scores_at(given[1], proposed.cells(N_ITEMS)), values[0][proposed.item])


def test_events_around_a_moment_are_counted_as_by_hand():
    rng = np.random.default_rng(3)
    item, time = rng.integers(5, size=200), rng.integers(0, 100 * DAY, 200)
    asked, now = rng.integers(5, size=50), rng.integers(0, 150 * DAY, 50)
    expected = [((item == i) & (abs(time - at) <= 7 * DAY)).sum() for i, at in zip(asked, now, strict=True)]
    np.testing.assert_array_equal(_around(item, time, asked, now, 7), expected)


def test_it_learns_which_system_is_right_and_the_same_bytes_twice():
    known, queries, rng = world()
    noise = rng.random((N_QUERIES, N_ITEMS)).astype(np.float32)
    truth = rng.random((N_QUERIES, N_ITEMS)).astype(np.float32)
    truth[queries.excluded] = -1
    given = [SparseScores(csr_array(own), np.float32(0)) for own in (noise, truth)]
    stack = Stack(depth=10, min_pairs=5, trees=30)
    proposed = stack.propose(known, queries, given)
    is_gold = np.isin(proposed.cells(N_ITEMS), np.arange(N_QUERIES) * N_ITEMS + truth.argmax(axis=1))
    models = [stack.learn(proposed, is_gold, 7) for _ in range(2)]
    assert models[0]["booster"] == models[1]["booster"]
    lists = as_scores(proposed, stack.combine(models[0], proposed), N_QUERIES, N_ITEMS).top(
        1, np.arange(N_ITEMS), queries.excluded
    )
    assert (lists[:, 0] == truth.argmax(axis=1)).mean() > 0.9
    with pytest.raises(FrostlineError, match="no system proposes any val gold"):
        stack.learn(proposed, np.zeros_like(is_gold), 7)


def test_val_scores_come_from_models_that_saw_no_gold_of_their_own_fold(files):
    """B2: other golds for one fold of users change the scores of the others, and none of its own."""
    known, queries, rng = world()
    _, _, given = signals(rng)
    history = pa.table({"query": queries.history.query, "item": queries.history.item, "time": queries.history.time})
    files.put("items.parquet", pa.table({"item_id": [f"i{n:02}" for n in range(N_ITEMS)]}))
    files.put("queries.parquet", pa.table({"query": queries.names}))
    for name in ("train", "history", "excluded"):
        files.put(f"{name}.parquet", history)
    for number, one in enumerate(given):
        files.put(f"signal{number}.npz", one.to_arrays())
    folds = user_folds(N_QUERIES, 4, 1)
    gold = as_scores(*proposed_of(known, queries, given)).top(1, rng.permutation(N_ITEMS), queries.excluded)[:, 0]
    found = []
    for changed in (False, True):
        other = as_scores(*proposed_of(known, queries, given)).top(2, np.arange(N_ITEMS), queries.excluded)[:, 1]
        item = np.where((folds == 0) & changed, other, gold)
        files.put("labels.parquet", pa.table({"query": np.arange(N_QUERIES), "item": item}))
        params = {"points": [{"depth": 5, "min_pairs": 5, "trees": 10}], "component": "stack", "signals": ["a", "b"]}
        params |= {"content": {}, "k": [5], "primary": "ndcg@5", "ties": "expected", "val_folds": 4, "seed": 1}
        names = ["items", "queries", "train", "history", "excluded", "labels"]
        inputs = [f"{name}.parquet" for name in names] + ["signal0.npz", "signal1.npz"]
        files.run(fit_stack.run, inputs, ["model.npz", "tuned.json", "scores.npz"], **params)
        found.append(files.get("scores.npz")["matrix"].toarray())
    same = (found[0] == found[1]).all(axis=1)
    assert same[folds == 0].all() and not same[folds != 0].all()


def proposed_of(known, queries, given):
    proposed = Stack(depth=5).propose(known, queries, given)
    return proposed, np.random.default_rng(5).random(len(proposed.query), dtype="f4"), N_QUERIES, N_ITEMS
