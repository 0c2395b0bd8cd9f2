"""Stage `accept`: end the run with an error where a check of the audit failed. The report is written before."""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.errors import FrostlineError


def run(job: Job) -> None:
    """Read `verdict`; write `accepted`.

    Raises
    ------
    FrostlineError
        When a check failed, naming it.
    """
    verdict, experiment = job.read_json("verdict"), job.params["experiment"]
    failed = [name for name, passed in verdict["checks"].items() if not passed]
    if failed:
        raise FrostlineError(
            f"the audit of {experiment} found that {len(failed)} of {len(verdict['checks'])} checks fail: "
            f"{'; '.join(failed)}. Do not rely on its figures; its report and 'frostline audit' say more"
        )
    job.write_text("accepted", f"{len(verdict['checks'])} checks, none failed\n")
