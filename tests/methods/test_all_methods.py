"""What every built-in method must be: finite, blind to names and order, and alike for items that are alike."""

import numpy as np
import pytest

from frostline import registry
from frostline.api import Bilinear, Content, Method, Warm
from frostline.scoring import score_distinct

NAMES = [name for name in registry.BUILT_IN["methods"] if issubclass(registry.load("methods", name), Method)]
BY_CONTENT = [name for name in NAMES if name != "random"]
# A network sees its items in batches drawn by position, as every seeded training does: with ids renamed in their order
# it stays the same (test_score), in another order it is another draw.
WITHOUT_BATCHES = [name for name in BY_CONTENT if name not in ("mlp_map", "dropout_net")]


def scores(name, warm, cold):
    """As the stages compute them, and with nothing but what the method says it needs.

    There are few warm items here, so neighbours are fewer than by default: or all items would be everyone's neighbours.
    """
    cls = registry.load("methods", name)
    method = cls(k=5) if "k" in cls.__dataclass_fields__ else cls()
    given = Warm(warm.n_queries, warm.seed, **{need: getattr(warm, need) for need in method.needs})
    model = method.fit(given)
    found = score_distinct(method, model, given, cold) if method.by_content else method.score(model, given, cold)
    return found.block(0, warm.n_queries)


def items(content, order):
    return content.take(np.asarray(order))


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_finite_float32_of_the_right_shape(name, world):
    for seed in range(3):
        warm, cold = world(seed)
        found = scores(name, warm, cold)
        assert found.shape == (9, 7) and found.dtype == np.float32 and np.isfinite(found).all()


@pytest.mark.parametrize("name", NAMES)
def test_items_without_any_content_and_users_without_weight_have_finite_scores(name, world):
    warm, cold = world(1)
    nothing = Content(cold.matrix * np.float32(0), cold.fields, cold.kinds, cold.starts)
    nothing.matrix.eliminate_zeros()
    blank = Warm(9, 1, warm.train * np.float32(0), warm.content, Bilinear(warm.donor.left * 0, warm.donor.right))
    for world_ in ((warm, nothing), (blank, cold)):
        assert np.isfinite(scores(name, *world_)).all()


@pytest.mark.parametrize("name", NAMES)
def test_C10_the_same_input_gives_the_same_bits(name, world):
    assert scores(name, *world(2)).tobytes() == scores(name, *world(2)).tobytes()


@pytest.mark.parametrize("name", WITHOUT_BATCHES)
@pytest.mark.parametrize("seed", range(3))
def test_C10_scores_follow_their_items_and_users(name, seed, world):
    """The order of users, warm and cold items does not matter, but for the last bits of a product."""
    warm, cold = world(seed)
    rng = np.random.default_rng(seed)
    users, known, new = (rng.permutation(n) for n in (9, 14, 7))
    moved = Warm(
        9,
        seed,
        warm.train[users][:, known],
        items(warm.content, known),
        Bilinear(warm.donor.left[users], warm.donor.right[known]),
    )
    expected = scores(name, warm, cold)[users][:, new]
    np.testing.assert_allclose(scores(name, moved, items(cold, new)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BY_CONTENT)
@pytest.mark.parametrize("n", [2, 5, 33, 200])
def test_C10_items_of_equal_content_are_tied_to_the_last_bit(name, n, world):
    """Rulings 17: in a matrix product two equal columns may differ in the last bit, and that would break a tie."""
    warm, cold = world(4, n_queries=40, d=16)
    copies = np.random.default_rng(n).integers(0, 4, n)
    found = scores(name, warm, items(cold, copies))
    for one in range(4):
        alike = found[:, copies == one]
        assert (alike == alike[:, :1]).all()


@pytest.mark.parametrize("name", [name for name in BY_CONTENT if name != "constant"])
def test_scores_tell_items_and_users_apart(name, world):
    found = scores(name, *world(5, n_queries=40))
    assert len(np.unique(found[0])) > 2
    assert name in ("grouped_popularity", "predicted_popularity") or len(np.unique(found[:, 0])) > 2


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_given_that_is_not_needed(name, world):
    """And what is needed is: taking any part away fails."""
    warm, cold = world(6)
    method = registry.load("methods", name)()
    for missing in method.needs:
        given = {need: getattr(warm, need) for need in method.needs if need != missing}
        with pytest.raises(AttributeError):
            less = Warm(9, 6, **given)
            method.score(method.fit(less), less, cold).block(0, 9)
