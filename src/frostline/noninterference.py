"""Stage `noninterference`: did changed test labels change anything before they were evaluated?

Two runs repeat the experiment by the same rules. In `rewired` the test-cold items got other users before the split; in
`relabelled` the test labels are arbitrary. Every payload but the test labels, and what `evaluate` made of them, must be
the same byte for byte. What is compared are the digests in the provenance, so temporary scores are compared too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from frostline.artifacts import Job, read_provenance

RUNS = {
    "rewired": "rewiring who took the test-cold items changes no split, score or choice",
    "relabelled": "arbitrary test labels change no model, score or choice",
}
"""The check that each of the runs makes."""

LABELS = "split/test.parquet"


def run(job: Job) -> None:
    """Read the provenance of what the original and each of `RUNS` came to; write `noninterference`."""
    original = _lineage(job, "original")
    root = job.params["root"]
    checks, details = [], {}
    for name, title in RUNS.items():
        found = compare(
            original, _lineage(job, name), f"{root}/", f"{root}/noninterference/{name}/", job.params["apart"]
        )
        checks.append({"name": title, **judge(found, root)})
        details[name] = found
    job.write_json("noninterference", {"checks": checks, "runs": details})


def _lineage(job: Job, run: str) -> dict[str, dict]:
    names = [*job.family(run).values(), *job.family(f"{run}_chosen").values()]
    return lineage(job.inputs[name] for name in names)


def lineage(paths: Iterable[str]) -> dict[str, dict]:
    """`{file: {stage, digest, inputs}}` of artifacts and of all that they descend from."""
    found: dict[str, dict] = {}
    for path in paths:
        provenance = read_provenance(path)
        found |= provenance["ancestors"]
        parents = [entry["file"] for entry in provenance["inputs"].values()]
        found[path] = {"stage": provenance["stage"], "digest": provenance["digest"], "inputs": parents}
    return found


def compare(
    original: Mapping[str, Mapping], again: Mapping[str, Mapping], here: str, there: str, apart: Iterable[str] = ()
) -> dict:
    """Compare two lineages file by file, causes before effects.

    Parameters
    ----------
    original, again : dict
        As `lineage` gives them.
    here, there : str
        Beginnings of the paths of the two; what is under neither was given to both.
    apart : iterable of str
        Systems that were not run again.

    Returns
    -------
    dict
        `compared`, the number of files; `differ`, those whose bytes are not the same or that only one run has, each with
        `file` and `stage`; `labels_changed`, whether the test labels were other ones in every seed.
    """
    skipped = tuple(f"/systems/{system}/" for system in apart)
    once, twice = (
        {
            file.removeprefix(place): entry
            for file, entry in files.items()
            if file.startswith(f"{place}seed-") and not any(part in file for part in skipped)
        }
        for files, place in ((original, here), (again, there))
    )
    labels = [file for file in once if file.endswith(LABELS)]
    compared, differ = 0, []
    for file in in_order(original, here, once) + sorted(twice.keys() - once.keys()):
        one, other = once.get(file), twice.get(file)
        stage = (one or other)["stage"]
        if file in labels or stage == "rewire" or (stage == "evaluate" and "/test/" in file):
            continue
        compared += 1
        if one is None or other is None or one["digest"] != other["digest"]:
            differ.append({"file": file, "stage": stage})
    changed = all(file in twice and once[file]["digest"] != twice[file]["digest"] for file in labels)
    return {"compared": compared, "differ": differ, "labels_changed": bool(labels) and changed}


def in_order(lineage_: Mapping[str, Mapping], place: str, files: Iterable[str]) -> list[str]:
    """The files, those that depend on nothing first; equals by name."""

    @cache
    def depth(path: str) -> int:
        return 1 + max((depth(parent) for parent in lineage_[path]["inputs"]), default=0)

    return sorted(files, key=lambda file: (depth(f"{place}{file}"), file))


def judge(found: Mapping, root: str) -> dict[str, str]:
    """Result and detail of one run's check."""
    if found["differ"]:
        first, n_more = found["differ"][0], len(found["differ"]) - 1
        more = f", and {n_more} more files" if n_more else ""
        detail = f"the first that differs is {root}/{first['file']}, made by {first['stage']}{more}"
        return {"result": "failed", "detail": detail}
    if not found["labels_changed"]:
        detail = "nothing could be changed: in a seed the test labels are the same as before, so nothing is proved"
        return {"result": "failed", "detail": detail}
    return {"result": "passed", "detail": f"{found['compared']:,} files are the same, byte for byte"}
