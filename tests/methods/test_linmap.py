"""Ridge on item factors is ridge on every user's scores, as scikit-learn computes it on the full matrix (DESIGN §4)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from frostline.api import Bilinear, Content, Warm
from frostline.methods.linmap import LinMap


def both(seed, n_queries, n_warm, n_features, d, alpha, sparse_users=False):
    """Scores of cold items by `linmap`, and by one ridge per user."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n_warm + 6, n_features)) * (rng.random((n_warm + 6, n_features)) < 0.5)).astype(np.float32)
    starts = np.array([0, n_features])
    sides = [Content(csr_array(part), ("f",), ("text",), starts) for part in (matrix[:n_warm], matrix[n_warm:])]
    left, right = (rng.standard_normal((n, d)).astype(np.float32) for n in (n_queries, n_warm))
    warm = Warm(n_queries, seed, None, sides[0], Bilinear(csr_array(left) if sparse_users else left, right))
    method = LinMap(alpha)
    found = method.score(method.fit(warm), warm, sides[1]).block(0, n_queries)
    ridge = Ridge(alpha=alpha).fit(matrix[:n_warm].astype(np.float64), right.astype(np.float64) @ left.T)
    return found, ridge.predict(matrix[n_warm:].astype(np.float64)).T.reshape(found.shape)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(2, 30),
    st.integers(1, 40),
    st.integers(1, 8),
    st.floats(0.01, 1e4),
)
def test_it_is_sklearns_ridge_on_the_whole_score_matrix(seed, n_queries, n_warm, n_features, d, alpha):
    found, expected = both(seed, n_queries, n_warm, n_features, d, alpha)
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, abs(expected).max()))


def test_a_donor_with_sparse_users_is_the_same():
    np.testing.assert_allclose(*both(3, 10, 25, 8, 4, 10.0, sparse_users=True), atol=1e-5)


def test_alpha_matters():
    assert abs(both(1, 5, 20, 6, 3, 1.0)[0] - both(1, 5, 20, 6, 3, 100.0)[0]).max() > 0.1


@pytest.mark.parametrize("alpha", [0.0, -1.0])
def test_alpha_must_be_above_zero(alpha):
    with pytest.raises(ValueError, match="alpha must be above 0"):
        LinMap(alpha)
