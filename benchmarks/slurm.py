"""One experiment here and through a Slurm of one node on this machine: the same bytes? Usage: slurm.py [CONFIG]."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.workflow.conftest import Workspace  # noqa: E402
from tests.workflow.slurm import Slurm, why_not  # noqa: E402

if lacking := why_not():
    sys.exit(f"no Slurm to measure: {lacking}")
config = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "config/config.yaml")
(experiment,) = yaml.safe_load(config.read_text())["experiments"].values()
with tempfile.TemporaryDirectory() as folder, Slurm() as slurm:
    here, there = (Workspace(Path(folder, name), experiment, keep_scores=False) for name in ("here", "slurm"))
    start = time.monotonic()
    here.run()
    middle = time.monotonic()
    there.run(cores=1, profile="slurm", environment=slurm.environment)
    end = time.monotonic()
    one, two = here.payloads(), there.payloads()
    print(f"here {middle - start:.0f} s, Slurm {end - middle:.0f} s, {len(one)} files")
    different = sorted(path for path in one.keys() | two.keys() if one.get(path) != two.get(path))
    if different:
        sys.exit(f"{len(different)} files differ, the first is {different[0]}")
