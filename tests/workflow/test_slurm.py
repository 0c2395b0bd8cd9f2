"""The same experiment through a real Slurm of one node."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
import yaml

from .conftest import ROOT, SMALL, Workspace
from .slurm import Slurm, why_not


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    lacking = why_not()
    known = os.environ.get("FROSTLINE_NO_SLURM")
    if lacking and os.environ.get("CI") and not known:
        pytest.fail(f"no Slurm to test with: {lacking}")
    if lacking or known:
        pytest.skip(f"no Slurm: {known or lacking}")
    with Slurm() as running:
        yield running


def test_every_rule_has_a_place_in_the_groups_of_the_profile():
    """A rule outside a group that stands between two of its members would wait for it, and it for the rule."""
    defined = {
        name
        for file in (ROOT / "workflow/rules").glob("*.smk")
        for name in re.findall(r"^(?:use rule \w+ as|rule) (\w+)", file.read_text(), re.MULTILINE)
    }
    grouped = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())["groups"]
    # Run where Snakemake was started: one downloads, the others only name what is asked for.
    assert defined - set(grouped) == {"download", "new_items", "audit_noninterference"}
    assert set(grouped) <= defined


@pytest.mark.workflow
def test_slurm_gives_the_same_bytes_in_few_jobs(finished, slurm, tmp_path):
    workspace = Workspace(tmp_path, SMALL)
    workspace.run(cores=1, profile="slurm", environment=slurm.environment)
    assert workspace.payloads() == finished.payloads()
    jobs = slurm.call("squeue", "--states=all", "--noheader", "--format=%T").split()
    assert jobs == ["COMPLETED"] * 4  # ingest, two seeds, the tables
