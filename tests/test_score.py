"""The stages that fit and score: with what they were declared, in blocks, the same bytes (C2, C8, C10, C17, P1)."""

import importlib

import numpy as np
import pyarrow as pa
import pytest

from frostline import fit_donor, fit_method, registry, score, scoring
from frostline.api import BLOCK, Method, Warm
from frostline.artifacts import ArtifactError, IsolationError
from frostline.config import load
from frostline.errors import FrostlineError

FREE = [name for name in registry.BUILT_IN["methods"] if issubclass(registry.load("methods", name), Method)]
PLUGIN = '''
"""A method of one's own: a mean of two signals."""
from dataclasses import dataclass

import numpy as np
from frostline.api import Bilinear, Method


@dataclass(frozen=True)
class Mine(Method):
    share: float = 0.5

    needs = ("train", "content")
    content_kind = "categories"

    def fit(self, warm):
        popularity = warm.train.sum(axis=0)
        return {"liked": warm.content.of_kind("categories").T @ popularity}

    def score(self, model, warm, cold):
        own = cold.of_kind("categories") @ model["liked"]
        return Bilinear(np.ones((warm.n_queries, 1), np.float32), self.share * own[:, None].astype(np.float32))
'''
DONOR = '''
"""A donor of one's own, that keeps what it was shown."""
from dataclasses import dataclass

import numpy as np
from frostline.api import Bilinear, Donor


@dataclass(frozen=True)
class Spy(Donor):
    wrong: str = ""

    def fit(self, train, seed):
        left, right = np.ones((train.shape[0], 1), np.float32), train.sum(axis=0)[:, None].astype(np.float32)
        if self.wrong == "shape":
            right = np.vstack([right, right])
        if self.wrong == "value":
            left[0] = np.nan
        return Bilinear(left, right)
'''
CROOKED = """
from dataclasses import dataclass

import numpy as np
from frostline.api import Method


@dataclass(frozen=True)
class Crooked(Method):
    needs = ()
    by_content = False

    def score(self, model, warm, cold):
        return self

    def block(self, start, stop):
        return np.zeros((stop - start + 1, 5), np.float32)
"""


@pytest.fixture(scope="module", autouse=True)
def outside(tmp_path_factory):
    """Modules of a user, in a folder of his own."""
    folder = tmp_path_factory.mktemp("outside")
    for name, source in (("own_method", PLUGIN), ("own_donor", DONOR), ("own_crooked", CROOKED)):
        (folder / f"{name}.py").write_text(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        importlib.invalidate_caches()
        yield


def lay_out(files, warm, cold, users="u{:04}", items="i{:04}"):
    """The files that a method's jobs read; every third item is cold."""
    n_items = warm.train.shape[1] + cold.matrix.shape[0]
    is_cold = np.zeros(n_items, dtype=bool)
    is_cold[np.linspace(1, n_items - 1, cold.matrix.shape[0]).astype(int)] = True
    warm_items = np.flatnonzero(~is_cold)
    row, column = warm.train.nonzero()
    files.put(
        "items.parquet",
        pa.table({"item_id": [items.format(n) for n in range(n_items)], "fold": np.where(is_cold, "test", "warm")}),
    )
    files.put("queries.parquet", pa.table({"query": [users.format(n) for n in range(warm.n_queries)]}))
    interactions = {"query": row.astype(np.int32), "item": warm_items[column].astype(np.int32)}
    files.put(
        "train.parquet", pa.table(interactions | {"weight": warm.train.toarray()[row, column].astype(np.float64)})
    )
    files.put("content.npz", warm.content.to_arrays())
    files.put("cold_test.npz", cold.to_arrays())
    files.put("donor0.npz", {"left": warm.donor.left, "right": warm.donor.right})
    return is_cold


def run(files, name, seed, **options):
    """Fit, if there is something to fit, and score, with the files that the method needs and no other."""
    method = registry.load("methods", name)
    sources = {"train": ["train.parquet", "items.parquet"], "content": ["content.npz"], "donor": ["donor0.npz"]}
    known = ["queries.parquet", *(file for need in method.needs for file in sources[need])]
    params = {"method": name, "points": [{"donor": 0, "options": options}], "seed": seed}
    if method.is_fitted():
        files.run(fit_method.run, known, ["model.npz"], **params)
        known = [*known, "model.npz"]
    files.run(score.run, [*known, "cold_test.npz"], ["scores_test.npy"], **params)
    return np.array(files.get("scores_test.npy"))


@pytest.mark.parametrize("name", FREE)
def test_C10_a_file_holds_what_the_method_says_and_names_play_no_part(name, folder, world):
    """Renaming users and items in their order gives the same bytes."""
    warm, cold = world(1)
    files, renamed = folder(), folder()
    lay_out(files, warm, cold)
    lay_out(renamed, warm, cold, "someone {:06}", "ä thing {:05}")
    found = run(files, name, 1)
    run(renamed, name, 1)
    assert files.bytes("scores_test.npy") == renamed.bytes("scores_test.npy")
    method = registry.load("methods", name)()
    given = Warm(9, 1, **{need: getattr(warm, need) for need in method.needs})
    expected = method.score(method.fit(given), given, cold).block(0, 9)
    assert found.shape == (9, 7) and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_C10_blocks_are_of_a_fixed_size_and_complete(files, world):
    warm, cold = world(2, n_queries=BLOCK + 3, n_warm=6, n_cold=4)
    lay_out(files, warm, cold)
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        real = scoring.Gathered.block
        patch.setattr(scoring.Gathered, "block", lambda self, a, b: asked.append((a, b)) or real(self, a, b))
        found = run(files, "grouped_popularity_personal", 1)
    assert asked == [(0, BLOCK), (BLOCK, BLOCK + 3)] and BLOCK == 4096
    chosen = (warm.train.toarray() > 0) @ warm.content.of_kind("categories").toarray()
    np.testing.assert_array_equal(found, chosen @ cold.of_kind("categories").toarray().T)


def test_C10_items_of_equal_content_are_scored_once_and_tied(files, world):
    """Rulings 17, through the stage."""
    warm, cold = world(3, n_queries=50, d=24)
    copies = np.random.default_rng(0).integers(0, 5, 40)
    lay_out(files, warm, cold.take(copies))
    for name in ("knn", "linmap"):
        found = run(files, name, 1)
        assert all(len(np.unique(found[:, copies == one], axis=1).T) == 1 for one in range(5))


def test_C10_items_differ_if_any_bit_of_their_content_does(world):
    warm, cold = world(4)
    matrix = cold.matrix[[0, 0, 0]].copy()
    matrix.data[-1] = np.nextafter(matrix.data[-1], np.float32(9))
    matrix.indices[matrix.indptr[1]] = next(c for c in range(9) if c not in matrix.indices[: matrix.indptr[1]])
    gathered = scoring.score_distinct(
        registry.load("methods", "constant")(), {}, warm, type(cold)(matrix, *list(vars(cold).values())[1:])
    )
    assert gathered.column.tolist() == [0, 1, 2]


def test_P1_a_method_of_ones_own_takes_one_file_and_gets_a_full_row(files, world):
    assert len(PLUGIN.strip().splitlines()) <= 22
    warm, cold = world(5)
    lay_out(files, warm, cold)
    found = run(files, "own_method:Mine", 1, share=0.25)
    liked = warm.content.of_kind("categories").toarray().T @ warm.train.toarray().sum(axis=0)
    expected = np.tile(0.25 * cold.of_kind("categories").toarray() @ liked, (9, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    experiment = {
        "protocol": "cold-items",
        "data": {"adapter": "synthetic"},
        "content": ["categories"],
        "methods": {"mine": {"method": "own_method:Mine", "share": 0.25}},
        "donors": {"spy": {"donor": "own_donor:Spy"}},
    }
    demo = load({"experiments": {"demo": experiment}})["demo"]
    assert demo.systems["mine"].kind == "system" and demo.systems["mine"].method.points == ({"share": 0.25},)
    assert demo.donors["spy"].name == "own_donor:Spy"
    experiment["methods"]["mine"]["shar"] = 1
    with pytest.raises(FrostlineError, match=r"methods\.mine: unknown key 'shar', did you mean 'share'\?"):
        load({"experiments": {"demo": experiment}})


def test_P1_a_method_that_gives_another_shape_is_told_so(files, world):
    lay_out(files, *world(5))
    with pytest.raises(
        ArtifactError, match=r"stage 'score' gave 'scores_test' a block of shape \(10, 5\).* but its shape is \(9, 7\)"
    ):
        run(files, "own_crooked:Crooked", 1)


def test_a_method_reads_only_what_it_declares(files, world):
    lay_out(files, *world(6))
    params = {"method": "knn", "points": [{"donor": 0, "options": {}}], "seed": 1}
    with pytest.raises(IsolationError, match="stage 'score' asked for input 'donor0', which was not declared"):
        files.run(score.run, ["queries.parquet", "content.npz", "cold_test.npz"], ["scores_test.npy"], **params)
    assert not (files.folder / "scores_test.npy").exists()


def donate(files, donor, restart=0, **options):
    files.run(
        fit_donor.run,
        ["train.parquet", "items.parquet", "queries.parquet"],
        ["donor.npz"],
        donor=donor,
        options=options,
        seed=1,
        restart=restart,
    )
    return files.get("donor.npz")


def test_a_restart_draws_what_is_random_in_a_donor_anew_and_nothing_else(files, world):
    lay_out(files, *world(7))
    first, same, other = (donate(files, "als", restart, factors=2)["right"] for restart in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)
    exact = [donate(files, "ease", restart)["right"] for restart in (0, 1)]
    np.testing.assert_array_equal(*(part.toarray() if hasattr(part, "toarray") else part for part in exact))


def test_C17_a_donor_sees_the_warm_items_and_their_interactions_and_nothing_else(files, world):
    warm, cold = world(7)
    is_cold = lay_out(files, warm, cold)
    assert is_cold[:-1].sum() > 0 and not is_cold[0], "cold items lie between warm ones"
    model = donate(files, "own_donor:Spy")
    np.testing.assert_allclose(model["right"][:, 0], warm.train.toarray().sum(axis=0), rtol=1e-6)
    assert model["left"].shape == (9, 1) and model["right"].shape == (14, 1)


@pytest.mark.parametrize("stage", ["fit_donor", "score"])
def test_C2_C8_an_interaction_of_a_cold_item_is_refused_by_whoever_reads_it(stage, files, world):
    warm, cold = world(8)
    is_cold = lay_out(files, warm, cold)
    train = files.get("train.parquet")
    planted = pa.table({"query": [0], "item": [int(np.flatnonzero(is_cold)[0])], "weight": [1.0]}).cast(train.schema)
    files.put("train.parquet", pa.concat_tables([train, planted]))
    with pytest.raises(ValueError, match="holds interactions of cold items"):
        donate(files, "own_donor:Spy") if stage == "fit_donor" else run(files, "grouped_popularity", 1)


@pytest.mark.parametrize("wrong, says", [("shape", "gave 28 rows where 14 were expected"), ("value", "not finite")])
def test_C8_a_donor_of_another_shape_or_with_scores_that_are_not_finite_is_refused(wrong, says, files, world):
    lay_out(files, *world(9))
    with pytest.raises(FrostlineError, match=says):
        donate(files, "own_donor:Spy", wrong=wrong)


def test_C10_als_gives_the_same_bytes_twice(folder, world):
    found = []
    for files in (folder(), folder()):
        lay_out(files, *world(10, n_queries=30, n_warm=20))
        donate(files, "als", factors=4, iterations=2)
        found.append(files.bytes("donor.npz"))
    assert found[0] == found[1]
