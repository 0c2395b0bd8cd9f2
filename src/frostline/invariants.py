"""Checks of the split on the files that it wrote."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from frostline.artifacts import Job
from frostline.folds import TEST, VAL, WARM
from frostline.time_check import time_check


def split_files(job: Job, seed: int) -> dict:
    """What `split_checks` takes, of one seed."""
    files = {}
    for name in ("items", "queries", "train", VAL, TEST, "strata"):
        table = job.read_table(f"{name}[{seed}]")
        files[name] = {column: table[column].to_numpy(zero_copy_only=False) for column in table.column_names}
    summary = job.read_json(f"summary[{seed}]")
    files["left_out"] = sum(fold["interactions_of_users_without_history"] for fold in summary["folds"].values())
    files["temporal"] = summary.get("temporal")
    if files["temporal"]:
        files["left_out"] += sum(files["temporal"]["left_out"].values())
    files["eligible"] = {stratum["stratum"]: stratum["eligible"] for stratum in summary["strata"]}
    return files


def split_checks(files: Mapping[str, Mapping[str, np.ndarray]], n_kept: int, params: Mapping) -> dict[str, str]:
    """What is wrong with one seed's split, by check; the empty text where it holds.

    Parameters
    ----------
    files : dict
        Columns of `items`, `queries`, `train`, `val`, `test`, `strata` as arrays, and `left_out`: interactions of users
        without history, and those that have no place in a split by time; `temporal`: its report if it is one, or None.
    n_kept : int
        Interactions that ingest kept.
    params : dict
        `split` options.
    """
    fold = files["items"]["fold"]
    found = {}
    misplaced = {
        name: int((fold[files[table]["item"]] != name).sum())
        for table, name in (("train", WARM), (VAL, VAL), (TEST, TEST))
    }
    found["cold items are not in train"] = _unless(
        not misplaced[WARM], f"train holds {misplaced[WARM]} interactions of cold items"
    )
    found["labels hold only their own fold's items"] = _unless(
        not misplaced[VAL] and not misplaced[TEST],
        f"{misplaced[VAL]} interactions in val and {misplaced[TEST]} in test are of other items",
    )
    ids = files["items"]["item_id"]
    found["each item is in one fold"] = _unless(
        len(set(ids)) == len(ids) and set(fold) == {WARM, VAL, TEST} and list(ids) == sorted(ids),
        "items repeat, are unsorted, or a fold is empty",
    )
    n_seen = sum(len(files[table]["item"]) for table in ("train", VAL, TEST)) + files["left_out"]
    found["no interaction is lost"] = _unless(n_seen == n_kept, f"{n_seen} interactions of {n_kept} are accounted for")
    has_history = np.zeros(len(files["queries"]["query"]), dtype=bool)
    has_history[files["train"]["query"]] = True
    found["every query has a history"] = _unless(has_history.all(), f"{int((~has_history).sum())} queries have none")
    if files["temporal"]:
        found["each interaction is of its file's own time"] = time_check(files, files["temporal"])
    else:
        found["strata give their shares"] = _share_check(
            files["strata"]["stratum"], fold, files["eligible"], params["split"]
        )
    return found


def _share_check(stratum: np.ndarray, fold: np.ndarray, eligible: Mapping[str, int], options: Mapping) -> str:
    n_eligible = sum(eligible.values())
    n_items = len(fold)
    # Folds share out the eligible items, and draws take a share of all.
    n_test = options["test"] * (n_eligible if options.get("replicates") == "folds" else n_items)
    for name, expected_total in ((TEST, round(n_test)), (VAL, round(options["val"] * n_items))):
        for label, size in eligible.items():
            drawn, expected = int(((stratum == label) & (fold == name)).sum()), expected_total * size / n_eligible
            if abs(drawn - expected) > 1:
                return f"stratum {label} gave {drawn} {name} items where its share is {expected:.2f}"
    return ""


def _unless(holds: bool, problem: str) -> str:
    return "" if holds else problem
