"""Stage `audit`: check the split, the lineage and the figures on the actual files, and give the verdict.

Each module is one subject; a check is a name that a reader understands, a result, and the evidence.
"""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.audit.checks import over_seeds
from frostline.audit.content import content_checks
from frostline.audit.controls import control_checks
from frostline.audit.evidence import donor_checks, evidence
from frostline.audit.lineage import PROOF, lineage_checks
from frostline.audit.meta_users import meta_user_checks
from frostline.audit.ties import tie_checks
from frostline.audit.verdict import give_verdict
from frostline.folds import TEST
from frostline.protocol import protocol_of
from frostline.results import read_results


def run(job: Job) -> None:
    """Read the split's files, the content and every figure; write a file a subject, and `verdict`."""
    job.verify = False
    seeds = job.params["seeds"]
    kept = job.read_json("quality")["interactions"]["kept"]
    checks = {}
    protocol = protocol_of(job)
    checks["split"] = over_seeds({seed: protocol.split_checks(job, seed, kept) for seed in seeds})
    summaries = {str(seed): job.read_json(f"summary[{seed}]") for seed in seeds}
    job.write_json("split", {"checks": checks["split"], "summaries": summaries})
    checks["lineage"], graph = lineage_checks(job)
    job.write_json("lineage", {"checks": checks["lineage"], "graph": graph})
    fields: dict = {}
    if job.family("warm_content"):
        checks["content"], fields = content_checks(job)
    job.write_json("content", {"checks": checks.get("content", []), "fields": fields})
    results = read_results(job, TEST)
    checks["ties"], systems = tie_checks(results, job.params["primary"], job.params["ties"])
    job.write_json("ties", {"checks": checks["ties"], "systems": systems})
    checks["controls"] = control_checks(results, job.params["primary"], job.params["ties"])
    if job.family("taught"):
        checks["meta_users"] = meta_user_checks(job, results)
    if job.params["donors"]:
        checks["donors"] = donor_checks(job.params["brought"])
    if PROOF in job.inputs:
        checks[PROOF] = job.read_json(PROOF)["checks"]
    choices = {int(seed): job.read_json(name) for (seed,), name in job.family("chosen").items()}
    verdict = give_verdict(results, choices, job.params)
    job.write_json("verdict", verdict | evidence(checks, job.params["brought"], job.params["words"]))
