"""Stage `audit`: check the split, the lineage and the figures on the actual files, and give the verdict.

Each module is one subject; a check is a name that a reader understands, a result, and the evidence.
"""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.audit.checks import FAILED, WARNING, over_seeds
from frostline.audit.controls import control_checks
from frostline.audit.invariants import split_checks, split_files
from frostline.audit.lineage import PROOF, lineage_checks
from frostline.audit.verdict import give_verdict
from frostline.folds import TEST
from frostline.results import read_results


def run(job: Job) -> None:
    """Read the split's files and every figure; write `split`, `lineage` and `verdict`."""
    job.verify = False
    seeds = job.params["seeds"]
    kept = job.read_json("quality")["interactions"]["kept"]
    checks = {}
    checks["split"] = over_seeds({seed: split_checks(split_files(job, seed), kept, job.params) for seed in seeds})
    summaries = {str(seed): job.read_json(f"summary[{seed}]") for seed in seeds}
    job.write_json("split", {"checks": checks["split"], "summaries": summaries})
    checks["lineage"], graph = lineage_checks(job)
    job.write_json("lineage", {"checks": checks["lineage"], "graph": graph})
    if PROOF in job.inputs:
        checks[PROOF] = job.read_json(PROOF)["checks"]
    choices = {seed: job.read_json(f"chosen[{seed}]") for seed in seeds}
    results = read_results(job, TEST)
    checks["controls"] = control_checks(results, job.params["primary"], job.params["ties"])
    verdict = give_verdict(results, choices, job.params)
    every = [check for group in checks.values() for check in group]
    job.write_json(
        "verdict",
        verdict
        | {
            "checks": {check["name"]: check["result"] != FAILED for check in every},
            PROOF: _outcome(checks.get(PROOF, [])),
            "warnings": {check["name"]: check["detail"] for check in every if check["result"] == WARNING},
        },
    )


def _outcome(checks: list[dict]) -> str:
    """What non-interference came to: 'proved', 'failed' or 'not run'."""
    if not checks:
        return "not run"
    return "failed" if any(check["result"] == FAILED for check in checks) else "proved"
