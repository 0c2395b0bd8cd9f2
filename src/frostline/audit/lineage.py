"""Checks of the provenance: what every result descends from, and the graph of stages that really ran."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from frostline.artifacts import Job, digest_file, read_provenance
from frostline.audit.checks import check
from frostline.folds import TEST, VAL

FREE_OF_LABELS = (
    "pseudo_split",
    "content",
    "fit_donor",
    "grid",
    "fit_method",
    "score",
    "score_meta",
    "grid_system",
    "score_system",
    "score_stack",
)
"""Stages that must not descend from a label file, but for val labels by way of the stages `LEARNING`."""

LEARNING = ("tune", "fit_meta", "tune_system", "fit_stack")

PROOF = "noninterference"
"""The input that says whether reruns with changed test labels came to the same."""


def lineage_checks(job: Job) -> tuple[list[dict], list[dict]]:
    """Check what the provenance says, and draw the graph of stages that really ran.

    Returns
    -------
    checks : list of {name, result, detail}
    graph : list of {source, target, files}
    """
    strata = {job.inputs[name] for name in job.family("strata").values()}
    tests, vals = ({job.inputs[name] for name in job.family(fold).values()} for fold in (TEST, VAL))
    ancestors: dict[str, dict] = {}
    digests: dict[str, set[str]] = {}
    changed = []
    for name, path in job.inputs.items():
        provenance = read_provenance(path)
        if digest_file(path) != provenance["digest"]:
            changed.append(path)
        if name == PROOF:
            continue
        direct = {"stage": provenance["stage"], "digest": provenance["digest"]}
        direct["inputs"] = [entry["file"] for entry in provenance["inputs"].values()]
        for file, entry in {**provenance["ancestors"], path: direct}.items():
            ancestors[file] = entry
            digests.setdefault(file, set()).add(entry["digest"])
    # The proof descends from labels by design, and from reruns; but it must be about these very results.
    proved = read_provenance(job.inputs[PROOF])["ancestors"] if PROOF in job.inputs else {}
    for file in proved.keys() & digests.keys():
        digests[file].add(proved[file]["digest"])
    stale = sorted(file for file, found in digests.items() if len(found) > 1)
    everything = {
        file for file, entry in ancestors.items() if entry["stage"] == "ingest" and Path(file).stem == "interactions"
    }
    checks = [
        check(
            "no label, and no popularity of a cold item, is an ancestor of content, donors, models or scores",
            _descents(ancestors, FREE_OF_LABELS, tests | vals | strata, beyond=LEARNING),
            "holds for every file; val labels reach scores only by way of the stages that may learn from them",
        ),
        check(
            "no test label is an ancestor of a choice, or of anything before evaluation",
            _descents(ancestors, (*FREE_OF_LABELS, *LEARNING, "select"), tests | strata),
            "holds for every file",
        ),
        check(
            "nothing descends from all interactions but by way of the split",
            _descents(ancestors, (*FREE_OF_LABELS, *LEARNING, "select"), everything, beyond=("split",)),
            "holds for every file",
        ),
        check("every file is what its provenance says", changed, "holds for every file that the audit read"),
        check("all results descend from the same versions of their inputs", stale, f"holds for {len(digests)} files"),
    ]
    edges: dict[tuple[str, str], set[str]] = {}
    for entry in ancestors.values():
        for parent in entry["inputs"]:
            edges.setdefault((ancestors[parent]["stage"], entry["stage"]), set()).add(Path(parent).name)
    for path in (path for name, path in job.inputs.items() if name != PROOF):
        edges.setdefault((ancestors[path]["stage"], job.stage), set()).add(Path(path).name)
    graph = [{"source": a, "target": b, "files": sorted(files)} for (a, b), files in sorted(edges.items())]
    return checks, graph


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
