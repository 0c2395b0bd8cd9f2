"""Row C16: the controls. One score for everything, and independent uniform scores."""

import numpy as np
from scipy.sparse import csr_array

from frostline.api import BLOCK, Content, Warm
from frostline.methods.constant import Constant
from frostline.methods.random import Random


def of_shape(n_queries, n_cold, seed=1):
    return Warm(n_queries, seed), Content(csr_array((n_cold, 0), dtype=np.float32), (), (), np.array([0]))


def test_C16_constant_tells_nothing_apart():
    scores = Constant().score({}, *of_shape(5, 3)).block(1, 4)
    assert scores.shape == (3, 3) and len(np.unique(scores)) == 1 and scores.dtype == np.float32


def test_C16_random_scores_are_uniform_and_independent():
    scores = Random().score({}, *of_shape(BLOCK + 500, 60))
    one, two = scores.block(0, BLOCK), scores.block(BLOCK, BLOCK + 500)
    assert one.dtype == np.float32 and one.min() >= 0 and one.max() < 1
    assert abs(one.mean() - 0.5) < 0.005 and abs(one.var() - 1 / 12) < 0.002
    assert len(np.unique(one)) > 0.98 * one.size
    assert abs(np.corrcoef(one[:500].ravel(), two.ravel())[0, 1]) < 0.05
    assert abs(np.corrcoef(one[:, 0], one[:, 1])[0, 1]) < 0.1


def test_C10_random_scores_depend_on_the_seed_and_their_place_alone():
    first, second = (Random().score({}, *of_shape(BLOCK + 9, 5)) for _ in range(2))
    tail = second.block(BLOCK, BLOCK + 9)
    assert (first.block(0, BLOCK) == second.block(0, BLOCK)).all()
    assert (first.block(BLOCK, BLOCK + 9) == tail).all(), "a block does not depend on which others are computed"
    other = Random().score({}, *of_shape(BLOCK + 9, 5, seed=2)).block(BLOCK, BLOCK + 9)
    assert (other != tail).any()
