"""Is a cold item listed a second time, under another id, as a warm one?

Then its interactions are in training after all. A split that draws items keeps both listings warm; one by time cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frostline.audit.checks import FAILED, WARNING, check
from frostline.folds import WARM

TOO_MANY = 0.01
"""Share of the cold items above which the check fails."""


def twins(identity: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Rows of the cold items whose content a warm item has too."""
    is_warm = fold == WARM
    return np.flatnonzero(~is_warm & (identity >= 0) & np.isin(identity, identity[is_warm]))


def duplicates(found: Mapping[int, Sequence[str]], n_cold: int, has_text: bool) -> dict:
    """The check, from each seed's ids of cold items that are warm under another id.

    `n_cold` is the number of cold items of all seeds, `has_text` whether there is a text to know an item by.
    """
    n_twins = sum(map(len, found.values()))
    problems = [
        f"seed {seed}: {len(ids)} cold items, such as {', '.join(map(repr, ids[:3]))}"
        for seed, ids in found.items()
        if ids
    ]
    holds = "no cold item has the content of a warm one" if has_text else "cannot be told: no content field is a text"
    result = FAILED if n_twins > TOO_MANY * n_cold else WARNING
    return check("no cold item is listed twice, warm under another id", problems, holds, result)
