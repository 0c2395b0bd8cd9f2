"""Run the real workflow, small, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]

SMALL = {
    "protocol": "cold-items",
    "data": {"adapter": "synthetic", "users": 150, "items": 120, "interactions": 4000},
    "content": ["categories", "year", "text"],
    "seeds": [1, 2],
    "donors": {"als": {"factors": 8, "iterations": 3}},
    "methods": {"knn": {"k": 5}, "linmap": {"alpha": 10}},
    "split": {"popularity_buckets": 2, "min_interactions": 3, "val_folds": 3},
}


class Workspace:
    """A working directory with a config; `run` calls Snakemake there on the project's Snakefile."""

    def __init__(self, folder: Path, experiment: dict, root: Path = ROOT, keep_scores: bool = True) -> None:
        self.folder, self.root = folder, root
        folder.mkdir(parents=True, exist_ok=True)
        self.configure(experiment, keep_scores)

    def configure(self, experiment: dict, keep_scores: bool = True) -> None:
        config = {"keep_scores": keep_scores, "experiments": {"small": experiment}}
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config))

    def command(self, *arguments: str, cores: int = 2, profile: str = "default") -> list[str]:
        base = [sys.executable, "-m", "snakemake", "--snakefile", str(self.root / "Snakefile")]
        profile = ["--workflow-profile", str(self.root / "profiles" / profile)]
        # A target after --configfile would be taken for another config.
        return [*base, *profile, "--cores", str(cores), *arguments, "--configfile", "config.yaml"]

    @property
    def environment(self) -> dict[str, str]:
        places = f"{self.root / 'src'}{os.pathsep}{self.folder}"
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return os.environ | {"PATH": path, "PYTHONPATH": places}

    def run(
        self,
        *arguments: str,
        cores: int = 2,
        check: bool = True,
        profile: str = "default",
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess:
        done = subprocess.run(
            self.command(*arguments, cores=cores, profile=profile),
            cwd=self.folder,
            env=self.environment | (environment or {}),
            capture_output=True,
            text=True,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def planned(self) -> dict[str, int]:
        """Jobs that a run would start, by rule."""
        lines = self.run("--dry-run").stdout.partition("Job stats:")[2].partition("\n\n")[0].splitlines()
        return {rule: int(count) for rule, count in (line.split() for line in lines[3:])}

    def payloads(self) -> dict[str, bytes]:
        """Every result but logs and sidecars, by path."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted((self.folder / "results").rglob("*"))
            if path.is_file() and "logs" not in path.parts and not path.name.endswith(".prov.json")
        }

    def read_json(self, path: str):
        return json.loads((self.folder / "results/small" / path).read_text())


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Workspace:
    """The small experiment, run to its report with all scores kept. Tests must not change it."""
    workspace = Workspace(tmp_path_factory.mktemp("finished"), SMALL)
    workspace.run()
    return workspace


@pytest.fixture
def copy_of_finished(finished, tmp_path) -> Workspace:
    """The finished run in a folder that a test may change."""
    subprocess.run(["cp", "-a", f"{finished.folder}/.", str(tmp_path)], check=True)
    return Workspace(tmp_path, SMALL)
