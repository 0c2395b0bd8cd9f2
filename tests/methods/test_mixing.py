"""Methods without labels against their definitions on the dense score matrix, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity

from frostline import registry
from frostline.methods.kernel_map import product_kernel
from frostline.mlp import predict


@pytest.fixture(params=range(3))
def case(request, world):
    """Warm and cold of a small world, and what the definitions need, dense."""
    warm, cold = world(request.param, n_queries=30)
    dense = {
        "scores": (warm.donor.left @ warm.donor.right.T).astype(np.float64),
        "warm": warm.content.matrix.toarray().astype(np.float64),
        "cold": cold.matrix.toarray().astype(np.float64),
        "seen": (warm.train.toarray() != 0).astype(np.float64),
    }
    return warm, cold, dense


def scored(name, warm, cold, **params):
    method = registry.load("methods", name)(**params)
    return method.score(method.fit(warm), warm, cold).block(0, warm.n_queries)


def neighbours(dense, k):
    """Similarities, and the share of each warm item among the k nearest; every share of a tie counted out."""
    similarity = cosine_similarity(dense["cold"], dense["warm"]).round(12)
    share = np.zeros_like(similarity)
    for row, values in enumerate(similarity):
        cut = sorted(values)[-k]
        places = k - (values > cut).sum()
        share[row] = (values > cut) + (values == cut) * places / (values == cut).sum()
    return similarity, share


def normalised(weight):
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def test_attention_knn_is_a_softmax_over_the_neighbours(case):
    warm, cold, dense = case
    similarity, share = neighbours(dense, 4)
    expected = dense["scores"] @ normalised(np.exp(similarity / 0.3) * share).T
    found = scored("attention_knn", warm, cold, k=4, temperature=0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_attention_embedding_is_a_softmax_over_all(case):
    warm, cold, dense = case
    similarity = cosine_similarity(dense["cold"], dense["warm"])
    expected = dense["scores"] @ normalised(np.exp(similarity / 0.3)).T
    np.testing.assert_allclose(
        scored("attention_embedding", warm, cold, temperature=0.3), expected, rtol=1e-4, atol=1e-5
    )


def test_neighbour_max_is_the_highest_of_all_that_may_be_neighbours(case):
    warm, cold, dense = case
    _, share = neighbours(dense, 4)
    expected = np.array([[row[mask].max() for mask in share > 0] for row in dense["scores"]])
    np.testing.assert_allclose(scored("neighbour_max", warm, cold, k=4), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["mlp_map", "dropout_net"])
def test_networks_learn_a_map_that_content_determines_and_score_as_sklearn_predicts(name, world):
    """Vectors are a non-linear function of content; a cold item with a warm one's content gets about its scores."""
    warm, _ = world(3, n_queries=12, n_warm=60, n_cold=2, d=3)
    dense = warm.content.matrix.toarray()
    vectors = np.tanh(dense @ np.random.default_rng(0).normal(size=(dense.shape[1], 3))).astype(np.float32)
    known = type(warm)(**vars(warm) | {"donor": type(warm.donor)(warm.donor.left, vectors)})
    found = scored(name, known, known.content, epochs=400, hidden=32, penalty=1e-4, learning_rate=0.01)
    truth = warm.donor.left @ vectors.T
    assert np.corrcoef(found.ravel(), truth.ravel())[0, 1] > 0.97


@pytest.mark.parametrize("name", ["mlp_map", "dropout_net"])
def test_members_of_a_network_are_averaged_and_the_first_is_the_network_alone(name, world):
    """Two members against one: twice the mean less the first is a network too, of as many units, and another one."""
    warm, cold = world(5, n_queries=6, n_warm=40, n_cold=4, d=3)
    alone, both = (registry.load("methods", name)(members=members, epochs=20, hidden=8).fit(warm) for members in (1, 2))
    np.testing.assert_array_equal(both["first"][:, :8], alone["first"])
    np.testing.assert_allclose(both["second"][:8], alone["second"] / 2)
    second = {"first": both["first"][:, 8:], "bias": both["bias"][8:], "second": 2 * both["second"][8:]}
    second["output_bias"] = 2 * both["output_bias"] - alone["output_bias"]
    features = cold.matrix.toarray()
    mean = (predict(alone, features) + predict(second, features)) / 2
    np.testing.assert_allclose(predict(both, features), mean, rtol=1e-4, atol=1e-5)
    assert not np.allclose(second["first"], alone["first"])


def test_embedding_average_is_the_plain_mean_of_the_neighbours(case):
    warm, cold, dense = case
    _, share = neighbours(dense, 4)
    found = scored("embedding_average", warm, cold, k=4)
    np.testing.assert_allclose(found, dense["scores"] @ share.T / 4, rtol=1e-4, atol=1e-5)


def test_debiased_knn_takes_the_items_means_away(case):
    warm, cold, dense = case
    similarity, share = neighbours(dense, 4)
    residual = dense["scores"] - dense["scores"].mean(axis=0)
    expected = residual @ normalised(np.maximum(similarity, 0) * share).T
    np.testing.assert_allclose(scored("debiased_knn", warm, cold, k=4), expected, rtol=1e-4, atol=1e-5)


def test_scale_shift_has_mean_zero_and_spread_one_for_every_item(case):
    warm, cold, dense = case
    similarity, share = neighbours(dense, 4)
    raw = dense["scores"] @ normalised(np.maximum(similarity, 0) * share).T
    spread = raw.std(axis=0)
    expected = np.divide(raw - raw.mean(axis=0), spread, out=np.zeros_like(raw), where=spread > 1e-9)
    np.testing.assert_allclose(scored("scale_shift", warm, cold, k=4), expected, rtol=1e-3, atol=1e-3)


def test_content_profile_is_the_cosine_of_profile_and_item(case):
    warm, cold, dense = case
    expected = cosine_similarity(dense["seen"] @ dense["warm"], dense["cold"])
    np.testing.assert_allclose(scored("content_profile", warm, cold), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_regressions_equal_scikit_learn(case, alpha):
    """Whichever is more, features or items: the regression solves the smaller system."""
    warm, cold, dense = case
    popularity = np.log1p(dense["seen"].sum(axis=0))
    ridge = Ridge(alpha).fit(dense["warm"], popularity)
    found = scored("predicted_popularity", warm, cold, alpha=alpha)
    np.testing.assert_allclose(found, np.tile(ridge.predict(dense["cold"]), (30, 1)), rtol=1e-4, atol=1e-5)
    expected = Ridge(alpha).fit(dense["warm"], dense["seen"].T).predict(dense["cold"]).T
    np.testing.assert_allclose(scored("content_ridge", warm, cold, alpha=alpha), expected, rtol=1e-3, atol=1e-4)


def test_magnitude_scaling_pulls_norms_halfway_to_the_mean(case):
    warm, cold, dense = case
    vectors = Ridge(3.0).fit(dense["warm"], warm.donor.right).predict(dense["cold"])
    norms = np.linalg.norm(vectors, axis=1)
    target = (norms + np.linalg.norm(warm.donor.right, axis=1).mean()) / 2
    expected = warm.donor.left @ (vectors * (target / norms)[:, None]).T
    np.testing.assert_allclose(scored("magnitude_scaling", warm, cold, alpha=3.0), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("p", [0, 0.25, 1])
def test_kernel_map_is_kernel_ridge_around_the_mean_popularity_apart(case, p):
    warm, cold, dense = case
    size = np.log(warm.train.toarray().astype(np.float64).sum(axis=0) + 5)
    kernels = product_kernel(warm.content, warm.content), product_kernel(cold, warm.content)

    def predicted(targets):
        model = KernelRidge(alpha=0.7, kernel="precomputed").fit(kernels[0], targets - targets.mean(axis=0))
        return model.predict(kernels[1]) + targets.mean(axis=0)

    expected = predicted((dense["scores"] / np.exp(p * size)).T).T * np.exp(p * predicted(size[:, None])[:, 0])
    found = scored("kernel_map", warm, cold, alpha=0.7, popularity=p)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)


def test_content_kernel_is_kernel_ridge_on_what_users_took(case):
    warm, cold, dense = case
    model = KernelRidge(alpha=0.7, kernel="precomputed")
    model.fit(product_kernel(warm.content, warm.content), (dense["seen"] - dense["seen"].mean(axis=1)[:, None]).T)
    expected = model.predict(product_kernel(cold, warm.content)).T + dense["seen"].mean(axis=1)[:, None]
    found = scored("content_kernel", warm, cold, alpha=0.7, popularity=0)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_product_kernel_is_written_out(case):
    _, cold, _ = case
    expected, texts = 1.0, 0.0
    for f, kind in enumerate(cold.kinds):
        columns = cold.matrix[:, cold.starts[f] : cold.starts[f + 1]].toarray()
        similarity = cosine_similarity(columns)
        if kind == "categories":
            sets = [set(np.flatnonzero(row)) for row in columns]
            similarity = np.array([[len(a & b) / max(1, len(a | b)) for b in sets] for a in sets])
        if kind == "text":
            texts = texts + similarity
        else:
            expected = expected * (1 + similarity)
    np.testing.assert_allclose(product_kernel(cold, cold), expected - 1 + texts, atol=1e-6)
