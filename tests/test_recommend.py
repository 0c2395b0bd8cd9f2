"""New items: what the verdict chose, refitted on everything, and lists that are the best of all."""

import json

import numpy as np
import pyarrow as pa
import pytest

from frostline import recommend
from frostline.errors import FrostlineError
from frostline.recommend import top_lists

CONTENT = {"tags": {"as": "categories"}}
TAGS = {"a": ["x"], "b": ["x", "y"], "c": ["z"], "new1": ["y"], "new2": ["z", "unheard of"], "new3": []}
EVENTS = [("u1", "a"), ("u1", "b"), ("u2", "c"), ("u3", "b"), ("u3", "c")]


def system(method, points=None, donor=None, signals=()):
    return {"method": method, "points": points or [{"donor": 0, "options": {}}], "donor": donor, "signals": signals}


SYSTEMS = {
    "grouped_popularity": system("grouped_popularity"),
    "grouped_popularity_personal": system("grouped_popularity_personal"),
    "content_ridge": system("content_ridge", [{"donor": 0, "options": {"alpha": a}} for a in (0.5, 2.0)]),
    "ease+linmap": system(
        "linmap",
        [{"donor": 0, "options": {"alpha": 1.0}}],
        {"donor": "ease", "points": [{"regularization": 2.0, "max_items": 10}]},
    ),
    "mine+knn": system("knn", None, {"donor": "scores", "points": [{"path": "x"}]}),
    "both": system("stacking_full", None, None, ("grouped_popularity", "content_ridge")),
}


def run(files, chosen, decision="transfer", tags=TAGS, top=2):
    pairs = {"user": [u for u, _ in EVENTS], "item": [i for _, i in EVENTS], "weight": [1.0] * len(EVENTS)}
    files.put("interactions.parquet", pa.table(pairs))
    files.put("catalogue.parquet", pa.table({"item_id": list(tags), "tags": pa.array(list(tags.values()))}))
    verdict = {"chosen": chosen, "baseline": "grouped_popularity_personal", "decision": decision, "metric": "ndcg@10"}
    files.put("verdict.json", verdict | {"difference": 0.1, "ci_low": 0.0, "ci_high": 0.2})
    for seed, means in (("1", (0.5, 0.1)), ("2", (0.1, 0.2))):
        files.put(f"tuned{seed}.json", {"points": [{"mean": mean} for mean in means]})
        weights = {"0.weight": np.array([1.0, 0.0], np.float32), "1.weight": np.array([0.0, 3.0], np.float32)}
        files.put(f"model{seed}.npz", weights if seed == "1" else {k: 2 * v for k, v in weights.items()})
    inputs = {name: f"{name}.parquet" for name in ("interactions", "catalogue")} | {"verdict": "verdict.json"}
    inputs |= {f"tuned[{seed},content_ridge]": f"tuned{seed}.json" for seed in "12"}
    inputs |= {f"model[{seed},both]": f"model{seed}.npz" for seed in "12"}
    outputs = {
        f"{name}_{kind}": f"{name}.{kind}"
        for name in ("items_per_user", "users_per_item")
        for kind in ("parquet", "csv")
    }
    files.run(
        recommend.run, inputs, outputs | {"summary": "summary.json"}, systems=SYSTEMS, content=CONTENT, seed=1, top=top
    )
    return files.get("items_per_user.parquet").to_pylist()


def test_where_the_baseline_is_not_beaten_it_is_what_recommends(files):
    """By hand: u1 took x twice and y once, u2 took z, u3 took x, y and z."""
    rows = run(files, "content_ridge", decision="baseline")
    expected = {("u1", "new1"): 1, ("u2", "new2"): 1, ("u3", "new1"): 1, ("u3", "new2"): 1}
    assert {(row["user"], row["item"]): row["score"] for row in rows if row["score"]} == expected
    assert [row["rank"] for row in rows] == [1, 2] * 3
    assert json.loads((files.folder / "summary.json").read_text())["system"] == "grouped_popularity_personal"
    per_item = files.get("users_per_item.parquet").to_pylist()
    assert {row["item"] for row in per_item} == {"new1", "new2", "new3"}
    assert {row["user"] for row in per_item if row["item"] == "new1" and row["score"]} == {"u1", "u3"}
    text = (files.folder / "items_per_user.csv").read_text().splitlines()
    assert text[0] == "user,rank,item,score" and len(text) == 1 + len(rows)


def test_a_grid_uses_the_point_that_is_best_over_the_seeds(files):
    run(files, "content_ridge")
    assert json.loads((files.folder / "summary.json").read_text())["points"] == {"content_ridge": {"alpha": 0.5}}


def test_a_transfer_method_is_refitted_on_all_interactions(files):
    """EASE and ridge written out with numpy and scikit-learn."""
    from sklearn.linear_model import Ridge

    rows = run(files, "ease+linmap")
    history = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]], float)
    inverse = np.linalg.inv(history.T @ history + 2 * np.eye(3))
    weights = np.eye(3) - inverse / np.diag(inverse)
    known = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]], float)
    ridge = Ridge(alpha=1.0).fit(known, (history @ weights).T)
    expected = ridge.predict(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], float)).T
    for row in rows:
        user, item = int(row["user"][1]) - 1, int(row["item"][3]) - 1
        assert row["score"] == pytest.approx(expected[user, item], abs=1e-5)


def test_a_meta_method_averages_its_models_over_seeds_and_groups(files):
    """Weights (1, 0), (0, 3), (2, 0), (0, 6) on standardised signals: (0.75, 2.25) on average."""
    found = {}
    for name in ("both", *SYSTEMS["both"]["signals"]):
        scores = np.zeros((3, 3))
        for row in run(files, name, top=3):
            scores[int(row["user"][1]) - 1, int(row["item"][3]) - 1] = row["score"]
        found[name] = scores
    signals = [found[name] - found[name].mean(axis=1, keepdims=True) for name in SYSTEMS["both"]["signals"]]
    expected = sum(w * s / s.std(axis=1, keepdims=True) for w, s in zip((0.75, 2.25), signals, strict=True))
    np.testing.assert_allclose(found["both"], expected, atol=1e-4)


def test_no_new_item_and_a_brought_donor_are_told_so(files):
    with pytest.raises(FrostlineError, match=r"no new one to recommend\. Add the new items to the items file"):
        run(files, "content_ridge", tags={key: TAGS[key] for key in "abc"})
    with pytest.raises(FrostlineError, match=r"'mine\+knn' rests on a donor that was trained elsewhere"):
        run(files, "mine+knn")


@pytest.mark.parametrize("top", [1, 3, 50])
def test_top_lists_are_the_best_of_all_across_blocks(top, monkeypatch):
    rng = np.random.default_rng(top)
    matrix = rng.integers(0, 5, (23, 11)).astype(np.float32)
    monkeypatch.setattr(recommend, "BLOCK", 4)
    block = type("", (), {"block": lambda self, a, b: matrix[a:b]})()
    for (owner, member, score), whole in zip(top_lists(block, 23, 11, top, 1), (matrix, matrix.T), strict=True):
        width = min(top, whole.shape[1])
        assert len(owner) == len(whole) * width
        np.testing.assert_array_equal(score, whole[owner, member])
        np.testing.assert_array_equal(score.reshape(-1, width), -np.sort(-whole, axis=1)[:, :width])
        assert all(len(set(row)) == width for row in member.reshape(-1, width))
