"""What every check of the audit comes to: its name, its result and the evidence, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PASSED, WARNING, FAILED = "passed", "warning", "failed"


def check(name: str, problems: Iterable[str], holds: str, result: str = FAILED) -> dict[str, str]:
    """One check: passed with what `holds`, or else `result` with the first problems.

    Returns
    -------
    dict
        `name`; `result`, one of 'passed', 'warning', 'failed'; `detail`.
    """
    problems = list(problems)
    if not problems:
        return {"name": name, "result": PASSED, "detail": holds}
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return {"name": name, "result": result, "detail": "; ".join(problems[:3]) + more}


def over_seeds(found: Mapping[int, Mapping[str, str]]) -> list[dict[str, str]]:
    """Checks of all seeds together: `found` gives for each seed what is wrong by check, the empty text where it holds."""
    return [
        check(
            name, [f"seed {seed}: {wrong[name]}" for seed, wrong in found.items() if wrong[name]], "holds in every seed"
        )
        for name in next(iter(found.values()))
    ]
