"""The donor ALS: the same factors each time, and better than chance where there is something to learn."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from frostline.donors.als import ALS


def two_tastes(seed=0, n_users=60, n_items=40):
    """Users of two tastes who take items of their own kind; a tenth of the pairs is kept back."""
    rng = np.random.default_rng(seed)
    likes = rng.integers(0, 2, n_users)[:, None] == rng.integers(0, 2, n_items)
    pairs = rng.random((n_users, n_items)) < np.where(likes, 0.5, 0.02)
    kept_back = pairs & (rng.random(pairs.shape) < 0.1)
    return csr_array((pairs & ~kept_back).astype(np.float32)), kept_back, ~pairs


def test_planted_tastes_are_found():
    train, kept_back, never = two_tastes()
    model = ALS(factors=8).fit(train, seed=1)
    scores = model.block(0, train.shape[0])
    wins = [(scores[u, never[u]] < scores[u, i]).mean() for u, i in zip(*np.nonzero(kept_back), strict=True)]
    assert len(wins) > 40 and np.mean(wins) > 0.7
    assert scores[train.toarray() > 0].mean() > scores[never].mean() + 0.5


def test_C10_the_same_seed_gives_the_same_bits_and_another_seed_others():
    train = two_tastes()[0]
    one, same, other = (ALS(factors=8, iterations=3).fit(train, seed) for seed in (1, 1, 2))
    for side in ("left", "right"):
        assert getattr(one, side).tobytes() == getattr(same, side).tobytes() != getattr(other, side).tobytes()
        assert getattr(one, side).dtype == np.float32
    assert one.left.shape == (60, 8) and one.right.shape == (40, 8)


def test_C10_the_global_random_state_is_neither_used_nor_moved():
    train = two_tastes()[0]
    found = []
    for state in (1, 2):
        np.random.seed(state)  # noqa: NPY002
        found.append(ALS(factors=4, iterations=2).fit(train, 1).right.tobytes())
        drawn = np.random.rand()  # noqa: NPY002
        np.random.seed(state)  # noqa: NPY002
        assert drawn == np.random.rand()  # noqa: NPY002
    assert found[0] == found[1]


def test_weights_and_alpha_are_confidence():
    train = two_tastes()[0]
    doubled = ALS(factors=4, iterations=3).fit(train * np.float32(2), 1)
    np.testing.assert_allclose(ALS(factors=4, iterations=3, alpha=2.0).fit(train, 1).right, doubled.right, atol=1e-5)
    assert abs(ALS(factors=4, iterations=3).fit(train, 1).right - doubled.right).max() > 1e-3


def test_users_and_items_without_interactions_are_finite_and_the_input_is_left_alone():
    train = csr_array((np.ones(2, np.float32), ([0, 2], [1, 3])), shape=(4, 5))
    before = train.copy()
    model = ALS(factors=3, iterations=2).fit(train, 1)
    assert np.isfinite(model.left).all() and np.isfinite(model.right).all()
    assert (train != before).nnz == 0


@pytest.mark.parametrize("wrong", [{"factors": 0}, {"iterations": 0}, {"regularization": -1.0}, {"alpha": 0.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ALS(**wrong)
