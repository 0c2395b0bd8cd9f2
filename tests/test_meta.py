"""Meta-methods: what they learn from, and above all what they do not (C5, C6, C7)."""

import json

import numpy as np
import pyarrow as pa
import pytest

from frostline import fit_meta, score_meta
from frostline.errors import FrostlineError
from frostline.folds import item_folds, meta_half
from frostline.meta import MetaMethod, scaled, user_groups
from frostline.registry import BUILT_IN, load

N_QUERIES, N_ITEMS, N_FOLDS, SEED = 60, 40, 4, 7
META = [name for name in BUILT_IN["methods"] if issubclass(load("methods", name), MetaMethod)]
POINTS = {"stacking_full": [{"C": 0.01}, {"C": 100.0}], "lambdarank": [{"trees": 5, "min_pairs": 5}]}


def lay_out(files, change=lambda relevant: None, n_tuned=1):
    """Val labels that follow the first of three signals; of the first `n_tuned` signals there are two points."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(N_QUERIES, N_ITEMS))
    relevant = truth > 1.0
    change(relevant)
    items = [f"i{n:03}" for n in range(N_ITEMS + 10)]
    files.put("items.parquet", pa.table({"item_id": items, "fold": ["warm"] * 10 + ["val"] * N_ITEMS}))
    files.put("queries.parquet", pa.table({"query": [f"u{n:03}" for n in range(N_QUERIES)]}))
    query, column = relevant.nonzero()
    files.put(
        "labels.parquet",
        pa.table({"query": pa.array(query, pa.int32()), "item": pa.array(column + 10, pa.int32())}),
    )
    for number in range(3):
        noise = rng.normal(size=(2 * N_QUERIES, N_ITEMS))
        score = (np.vstack([truth, truth]) / (1 + number) + noise * [[0.5 + number]]).astype(np.float32)
        files.put(f"signal{number}.npy", score if number < n_tuned else score[:N_QUERIES])
        if number < n_tuned:
            figures = [[0.5, 0.1, 0.1, 0.1], [0.2, 0.2, 0.2, 0.1]]
            files.put(f"tuned{number}.json", {"point": 0, "points": [{"folds": row} for row in figures]})
    return relevant


def lay_out_pseudo(files, change=lambda relevant: None):
    """Two folds of 15 pseudo-cold items each, of which the same three signals say as much as of val."""
    rng = np.random.default_rng(4)
    for part in range(2):
        truth = rng.normal(size=(N_QUERIES, 15))
        relevant = truth > 1.0
        change(relevant)
        query, column = relevant.nonzero()
        place = f"pseudo2_{part}_"
        files.put(f"{place}items.parquet", pa.table({"item_id": [f"w{n}" for n in range(15)], "fold": ["val"] * 15}))
        labels = {"query": pa.array(query, pa.int32()), "item": pa.array(column, pa.int32())}
        files.put(f"{place}labels.parquet", pa.table(labels))
        for number in range(3):
            noise = rng.normal(size=(2 * N_QUERIES, 15))
            score = (np.vstack([truth, truth]) / (1 + number) + noise * [[0.5 + number]]).astype(np.float32)
            files.put(f"{place}signal{number}.npy", score if number == 0 else score[:N_QUERIES])


def fit(files, method, meta_users="crossfit", n_tuned=1, n_folds=N_FOLDS, folds=0):
    points = [{"donor": {}, "options": options | {"folds": folds}} for options in POINTS.get(method, [{}])]
    signals = [f"signal{number}.npy" for number in range(3)] + [f"tuned{number}.json" for number in range(n_tuned)]
    params = {"method": method, "points": points, "seed": SEED, "signals": ["a", "b", "c"], "system": method}
    params |= {"primary": "ndcg@10", "ties": "expected", "val_folds": n_folds, "meta_users": meta_users}
    known = ["items.parquet", "queries.parquet", "labels.parquet"]
    outputs = {"model": "model.npz", "tuned": "tuned.json", "scores": "nested.npy", "users": "users.npz"}
    names = ["items.parquet", "labels.parquet", *(f"signal{number}.npy" for number in range(3))]
    pseudo = [f"pseudo{folds}_{part}_{name}" for part in range(folds) for name in names]
    inputs = {name.partition(".")[0]: name for name in signals + known + pseudo}
    files.run(fit_meta.run, inputs, outputs, **params)
    return files.get("nested.npy")


@pytest.mark.parametrize("method", META)
def test_C6_a_meta_method_learns_what_the_labels_follow(method, files):
    relevant = lay_out(files)
    scores = fit(files, method)
    assert np.isfinite(scores).all() and scores.dtype == np.float32
    ahead = [(row[hit][:, None] > row[~hit]).mean() for row, hit in zip(scores, relevant, strict=True) if hit.sum() > 0]
    assert np.mean(ahead) > 0.8


@pytest.mark.parametrize("method", META)
def test_C5_the_labels_of_an_items_fold_do_not_reach_its_scores(method, folder):
    """Not through the model, and not through the choice of its parameters."""
    fold = item_folds(N_ITEMS, N_FOLDS, SEED)
    own = np.flatnonzero(fold == 2)

    def flip(relevant):
        relevant[:, own] = ~relevant[:, own]

    before, after = folder(), folder()
    lay_out(before)
    lay_out(after, flip)
    found, changed = fit(before, method), fit(after, method)
    np.testing.assert_array_equal(found[:, own], changed[:, own])
    assert not np.array_equal(found, changed)


@pytest.mark.parametrize("method", META)
def test_C5_C7_pseudo_cold_items_teach_beside_val_and_open_no_way_around_it(method, folder):
    """Their labels move the scores, but a user's own none of his, and val labels of an item's fold still none of it."""
    own, half = np.flatnonzero(item_folds(N_ITEMS, N_FOLDS, SEED) == 2), meta_half(N_QUERIES, SEED)

    def flip_fold(relevant):
        relevant[:, own] = ~relevant[:, own]

    def flip_half(relevant):
        relevant[half] = ~relevant[half]

    def scores(change_val=lambda relevant: None, change_pseudo=lambda relevant: None, folds=2):
        files = folder()
        lay_out(files, change_val)
        lay_out_pseudo(files, change_pseudo)
        return fit(files, method, folds=folds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(POINTS, method, POINTS.get(method, [{}])[:1])
        found = scores()
        assert not np.array_equal(found, scores(folds=0))
        np.testing.assert_array_equal(found[:, own], scores(change_val=flip_fold)[:, own])
        changed = scores(change_pseudo=flip_half)
    np.testing.assert_array_equal(found[half], changed[half])
    assert not np.array_equal(found[~half], changed[~half])


def test_pseudo_cold_labels_alone_teach_logistic_regression_what_sklearn_learns(files, monkeypatch):
    """Val and both folds side by side; few enough pairs that every user of the half is drawn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    relevant = [lay_out(files, n_tuned=1)]
    lay_out_pseudo(files, lambda labels: relevant.append(labels.copy()))
    fit(files, "stacking", n_tuned=1, folds=2)
    half = meta_half(N_QUERIES, SEED)
    names = ["", "pseudo2_0_", "pseudo2_1_"]
    features = np.concatenate([
        np.stack([files.get(f"{name}signal{number}.npy")[:N_QUERIES][half].ravel() for number in range(3)], axis=1)
        for name in names
    ])  # fmt: skip
    scaler = StandardScaler()
    model = LogisticRegression(tol=1e-8)
    model.fit(scaler.fit_transform(features.astype(np.float64)), np.concatenate([r[half].ravel() for r in relevant]))
    np.testing.assert_allclose(files.get("model.npz")["0.weight"], model.coef_[0] / scaler.scale_, rtol=1e-3)


@pytest.mark.parametrize("method", META)
def test_C7_no_users_labels_reach_the_model_that_scores_him(method, folder):
    """Crossfit: with other labels for one half, its own scores by one model stay; only the other half's move."""
    half = meta_half(N_QUERIES, SEED)

    def flip(relevant):
        relevant[half] = ~relevant[half]

    before, after = folder(), folder()
    lay_out(before)
    lay_out(after, flip)
    POINTS_OF_ONE = POINTS.get(method, [{}])[:1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(POINTS, method, POINTS_OF_ONE)
        found, changed = fit(before, method), fit(after, method)
    np.testing.assert_array_equal(found[half], changed[half])
    assert not np.array_equal(found[~half], changed[~half])
    models = [files.get("model.npz") for files in (before, after)]
    same = [key for key in models[0] if np.array_equal(models[0][key], models[1][key])]
    assert same and all(key.startswith("1.") for key in same)


@pytest.mark.parametrize("meta_users", ["shared", "disjoint", "crossfit"])
def test_C7_every_user_is_scored_once_and_halves_are_halves(meta_users):
    groups = user_groups(101, meta_users, 3)
    applied = np.sum([group.apply for group in groups], axis=0)
    assert applied.tolist() == [1] * 101
    if meta_users != "shared":
        assert all(50 <= group.train.sum() <= 51 for group in groups)
    if meta_users == "crossfit":
        assert all(not (group.train & group.apply).any() for group in groups)
    if meta_users == "disjoint":
        assert np.array_equal(groups[0].train, meta_half(101, 3))


def test_C7_the_three_ways_are_reproducible_and_differ(folder):
    found = {}
    for meta_users in ("shared", "disjoint", "crossfit"):
        runs = []
        for _ in range(2):
            files = folder()
            lay_out(files)
            fit(files, "stacking", meta_users)
            runs.append(files.bytes("model.npz", "nested.npy", "tuned.json"))
        assert runs[0] == runs[1]
        found[meta_users] = runs[0]
    assert found["shared"] != found["disjoint"] != found["crossfit"]


@pytest.mark.parametrize(("value", "said"), [(False, "no relevant items"), (True, "only relevant items")])
def test_C6_one_class_in_the_labels_is_a_clear_error(value, said, files):
    def one_class(relevant):
        relevant[:] = value

    lay_out(files, one_class)
    with pytest.raises(FrostlineError, match=rf"system 'stacking'.* {said} .*one class teaches nothing.*split\.val"):
        fit(files, "stacking")
    assert not (files.folder / "model.npz").exists() and not (files.folder / "tuned.json").exists()


def test_a_grid_needs_three_folds(files):
    lay_out(files, n_tuned=0)
    with pytest.raises(FrostlineError, match=r"three item folds.*Raise split\.val_folds"):
        fit(files, "stacking_full", n_tuned=0, n_folds=2)


def test_C5_a_signals_point_is_chosen_without_the_fold(files):
    """Without fold 0 the second point is best: its scores alone decide there, and those of the first nowhere else."""
    lay_out(files)
    found = fit(files, "stacking")
    stacked = files.get("signal0.npy")
    own = item_folds(N_ITEMS, N_FOLDS, SEED) == 0
    stacked[:N_QUERIES] = 0  # the first point, which is best on all folds and on all but the first
    files.put("signal0.npy", stacked)
    changed = fit(files, "stacking")
    np.testing.assert_array_equal(found[:, own], changed[:, own])
    assert not np.array_equal(found[:, ~own], changed[:, ~own])


def test_logistic_regression_is_sklearns(files):
    """The model for test items: all folds, half of the users, features scaled to unit variance."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    relevant = lay_out(files, n_tuned=0)
    fit(files, "stacking", n_tuned=0)
    half = meta_half(N_QUERIES, SEED)
    features = np.stack([files.get(f"signal{number}.npy")[half].ravel() for number in range(3)], axis=1)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8))
    pipeline.fit(features.astype(np.float64), relevant[half].ravel())
    expected = pipeline[1].coef_[0] / pipeline[0].scale_
    np.testing.assert_allclose(files.get("model.npz")["0.weight"], expected, rtol=1e-3)


@pytest.mark.parametrize("method", META)
def test_score_meta_scores_each_user_by_the_model_of_his_group(method, files):
    """With test signals equal to val ones and one point, test scores are those of the models of all folds."""
    lay_out(files, n_tuned=0)
    fit(files, method, n_tuned=0)
    record = files.get("tuned.json")
    points = [{"donor": 0, "options": options} for options in POINTS.get(method, [{}])]
    params = {"method": method, "points": points, "seed": SEED, "signals": ["a", "b", "c"], "meta_users": "crossfit"}
    inputs = {f"signal{number}": f"signal{number}.npy" for number in range(3)}
    files.run(
        score_meta.run,
        inputs | {"model": "model.npz", "tuned": "tuned.json"},
        {"scores": "scores.npy", "users": "test_users.npz"},
        **params,
    )
    instance = load("methods", method)(**points[record["point"]]["options"])
    signals = [scaled(files.get(f"signal{number}.npy"), instance.within_query) for number in range(3)]
    features = np.stack(signals, axis=-1)
    model = files.get("model.npz")
    expected = np.empty((N_QUERIES, N_ITEMS))
    for group, applied in enumerate([~meta_half(N_QUERIES, SEED), meta_half(N_QUERIES, SEED)]):
        own = {key.removeprefix(f"{group}."): value for key, value in model.items() if key.startswith(f"{group}.")}
        expected[applied] = instance.score(own, features[applied])
    np.testing.assert_allclose(files.get("scores.npy"), expected, rtol=1e-5, atol=1e-6)


def test_scaling_within_the_query_leaves_constants_at_zero():
    rows = np.array([[1, 2, 3], [5, 5, 5], [1e6, 1e6, 1e6 + 3]], np.float32)
    found = scaled(rows, True)
    assert found[1].tolist() == [0, 0, 0]
    np.testing.assert_allclose(found[[0, 2]].mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(found[[0, 2]].std(axis=1), 1, atol=1e-6)
    assert scaled(rows, False) is rows


def test_tuned_record_holds_every_point(files):
    lay_out(files)
    fit(files, "stacking_full")
    record = json.loads((files.folder / "tuned.json").read_text())
    assert [point["options"]["C"] for point in record["points"]] == [0.01, 100.0]
    assert all(len(point["folds"]) == N_FOLDS for point in record["points"])


@pytest.mark.parametrize("meta_users", ["shared", "disjoint", "crossfit"])
def test_C7_who_taught_and_who_was_scored_is_recorded(meta_users, files):
    lay_out(files)
    fit(files, "stacking", meta_users)
    users = files.get("users.npz")
    half, everyone = meta_half(N_QUERIES, SEED), np.ones(N_QUERIES, dtype=bool)
    teaches = {"shared": [everyone], "disjoint": [half], "crossfit": [half, ~half]}[meta_users]
    np.testing.assert_array_equal(users["teaches"], teaches)
    np.testing.assert_array_equal(users["scored_by"], half if meta_users == "crossfit" else 0 * half)
