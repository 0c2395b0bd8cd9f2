"""Boosted trees: the non-bilinear donor."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from frostline.api import Bilinear, Content, of_scores
from frostline.donors.gbdt import GBDT, _Pairs
from frostline.registry import load


@pytest.fixture(scope="module")
def planted():
    """Users want items of one of two categories, the even users the first; nobody wants the last five items."""
    rng = np.random.default_rng(0)
    category = np.arange(40) % 2
    wanted = (np.arange(60) % 2)[:, None] == category
    wanted[:, -5:] = False
    train = csr_array((wanted & (rng.random(wanted.shape) < 0.5)).astype(np.float32))
    matrix = np.hstack([np.eye(2)[category], rng.random((40, 2)), np.eye(40)]).astype(np.float32)
    content = Content(csr_array(matrix), ("c", "n", "t"), ("categories", "number", "text"), np.array([0, 2, 4, 44]))
    return train, content, wanted


def test_it_learns_a_cross_of_user_and_item(planted):
    train, content, wanted = planted
    model = GBDT(trees=30, leaves=7).fit(train, 1, content=content)
    scores = model.left @ model.right.T
    unseen = train.toarray() == 0
    assert roc_auc_score(wanted[unseen], scores[unseen]) > 0.9
    again = GBDT(trees=30, leaves=7).fit(train, 1, content=content)
    np.testing.assert_array_equal(model.left, again.left)


def test_features_by_hand_the_item_of_a_training_pair_taken_out(planted):
    train, content, _ = planted
    pairs = _Pairs(train, content)
    user, item = 3, int(train[[3]].indices[0])
    history = np.setdiff1d(train[[3]].indices, [item])
    dense = content.matrix.toarray()
    profile, own = dense[history, :4].mean(axis=0), dense[item, :4]
    unit = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    expected = [*profile, *own, *(profile * own), (unit[history] @ unit[item]).mean(), np.log(len(history))]
    found = pairs.features(np.array([user]), np.array([item]), leave_out=True)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_linmap_on_factors_and_on_scores_is_the_same_for_a_bilinear_donor(seed, world):
    """DESIGN 4: with S = U Vᵀ, regressing V and regressing S differ by rounding alone; for trees there is no V."""
    warm, cold = world(seed, n_queries=20, n_warm=30, n_cold=10, d=4)
    as_scores = type(warm)(**vars(warm) | {"donor": of_scores(warm.donor.left @ warm.donor.right.T)})
    found = []
    for given in (warm, as_scores):
        method = load("methods", "linmap")(alpha=0.5)
        found.append(method.score(method.fit(given), given, cold).block(0, 20))
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_where_trees_differ_from_any_model_of_low_rank(planted):
    """Their scores are no product of a few factors: the best one of rank 2, which fits the planted taste, loses some."""
    train, content, _ = planted
    scores = GBDT(trees=30, leaves=7).fit(train, 1, content=content).left.astype(np.float64)
    u, s, v = np.linalg.svd(scores)
    low_rank = Bilinear((u[:, :2] * s[:2]).astype(np.float32), v[:2].T.astype(np.float32))
    assert np.abs(low_rank.block(0, 60) - scores).max() > 0.1 * scores.std()
