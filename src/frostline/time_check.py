"""The check of a split by time on the files that it wrote."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from frostline.folds import TEST, VAL


def time_check(files: Mapping[str, Mapping[str, np.ndarray]], cut: Mapping) -> str:
    """What is wrong with the times, the empty text if nothing: each is known and within the period of its file (C9).

    Parameters
    ----------
    files : dict
        Columns of `train`, `val` and `test` as arrays; an unknown `time` is NaN.
    cut : dict
        The split's report, see `frostline.temporal`.
    """
    t1, t2 = (np.datetime64(cut[bound], "s").astype(np.int64) for bound in ("t1", "t2"))
    periods = {
        "train": (-np.inf, t1, f"up to {cut['t1']}"),
        VAL: (t1, t2, f"after that and up to {cut['t2']}"),
        TEST: (t2, np.inf, "after both"),
    }
    wrong = {
        name: int((~((files[name]["time"] > after) & (files[name]["time"] <= until))).sum())
        for name, (after, until, _) in periods.items()
    }
    return " and ".join(
        f"{number} interactions of {name} are not {periods[name][2]}" for name, number in wrong.items() if number
    )
