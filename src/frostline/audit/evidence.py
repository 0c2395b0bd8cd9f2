"""What the checks of all subjects come to: for the verdict, the report and `frostline audit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frostline.audit.checks import FAILED, WARNING, check
from frostline.audit.lineage import PROOF

SUBJECTS = {
    "split": "The split, checked on the files that it wrote",
    "lineage": "Lineage: what every result descends from",
    PROOF: "Non-interference: everything run again with changed test labels",
    "content": "Content, which must be known before anyone touches an item",
    "meta_users": "Meta-methods, which learn from labels of cold items",
    "donors": "Donors",
    "ties": "Ties, whose order must not matter",
    "controls": "Controls, which must be worth chance",
}

NOT_RUN = {
    "name": "changed test labels change no split, model, score or choice",
    "result": "not run",
    "detail": "two reruns prove it: snakemake --cores 8 audit_noninterference",
}


def donor_checks(brought: Sequence[str]) -> list[dict[str, str]]:
    """A donor that was trained elsewhere cannot be proved clean; `brought` names those."""
    problems = [f"'{name}' is an unverified donor: what it was trained on cannot be known" for name in brought]
    return [check("every donor was trained here", problems, "on the warm interactions of its seed alone", WARNING)]


def evidence(checks: Mapping[str, Sequence[Mapping]], brought: Sequence[str], words: Mapping[str, str]) -> dict:
    """The audit's part of the verdict, from the checks of each subject.

    Returns
    -------
    dict
        `checks`, whether each holds; `warnings`, what is told of those that hold with a reservation; `noninterference`,
        one of 'proved', 'failed', 'not run'; `evidence`, the checks of each subject in order; `trusted`, in sentences what
        none of them can show.
    """
    every = [found for group in checks.values() for found in group]
    proof = [found["result"] for found in checks.get(PROOF, [])]
    outcome = "not run" if not proof else "failed" if FAILED in proof else "proved"
    split = f"The stage split, the only one that sees {words['together']}: what it wrote is checked above"
    return {
        "checks": {found["name"]: found["result"] != FAILED for found in every},
        "warnings": {found["name"]: found["detail"] for found in every if found["result"] == WARNING},
        PROOF: outcome,
        "evidence": [
            {"subject": title, "checks": list(checks.get(name, [NOT_RUN]))}
            for name, title in SUBJECTS.items()
            if name in checks or name == PROOF
        ],
        "trusted": [
            split + (", and it wrote the same for " + words["rewired"] + "." if outcome == "proved" else "."),
            f"The data: that the source is what it claims to be{words['trusted']}.",
            *(f"The donor '{name}', which was brought as a file." for name in brought),
        ],
    }
