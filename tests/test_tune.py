"""Choosing a point of a grid by val-cold labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frostline.errors import FrostlineError
from frostline.ranking import Metric, evaluate, rank_relevant
from frostline.tuning import best_point, fold_figure, nested_choice


def test_nested_choice_by_hand():
    """Point 1 wins on all folds together; without fold 0 point 0 does, so fold 0 is scored by point 0."""
    figures = np.array([[0.1, 0.5, 0.5], [0.9, 0.4, 0.4]])
    assert best_point(figures) == 1
    assert nested_choice(figures).tolist() == [0, 1, 1]


@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_C5_a_folds_own_figures_do_not_choose_for_it(n_points, n_folds, seed):
    rng = np.random.default_rng(seed)
    figures = rng.random((n_points, n_folds))
    chosen = nested_choice(figures)
    for fold in range(n_folds):
        other = figures.copy()
        other[:, fold] = rng.random(n_points)
        assert nested_choice(other)[fold] == chosen[fold]


def test_equal_points_the_first_is_taken():
    assert best_point(np.ones((3, 2))) == 0


def test_fold_figure_is_among_the_folds_candidates():
    scores = np.array([[0.9, 0.1, 0.8, 0.2]], dtype=np.float32)
    query, column = np.array([0, 0]), np.array([2, 1])
    in_part = np.array([False, True, True, True])
    assert fold_figure(scores, query, column, in_part, Metric("recall", 1), "expected") == 0.5
    assert fold_figure(scores, query, column, ~in_part | in_part, Metric("recall", 1), "expected") == 0.0


@given(st.integers(0, 2**32 - 1))
def test_fold_figure_is_the_metric_of_the_folds_columns_alone(seed):
    """Whatever part of the columns a fold is, first, last or scattered: the same as of a matrix that holds only them."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (6, 9)).astype(np.float32)
    relevant = rng.random((6, 9)) < 0.4
    in_part = rng.permutation(9) < rng.integers(2, 9)
    relevant[0, in_part.argmax()] = True
    query, column = relevant.nonzero()
    only = relevant[:, in_part]
    found = fold_figure(scores, query, column, in_part, Metric("ndcg", 3), "expected")
    values = evaluate(rank_relevant(scores[:, in_part], *only.nonzero()), [Metric("ndcg", 3)])
    assert found == pytest.approx(values[only.any(axis=1)].mean(), abs=1e-12)


def test_a_fold_without_relevant_items_is_a_clear_error():
    with pytest.raises(FrostlineError, match=r"no recall@1, so nothing can be tuned.*split\.val"):
        fold_figure(
            np.ones((1, 2), np.float32),
            np.array([0]),
            np.array([0]),
            np.array([False, True]),
            Metric("recall", 1),
            "expected",
        )
