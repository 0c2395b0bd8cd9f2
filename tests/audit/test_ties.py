"""The tie audit, and what the issue asks of it: relabelled ids change no table, unless ties are put in order of the ids."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from frostline import evaluate
from frostline.adapters.movielens import MovieLens1M, MovieLens100K
from frostline.aggregate import leaderboard
from frostline.artifacts import Job
from frostline.audit.ties import NAME, tie_checks
from frostline.results import Results, read_results

DATA = Path(os.environ.get("FROSTLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")
SYSTEMS = {"constant": "control", "grouped_popularity": "baseline", "genres": "system", "random": "control"}


@pytest.fixture(scope="module", params=[MovieLens100K, pytest.param(MovieLens1M, marks=pytest.mark.slow)])
def movielens(request):
    """Cold items of a MovieLens data set: who took which of them, and scores of systems, most of which tie items of the same
    genres. The publisher's order of ids is roughly that of popularity."""
    path = DATA / request.param.ARCHIVE
    if not path.exists():
        message = f"{path} is not there; set FROSTLINE_DATA to the folder that holds it"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with open(path, "rb") as file:
        data = request.param().read({"archive": file}, {})
    user, item = (np.array(data.interactions[name].to_pylist()).astype(int) for name in ("user", "item"))
    names = sorted({name for row in data.items["genres"].to_pylist() for name in row or ()})
    genres = np.zeros((int(item.max()) + 1, len(names)), np.float32)
    for number, row in zip(data.items["item_id"].to_pylist(), data.items["genres"].to_pylist(), strict=True):
        genres[int(number), [names.index(name) for name in row or ()]] = 1
    rng = np.random.default_rng(7)
    cold = np.sort(rng.choice(np.unique(item), len(np.unique(item)) // 5, replace=False))
    is_cold = np.isin(item, cold)
    taste = np.zeros((user.max() + 1, len(names)), np.float32)
    np.add.at(taste, user[~is_cold], genres[item[~is_cold]])
    users = np.unique(user[~is_cold])
    popular = np.tile(genres[cold] @ taste.sum(axis=0), (len(users), 1))
    scores = {
        "constant": np.zeros_like(popular),
        "grouped_popularity": popular,
        "genres": taste[users] @ genres[cold].T,
        "random": rng.random(popular.shape, dtype=np.float32),
    }
    rows, columns = np.searchsorted(users, user[is_cold]), np.searchsorted(cold, item[is_cold])
    known = np.isin(user[is_cold], users)
    return scores, rows[known], columns[known]


def table(folder, world, ties, renamed=None):
    """The table with the ids as they are, or renamed at random, which puts rows and columns in another order."""
    scores, query, item = world
    n_queries, n_items = scores["constant"].shape
    row, column = np.arange(n_queries), np.arange(n_items)
    if renamed is not None:
        rng = np.random.default_rng(renamed)
        row, column = rng.permutation(n_queries), rng.permutation(n_items)
    files = folder()
    names = [[f"{prefix}{n:04}" for n in range(size)] for prefix, size in (("i", n_items), ("u", n_queries))]
    files.put("items.parquet", pa.table({"item_id": names[0], "fold": ["test"] * n_items}))
    files.put("queries.parquet", pa.table({"query": names[1]}))
    files.put("labels.parquet", pa.table({"query": pa.array(row[query]), "item": pa.array(column[item])}))
    files.put(
        "train.parquet", pa.table({"query": pa.array(np.arange(n_queries)), "item": pa.array(np.zeros(n_queries))})
    )
    inputs = {}
    for system, grid in scores.items():
        moved = np.empty_like(grid)
        moved[row[:, None], column] = grid
        files.put("scores.npy", moved)
        outputs = {"per_query": f"{system}/q.parquet", "per_item": f"{system}/i.parquet", "pooled": f"{system}/p.json"}
        params = {"k": (10,), "primary": "ndcg@10", "ties": ties, "fold": "test", "system": system, "seed": 1}
        given = [f"{name}.parquet" for name in ("items", "queries", "labels", "train")]
        files.run(evaluate.run, [*given, "scores.npy"], outputs, **params)
        inputs |= {f"{name}[1,{system},test]": files.path(file) for name, file in outputs.items()}
    params = {
        "seeds": [1],
        "replicates": "draws",
        "systems": SYSTEMS,
        "k": (10,),
        "primary": "ndcg@10",
        "baseline": "grouped_popularity",
    }
    results = read_results(Job("aggregate", inputs, {}, params), "test")
    checks, systems = tie_checks(results, "ndcg@10", ties)
    return leaderboard(results, params), checks[0], systems


def test_C10_ten_relabellings_of_the_ids_change_nothing_in_the_table(movielens, folder):
    before, check, systems = table(folder, movielens, "expected")
    assert check == {"name": NAME, "result": "passed", "detail": check["detail"]}
    assert check["detail"].startswith("each is the mean over all orders; a tie is at the cut in at most ")
    for number in range(10):
        after, _, same = table(folder, movielens, "expected", renamed=number)
        assert after == before and same == systems


def test_with_ties_in_order_of_the_ids_the_table_changes_and_the_tie_audit_says_so(movielens, folder):
    fair, _, _ = table(folder, movielens, "expected")
    before, check, systems = table(folder, movielens, "item_id")
    after, _, _ = table(folder, movielens, "item_id", renamed=0)
    figure = [{(r["system"], r["metric"]): r["mean"] for r in rows} for rows in (fair, before, after)]
    # The publisher's ids are roughly in order of popularity, so a constant gets at least twice what chance would.
    assert figure[1]["constant", "ndcg@10"] > 2 * figure[0]["constant", "ndcg@10"]
    assert figure[1]["constant", "ndcg@10"] != figure[2]["constant", "ndcg@10"]
    assert check["result"] == "warning" and check["detail"].startswith(
        "ties were put in order of the ids (ties: item_id)"
    )
    assert "the ranks of constant, " in check["detail"] and "constant gets ndcg@10 " in check["detail"]
    assert {row["system"]: row["any_order"] for row in systems} == {
        system: figure[0][system, "ndcg@10"] for system in SYSTEMS
    }


def results(**figures):
    """Two seeds in which a system has these (mean, worst, best, share of ties at the cut)."""
    pooled = {
        (seed, system): {
            **{name: {"ndcg@5": value} for name, value in zip(("mean", "worst", "best"), values, strict=False)},
            "any_order": {"ndcg@5": values[0]},
            "tied_at": {"5": values[3]},
        }
        for system, values in figures.items()
        for seed in (1, 2)
    }
    return Results("test", (1, 2), tuple(figures), {}, {}, pooled)


def test_systems_that_some_order_of_ties_would_swap_are_named():
    found = results(a=(0.5, 0.4, 0.6, 0.3), b=(0.45, 0.45, 0.45, 0.0), c=(0.3, 0.2, 0.39, 0.1))
    checks, systems = tie_checks(found, "ndcg@5", "expected")
    assert [(row["system"], row["rank"], row["could_change_with"]) for row in systems] == [
        ("a", 1, ["b"]),
        ("b", 2, []),
        ("c", 3, []),
    ]
    assert checks[0]["detail"] == (
        "each is the mean over all orders; a tie is at the cut in at most 30.0 % of the queries (a); "
        "by some other rule a and b could change places"
    )


def test_without_ties_no_order_could_change_anything():
    found = results(a=(0.5, 0.5, 0.5, 0.0), b=(0.5, 0.5, 0.5, 0.0))
    _, systems = tie_checks(found, "ndcg@5", "item_id")
    assert all(not row["could_change_with"] for row in systems)
