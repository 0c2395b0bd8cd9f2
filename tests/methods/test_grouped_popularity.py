"""Row C15: both Grouped Most Popular baselines, against loops over single interactions."""

import numpy as np
import pytest

from frostline.api import Content, Warm
from frostline.methods.grouped_popularity import GroupedPopularity
from frostline.methods.grouped_popularity_personal import GroupedPopularityPersonal

METHODS = [GroupedPopularity, GroupedPopularityPersonal]


def by_loops(warm, cold, personal):
    """For each shared category of a cold and a warm item, count the interactions with the warm one (of the user alone)."""
    train, of_warm, of_cold = warm.train.toarray(), warm.content.matrix.toarray(), cold.matrix.toarray()
    scores = np.zeros((warm.n_queries, len(of_cold)))
    for user in range(warm.n_queries):
        for item in range(len(of_cold)):
            for other in range(warm.n_queries) if not personal else [user]:
                for known in range(len(of_warm)):
                    if train[other, known]:
                        scores[user, item] += sum(of_cold[item, c] and of_warm[known, c] for c in range(4))
    return scores


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_C15_scores_are_counts_of_shared_categories(method, seed, world):
    """Of interactions and not of their weights; numbers and texts play no part."""
    warm, cold = world(seed)
    scores = method().score({}, warm, cold).block(0, warm.n_queries)
    assert scores.dtype == np.float32
    np.testing.assert_array_equal(scores, by_loops(warm, cold, method is GroupedPopularityPersonal))
    assert len(np.unique(scores)) > 3


@pytest.mark.parametrize("method", METHODS)
def test_C15_categories_of_several_fields_add_up(method, world):
    warm, cold = world(1)
    fields, kinds, starts = ("a", "b", "year", "title"), ("categories", "categories", "number", "text"), [0, 1, 4, 6, 9]
    renamed = [Content(side.matrix, fields, kinds, np.array(starts)) for side in (warm.content, cold)]
    split = Warm(warm.n_queries, 1, warm.train, renamed[0])
    one, two = (method().score({}, *of).block(0, 9) for of in ((warm, cold), (split, renamed[1])))
    assert (one == two).all()
