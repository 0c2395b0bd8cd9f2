"""Tables over seeds."""

import pytest

from frostline.aggregate import _relaimpr
from frostline.results import rounded


def test_C11_relaimpr_is_undefined_and_no_crash_without_an_auc():
    """Where every candidate of every query is relevant there is no AUC; small data has such folds."""
    assert _relaimpr(None, 0.7) is None and _relaimpr(0.7, None) is None
    assert _relaimpr(0.7, 0.5) is None
    assert _relaimpr(0.7, 0.6) == pytest.approx(1.0)


def test_rounding_forgets_the_order_of_a_sum():
    assert rounded(0.1 + 0.2) == rounded(0.3) and rounded(None) is None and rounded(3) == 3
