"""Stage `split`: say what is held out, and give each interaction to the one file that may hold it.

This is the only stage that sees train and held-out interactions together. What it writes is all that later stages know.
How it divides is the protocol's, see `frostline/protocols/`.
"""

from __future__ import annotations

from frostline.artifacts import Job
from frostline.protocol import protocol_of


def run(job: Job) -> None:
    """Read `interactions` and `catalogue` (the ingested items); write everything under `split/`."""
    protocol_of(job).split(job)
