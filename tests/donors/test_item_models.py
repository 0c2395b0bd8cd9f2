"""Item–item donors against their definitions."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from frostline.donors.bpr import BPR
from frostline.donors.ease import EASE
from frostline.donors.itemknn import ItemKNN
from frostline.errors import FrostlineError


@pytest.fixture(params=range(3))
def history(request) -> csr_array:
    rng = np.random.default_rng(request.param)
    return csr_array((rng.random((40, 9)) < 0.4) * rng.integers(1, 6, (40, 9)).astype(np.float32))


def test_ease_regresses_each_item_on_all_others(history):
    """Steck (2019), section 3: column j minimises |y_j − Y b|² + λ|b|² under b_j = 0."""
    seen = (history.toarray() != 0).astype(float)
    model = EASE(regularization=3.0).fit(history, 0)
    for item in range(seen.shape[1]):
        others = [other for other in range(seen.shape[1]) if other != item]
        ridge = Ridge(3.0, fit_intercept=False).fit(seen[:, others], seen[:, item])
        np.testing.assert_allclose(model.right[item, others], ridge.coef_, atol=1e-5)
        assert model.right[item, item] == 0
    np.testing.assert_allclose(model.block(0, 40), seen @ model.right.T, atol=1e-5)


def test_itemknn_adds_the_cosines_of_an_items_neighbours_in_the_history(history):
    seen = (history.toarray() != 0).astype(float)
    scores = ItemKNN(k=3, shrinkage=2.0).fit(history, 0).block(0, 40)
    for item in range(9):
        cosine = np.array([
            0 if other == item else seen[:, item] @ seen[:, other]
            / (np.sqrt(seen[:, item].sum() * seen[:, other].sum()) + 2.0)
            for other in range(9)
        ])  # fmt: skip
        cut = np.sort(cosine)[-3]
        places = 3 - (cosine > cut).sum()
        weight = cosine * ((cosine > cut) + (cosine == cut) * places / (cosine == cut).sum())
        np.testing.assert_allclose(scores[:, item], seen @ weight, atol=1e-5)


def test_bpr_is_reproducible_and_ranks_what_was_taken_first():
    groups = np.kron(np.eye(3), np.ones((20, 8)))
    train = csr_array((groups * (np.random.default_rng(0).random(groups.shape) < 0.7)).astype(np.float32))
    one, again, other = (BPR(factors=8, iterations=200).fit(train, seed) for seed in (1, 1, 2))
    assert one.left.tobytes() == again.left.tobytes() and one.right.tobytes() == again.right.tobytes()
    assert one.left.tobytes() != other.left.tobytes()
    scores = one.block(0, 60)
    assert scores[groups > 0].mean() > scores[groups == 0].mean() + 1


@pytest.mark.parametrize("donor", [EASE(max_items=8), ItemKNN(max_items=8)])
def test_too_many_items_for_a_dense_matrix_are_refused(donor):
    with pytest.raises(FrostlineError, match="9 warm items, more than max_items: 8"):
        donor.fit(csr_array(np.eye(9, dtype=np.float32)), 0)
