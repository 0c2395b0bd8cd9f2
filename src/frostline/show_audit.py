"""`frostline audit results/<experiment>`: what the audit found, in plain words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from frostline.artifacts import ArtifactError, Job
from frostline.errors import FrostlineError

COLOURS = {"passed": "32", "warning": "33", "not run": "33", "failed": "31;1", "bold": "1"}
WIDTH = 100


def read_verdict(folder: str) -> dict:
    """The verdict of an experiment's results.

    Raises
    ------
    FrostlineError
        When the folder has no audit.
    """
    try:
        job = Job("audit", {"verdict": f"{folder}/audit/verdict.json"}, {})
        return job.read_json("verdict")
    except ArtifactError as error:
        raise FrostlineError(
            f"{error}\nGive the folder of an experiment, such as results/demo, after its run: snakemake --cores 8"
        ) from error


def failed(verdict: Mapping) -> list[str]:
    """Names of the checks that failed."""
    return [name for name, passed in verdict["checks"].items() if not passed]


def describe(folder: str, verdict: Mapping, coloured: bool) -> str:
    """The audit as text: how it ended, every check with its evidence, and what is left to be trusted."""

    def paint(text: str, colour: str) -> str:
        return f"\033[{COLOURS[colour]}m{text}\033[0m" if coloured else text

    def paragraph(text: str, indent: str) -> list[str]:
        return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)

    n_failed, n_warned = len(failed(verdict)), len(verdict["warnings"])
    n_passed = len(verdict["checks"]) - n_failed - n_warned
    ending = [paint(f"{n_passed} of {len(verdict['checks'])} checks passed", "failed" if n_failed else "passed")]
    ending += [paint(f"{n_warned} warning{'s' if n_warned > 1 else ''}", "warning")] if n_warned else []
    ending += [paint(f"{n_failed} FAILED: do not rely on the figures", "failed")] if n_failed else []
    lines = [f"{paint(folder, 'bold')}: {', '.join(ending)}"]
    for part in verdict["evidence"]:
        lines += ["", paint(part["subject"], "bold")]
        for found in part["checks"]:
            lines.append(f"  {paint(found['result'].ljust(8), found['result'])}  {found['name']}")
            lines += paragraph(found["detail"], " " * 12)
    lines += ["", paint("What is left to be trusted", "bold")]
    for text in verdict["trusted"]:
        lines += paragraph(text, "  ")
    return "\n".join(lines)
