"""Several systems tested at once: Holm's correction."""

from __future__ import annotations

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down adjusted p-values (Scandinavian Journal of Statistics 6(2), 1979).

    The smallest of m is multiplied by m, the next by m − 1 and so on, none falls below the one before, and none is above 1.

    Parameters
    ----------
    p : ndarray of float64, shape (m,)
        NaN where there was no test; such a one counts for nothing.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).round(2)
    array([0.03, 0.06,  nan, 0.06])
    """
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted
