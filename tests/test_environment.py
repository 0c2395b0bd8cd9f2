"""The lock file, the conda environment and the project's own list of dependencies name the same packages."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def locked() -> dict[str, str]:
    """Versions that the lock file gives Python 3.11."""
    lines = re.findall(r"^(\S+==[^\\\n]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    pins = map(Requirement, lines)
    environment = {"python_version": "3.11", "python_full_version": "3.11.7", "sys_platform": "linux"}
    return {
        pin.name: str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(environment)
    }


def test_conda_users_get_the_locked_versions():
    pins = dict(line.split("=") for line in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"])
    assert pins.pop("python") == "3.11"
    pins["snakemake"] = pins.pop("snakemake-minimal")
    assert pins == {name: locked()[name] for name in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(pins) == {Requirement(line).name for line in project["dependencies"]}


def test_every_dependency_is_locked_with_hashes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {
        Requirement(line).name.lower() for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    }
    assert wanted <= set(locked())
    text = (ROOT / "requirements.lock").read_text()
    assert len(re.findall(r"^\S+==", text, re.MULTILINE)) <= text.count("--hash=sha256:")
