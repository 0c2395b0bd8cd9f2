"""docs/statistics.md defines what the tables hold."""

import re
from pathlib import Path

from frostline.significance import COLUMNS

TEXT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
TOLD_IN_PROSE = {"metric", "comparison", "system", "reference", "kind", "n_seeds"}


def test_every_column_of_the_table_of_significance_is_defined():
    defined = {
        name for row in re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE) for name in re.findall("`([^`]+)`", row)
    }
    missing = [name for name in COLUMNS if name not in defined | TOLD_IN_PROSE and not name.endswith("_holm")]
    assert missing == [] and "…_holm" in defined


def test_what_the_simulation_found_is_in_the_bands_that_are_promised():
    rows = dict(re.findall(r"^\| (.+? (?:rejects|covers)) \| (.+?) \|$", TEXT, re.MULTILINE))
    found = {name: [float(figure) for figure in figures.split("|")] for name, figures in rows.items()}
    assert len(found) == 6
    assert all(0.04 <= found[f"{test} over users rejects"][0] <= 0.06 for test in ("paired t", "sign-flip test"))
    assert 0.94 <= found["bootstrap interval over users covers"][0] <= 0.96
    assert found["corrected t over seeds rejects"][1] <= 0.06
    assert min(found["crossed bootstrap interval covers"]) >= 0.95
