"""Tables over seeds."""

import pytest

from frostline.aggregate import _relaimpr, wide
from frostline.results import rounded


def test_C11_relaimpr_is_undefined_and_no_crash_without_an_auc():
    """Where every candidate of every query is relevant there is no AUC; small data has such folds."""
    assert _relaimpr(None, 0.7) is None and _relaimpr(0.7, None) is None
    assert _relaimpr(0.7, 0.5) is None
    assert _relaimpr(0.7, 0.6) == pytest.approx(1.0)


def test_rounding_forgets_the_order_of_a_sum():
    assert rounded(0.1 + 0.2) == rounded(0.3) and rounded(None) is None and rounded(3) == 3


LEFT_OUT = {"x+embedding": "needs latent factors, and 'x' has scores alone"}


def test_C13_the_readable_table_has_spread_interval_and_tie_range():
    row = {
        "system": "a",
        "fold": "test",
        "metric": "ndcg@2",
        "mean": 0.25,
        "sd": 0.01,
        "ci_low": 0.2,
        "ci_high": 0.3,
        "scrambled": 0.125,
    }
    rows = [row | {"best": 0.4, "worst": 0.1}, row | {"metric": "auc", "best": None, "worst": None}]
    rows += [row | {"metric": "recall@1", "best": None, "worst": None}]
    text = wide(
        rows, {"systems": {"a": "system"}, "primary": "ndcg@2", "k": [1, 2], "seeds": [1, 2], "left_out": LEFT_OUT}
    )
    assert text.splitlines()[0] == "| system | kind | ndcg@2 | 95 % interval | on scrambled labels | auc |"
    assert text.splitlines()[-1] == "Left out: x+embedding, because it needs latent factors, and 'x' has scores alone."
    assert (
        text.splitlines()[2]
        == "| a | system | 0.2500 ± 0.0100 [0.1000, 0.4000] | 0.2000 to 0.3000 | 0.1250 | 0.2500 ± 0.0100 |"
    )
