"""Stage `audit`: check the split and the lineage on the actual files, and give the verdict."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from frostline.artifacts import Job, digest_file, read_provenance
from frostline.bootstrap import SeedResult, draw_means, interval
from frostline.folds import TEST, VAL, WARM
from frostline.results import Results, read_results, rounded

FREE_OF_LABELS = ("content", "fit_donor", "grid", "fit_method", "score", "score_meta")
"""Stages that must not descend from a label file, but for val labels by way of the stages `LEARNING`."""

LEARNING = ("tune", "fit_meta")


def run(job: Job) -> None:
    """Read the split's files and every figure; write `split`, `lineage` and `verdict`."""
    job.verify = False
    seeds = job.params["seeds"]
    quality = job.read_json("quality")
    by_seed = {
        seed: split_checks(_split_files(job, seed), quality["interactions"]["kept"], job.params) for seed in seeds
    }
    names = list(next(iter(by_seed.values())))
    checks = [
        {"name": name, "passed": not failures, "detail": "; ".join(failures) or "holds in every seed"}
        for name in names
        for failures in [[f"seed {seed}: {found[name]}" for seed, found in by_seed.items() if found[name]]]
    ]
    job.write_json(
        "split", {"checks": checks, "summaries": {str(seed): job.read_json(f"summary[{seed}]") for seed in seeds}}
    )
    lineage, graph = lineage_checks(job)
    job.write_json("lineage", {"checks": lineage, "graph": graph})
    choices = {seed: job.read_json(f"chosen[{seed}]") for seed in seeds}
    verdict = give_verdict(read_results(job, TEST), choices, job.params)
    job.write_json("verdict", verdict | {"checks": {check["name"]: check["passed"] for check in checks + lineage}})


def split_checks(files: Mapping[str, Mapping[str, np.ndarray]], n_kept: int, params: Mapping) -> dict[str, str]:
    """What is wrong with one seed's split, by check; the empty text where it holds.

    Parameters
    ----------
    files : dict
        Columns of `items`, `queries`, `train`, `val`, `test`, `strata` as arrays, and `left_out`: interactions of users
        without history.
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
    found["cold items are not in train (C2)"] = _unless(
        not misplaced[WARM], f"train holds {misplaced[WARM]} interactions of cold items"
    )
    found["labels hold only their own fold's items (C2)"] = _unless(
        not misplaced[VAL] and not misplaced[TEST],
        f"{misplaced[VAL]} interactions in val and {misplaced[TEST]} in test are of other items",
    )
    ids = files["items"]["item_id"]
    found["each item is in one fold (C1)"] = _unless(
        len(set(ids)) == len(ids) and set(fold) == {WARM, VAL, TEST} and list(ids) == sorted(ids),
        "items repeat, are unsorted, or a fold is empty",
    )
    n_seen = sum(len(files[table]["item"]) for table in ("train", VAL, TEST)) + files["left_out"]
    found["no interaction is lost (C1)"] = _unless(
        n_seen == n_kept, f"{n_seen} interactions of {n_kept} are accounted for"
    )
    has_history = np.zeros(len(files["queries"]["query"]), dtype=bool)
    has_history[files["train"]["query"]] = True
    found["every query has a history"] = _unless(has_history.all(), f"{int((~has_history).sum())} queries have none")
    found["strata give their shares (C3)"] = _share_check(
        files["strata"]["stratum"], fold, files["eligible"], params["split"]
    )
    return found


def lineage_checks(job: Job) -> tuple[list[dict], list[dict]]:
    """Check what the provenance says, and draw the graph of stages that really ran.

    Returns
    -------
    checks : list of {name, passed, detail}
    graph : list of {source, target, files}
    """
    tests, vals = ({job.inputs[f"{fold}[{seed}]"] for seed in job.params["seeds"]} for fold in (TEST, VAL))
    ancestors: dict[str, dict] = {}
    digests: dict[str, set[str]] = {}
    changed = []
    for path in job.inputs.values():
        provenance = read_provenance(path)
        if digest_file(path) != provenance["digest"]:
            changed.append(path)
        direct = {"stage": provenance["stage"], "digest": provenance["digest"]}
        direct["inputs"] = [entry["file"] for entry in provenance["inputs"].values()]
        for file, entry in {**provenance["ancestors"], path: direct}.items():
            ancestors[file] = entry
            digests.setdefault(file, set()).add(entry["digest"])
    stale = sorted(file for file, found in digests.items() if len(found) > 1)
    checks = [
        _check(
            "no label file is an ancestor of content, donors, models or scores (C2)",
            _descents(ancestors, FREE_OF_LABELS, tests | vals, beyond=LEARNING),
        ),
        _check(
            "no test label is an ancestor of a choice, or of anything before evaluation (C5)",
            _descents(ancestors, (*FREE_OF_LABELS, *LEARNING, "select"), tests),
        ),
        _check("every file is what its provenance says", changed),
        _check("all results descend from the same versions of their inputs", stale),
    ]
    edges: dict[tuple[str, str], set[str]] = {}
    for entry in ancestors.values():
        for parent in entry["inputs"]:
            edges.setdefault((ancestors[parent]["stage"], entry["stage"]), set()).add(Path(parent).name)
    for path in job.inputs.values():
        edges.setdefault((ancestors[path]["stage"], job.stage), set()).add(Path(path).name)
    graph = [{"source": a, "target": b, "files": sorted(files)} for (a, b), files in sorted(edges.items())]
    return checks, graph


def give_verdict(results: Results, choices: Mapping[int, Mapping], params: Mapping) -> dict:
    """Compare each seed's choice with the baseline on test.

    `choices` is what the stage `select` wrote for each seed. The system that most seeds chose is named, of several the one
    with the highest mean on val.

    The difference is the mean over seeds of each seed's own choice minus the baseline, its interval the crossed
    bootstrap over seeds, users and items. Transfer is worth it if the interval is above zero.
    """
    metric, baseline = params["primary"], params["baseline"]
    chosen = {seed: choice["system"] for seed, choice in choices.items()}
    pairs: list[SeedResult] = []
    for seed, whole in zip(results.seeds, results.by_seed([metric]), strict=True):
        columns = [results.systems.index(chosen[seed]), results.systems.index(baseline)]
        pairs.append(
            SeedResult(whole.user, whole.values[:, columns], whole.item, whole.shares[:, columns], whole.relevance)
        )
    draws = np.clip(draw_means(pairs, min(params["seeds"])), 0, 1)
    low, high = (rounded(float(bound)) for bound in interval(draws[:, 0] - draws[:, 1]))
    mean = {
        system: statistics.fmean(results.pooled[seed, system]["mean"][metric] for seed in results.seeds)
        for system in results.systems
        if params["systems"][system] in ("system", "baseline")
    }
    of_choice = statistics.fmean(results.pooled[seed, chosen[seed]]["mean"][metric] for seed in results.seeds)
    hindsight = min(mean, key=lambda name: (-mean[name], name))
    votes = Counter(chosen.values())
    on_val = {name: statistics.fmean(choice["val"][name] for choice in choices.values()) for name in votes}
    majority = min(votes, key=lambda name: (-votes[name], -on_val[name], name))
    return {
        "chosen": majority,
        "chosen_by_seed": {str(seed): system for seed, system in chosen.items()},
        "baseline": baseline,
        "metric": metric,
        "chosen_mean": rounded(of_choice),
        "baseline_mean": rounded(mean[baseline]),
        "difference": rounded(of_choice - mean[baseline]),
        "ci_low": low,
        "ci_high": high,
        "decision": "transfer" if low > 0 else "baseline",
        "hindsight": {
            "system": hindsight,
            "mean": rounded(mean[hindsight]),
            "gap": rounded(mean[hindsight] - of_choice),
        },
    }


def _split_files(job: Job, seed: int) -> dict:
    files = {}
    for name in ("items", "queries", "train", VAL, TEST, "strata"):
        table = job.read_table(f"{name}[{seed}]")
        files[name] = {column: table[column].to_numpy(zero_copy_only=False) for column in table.column_names}
    summary = job.read_json(f"summary[{seed}]")
    files["left_out"] = sum(fold["interactions_of_users_without_history"] for fold in summary["folds"].values())
    files["eligible"] = {stratum["stratum"]: stratum["eligible"] for stratum in summary["strata"]}
    return files


def _share_check(stratum: np.ndarray, fold: np.ndarray, eligible: Mapping[str, int], options: Mapping) -> str:
    n_eligible = sum(eligible.values())
    for name, share in ((TEST, options["test"]), (VAL, options["val"])):
        expected_total = round(share * len(fold))
        for label, size in eligible.items():
            drawn, expected = int(((stratum == label) & (fold == name)).sum()), expected_total * size / n_eligible
            if abs(drawn - expected) > 1:
                return f"stratum {label} gave {drawn} {name} items where its share is {expected:.2f}"
    return ""


def _descents(
    ancestors: Mapping[str, Mapping], stages: tuple[str, ...], forbidden: set[str], beyond: tuple[str, ...] = ()
) -> list[str]:
    """Files of `stages` that descend from a forbidden one, on a way that leads through no file of the stages `beyond`."""
    return [
        f"{file} descends from {label}"
        for file, entry in sorted(ancestors.items())
        if entry["stage"] in stages
        for label in sorted(forbidden & _closure(file, ancestors, beyond))
    ]


def _closure(file: str, ancestors: Mapping[str, Mapping], beyond: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    pending = list(ancestors[file]["inputs"])
    while pending:
        parent = pending.pop()
        if parent not in found:
            found.add(parent)
            if ancestors[parent]["stage"] not in beyond:
                pending.extend(ancestors[parent]["inputs"])
    return found


def _unless(holds: bool, problem: str) -> str:
    return "" if holds else problem


def _check(name: str, problems: Iterable[str]) -> dict:
    problems = list(problems)
    return {"name": name, "passed": not problems, "detail": "; ".join(problems[:3]) or "holds for every file"}
