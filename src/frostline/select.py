"""Stage `select`: choose a seed's system by its val-cold figures. No test figure is among its inputs."""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.errors import FrostlineError


def run(job: Job) -> None:
    """Read `pooled` of every system on val; write `chosen`: the best by the primary metric, ties by name."""
    figures: dict[str, float] = {}
    for (system,), name in job.family("pooled").items():
        if job.params["systems"][system] in ("system", "baseline"):
            figures[system] = job.read_json(name)["mean"][job.params["primary"]]
    undefined = [system for system, value in figures.items() if value is None]
    if undefined:
        raise FrostlineError(
            f"{job.params['primary']} of '{undefined[0]}' is undefined on val-cold items, so nothing can be chosen. "
            "Use another primary metric or a larger split.val"
        )
    system = min(figures, key=lambda name: (-figures[name], name))
    job.write_json("chosen", {"system": system, "metric": job.params["primary"], "val": dict(sorted(figures.items()))})
