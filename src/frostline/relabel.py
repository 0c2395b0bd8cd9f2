"""Stage `relabel`: a split as it is but for its test labels, which are arbitrary, for the audit of non-interference."""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.protocol import protocol_of


def run(job: Job) -> None:
    """Copy a split's files but for `test`, which is no input; write arbitrary labels as `test`."""
    for name in job.inputs:
        job.copy(name, name)
    protocol_of(job).relabel(job)
