"""Fields that could only be known later, and items that are listed twice: found where planted, and nothing else is."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from frostline.api import Content
from frostline.audit.duplicates import duplicates, twins
from frostline.audit.later_known import later_known, measure, name_says_so
from frostline.encoding import encode_number

N_WARM, N_COLD = 300, 80


@pytest.mark.parametrize(
    "field",
    [
        "rating",
        "avg_rating",
        "avgRating",
        "bayesian_rating",
        "review_count",
        "num_votes",
        "popularity",
        "clicks",
        "score",
    ],
)
def test_a_name_that_tells_of_an_audience(field):
    assert name_says_so(field)


@pytest.mark.parametrize(
    "field",
    ["genres", "title", "year", "age_rating", "content_rating", "viewpoint", "page_count", "country", "overview"],
)
def test_a_name_that_does_not(field):
    assert not name_says_so(field)


def found(field, seeds=(1, 2), weights=True):
    """What is said of a number field, given counts and mean weights of the items that partly depend on their year."""
    measured = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        year = rng.normal(size=N_WARM + N_COLD)
        count = 5 + rng.poisson(np.exp(2 + 0.5 * year))
        weight = rng.normal(3.5, 0.5, N_WARM + N_COLD)
        number = field(rng, year, count, weight)
        is_warm = np.arange(N_WARM + N_COLD) < N_WARM
        matrix, _ = encode_number(pa.array(number), is_warm)
        content = Content(csr_array(matrix), ("x",), ("number",), np.array([0, matrix.shape[1]]))
        warm, cold = content.take(np.flatnonzero(is_warm)), content.take(np.flatnonzero(~is_warm))
        counts = count[is_warm], count[~is_warm]
        measured.append(measure(warm, cold, {"x": number[~is_warm]}, counts, weight[~is_warm], seed))
    checks, table = later_known(measured, N_COLD)
    return checks[0], table["x"]


def test_a_field_that_explains_a_part_of_popularity_is_no_suspect():
    check, table = found(lambda rng, year, count, weight: year)
    assert check["result"] == "passed" and 0.3 < table["warm"] < 0.8 and 0.3 < table["test"] < 0.8


def made_of_test_labels(rng, year, count, weight):
    """The counts of the cold items with their upper and lower half swapped, so that it is no order; of the warm, nothing."""
    known = np.where(count > 12, count - 12, count + 30)
    return np.where(np.arange(len(count)) < N_WARM, rng.permutation(known), known).astype(float)


@pytest.mark.parametrize(
    "field, says",
    [
        (lambda rng, year, count, weight: count.astype(float), "by their number of interactions"),
        (lambda rng, year, count, weight: -np.sqrt(count), "by their number of interactions"),
        (lambda rng, year, count, weight: weight + rng.normal(0, 0.1, len(weight)), "by their mean weight"),
        (made_of_test_labels, "that of warm items with"),
    ],
    ids=["a count", "a rank", "a mean rating", "made of the test labels alone"],
)
def test_a_field_that_could_only_be_known_later_is_flagged_with_its_evidence(field, says):
    check, _ = found(field)
    assert check["result"] == "warning" and "'x' may be known only later" in check["detail"] and says in check["detail"]


def test_with_few_items_nothing_is_said():
    measured = [{"x": dict.fromkeys(("warm", "test", "counts", "weights"))}]
    assert later_known(measured, 10)[0][0]["result"] == "passed"


def test_a_cold_item_is_a_twin_only_of_a_warm_one():
    identity = np.array([0, 0, 1, 1, 2, -1, -1])
    fold = np.array(["warm", "test", "val", "test", "val", "warm", "test"])
    assert twins(identity, fold).tolist() == [1]


@pytest.mark.parametrize("n_twins, result", [(0, "passed"), (1, "warning"), (2, "warning"), (3, "failed")])
def test_twins_are_a_warning_and_above_one_per_cent_of_the_cold_items_a_failure(n_twins, result):
    check = duplicates({1: ["i"] * n_twins, 2: []}, 200, True)
    assert check["result"] == result
    if n_twins:
        assert check["detail"].startswith(f"seed 1: {n_twins} cold items, such as 'i'")
