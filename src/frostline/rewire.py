"""Stage `rewire`: interactions with other test labels in them and all else the same, for the audit of non-interference."""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.protocol import protocol_of


def run(job: Job) -> None:
    """Read `interactions` and one seed's split `items`; write `interactions`."""
    protocol_of(job).rewire(job)
