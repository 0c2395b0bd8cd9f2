"""Nearest neighbours by content, against every choice among tied neighbours written out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity

from frostline.api import Bilinear, Content, Warm
from frostline.methods.knn import KNN
from frostline.neighbours import cosine, nearest


def every_choice(similarity, k, values):
    """Mean over all sets of k items that nobody outside is nearer than, of the mean of their values weighted by nearness."""
    k = min(k, len(similarity))
    outcomes = []
    for chosen in combinations(range(len(similarity)), k):
        others = [i for i in range(len(similarity)) if i not in chosen]
        if not others or min(similarity[list(chosen)]) >= max(similarity[others]):
            weight = np.maximum(similarity[list(chosen)], 0)
            outcomes.append((weight @ values[list(chosen)] / weight.sum()) if weight.sum() else 0 * values[0])
    return np.mean(outcomes, axis=0)


levels = st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0])


@given(st.lists(levels, min_size=1, max_size=7), st.integers(1, 9))
def test_C10_tied_neighbours_share_the_places_that_are_left(similarity, k):
    similarity = np.array(similarity)
    values = np.random.default_rng(0).standard_normal((len(similarity), 2))
    mixing = nearest(similarity[None], k)
    np.testing.assert_allclose(mixing[0] @ values, every_choice(similarity, k, values), atol=1e-6)
    assert mixing.dtype == np.float32 and (mixing >= 0).all()
    assert mixing.sum() == pytest.approx(1 if (similarity > 0).any() else 0)


@pytest.mark.parametrize("k", [1, 3, 5, 100])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_means_of_the_donors_scores_over_the_nearest(seed, k, world):
    warm, cold = world(seed, n_warm=8)
    similarity = cosine_similarity(cold.matrix.toarray().astype(np.float64), warm.content.matrix.toarray()).round(12)
    known = warm.donor.left.astype(np.float64) @ warm.donor.right.T
    expected = np.transpose([every_choice(row, k, known.T) for row in similarity])
    scores = KNN(k).score({}, warm, cold).block(0, warm.n_queries)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_C10_neighbours_in_the_same_direction_are_tied_whatever_their_length():
    rng = np.random.default_rng(1)
    direction = rng.random(6)
    rows = np.outer([1, 3, 1 / 3, 7e-3, 1e3], direction)
    found = cosine(csr_array(rng.random((4, 6))), csr_array(rows))
    assert (found == found[:, :1]).all()


def test_an_item_without_content_or_without_neighbours_scores_zero():
    content = csr_array(np.array([[1, 0], [1, 0], [0, 0]], np.float32))
    cold = csr_array(np.array([[0, 0], [0, 1], [1, 0]], np.float32))
    donor = Bilinear(np.ones((2, 1), np.float32), np.array([[1], [3], [9]], np.float32))
    one = np.array([0, 2])
    warm = Warm(2, 0, None, Content(content, ("a",), ("categories",), one), donor)
    scores = KNN(3).score({}, warm, Content(cold, ("a",), ("categories",), one)).block(0, 2)
    assert scores.tolist() == [[0, 0, 2], [0, 0, 2]]


def test_k_below_one_is_refused():
    with pytest.raises(ValueError, match="k must be at least 1"):
        KNN(0)
