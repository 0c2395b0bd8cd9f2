"""The leaderboard for people: marks, spread, intervals, definitions, and text that LaTeX can take."""

import re
from dataclasses import asdict

import pyarrow as pa
import pytest

from frostline import export
from frostline.export import escape, latex, markdown
from frostline.marks import marks
from frostline.protocols.cold_items import ColdItems

PARAMS = {
    "words": asdict(ColdItems.words),
    "experiment": "50%_of",
    "primary": "ndcg@2",
    "k": [1, 2],
    "seeds": [1, 2],
    "replicates": "draws",
    "baseline": "base_line",
    "left_out": {"x+embedding": "needs latent factors, and 'x' has scores alone"},
}
SYSTEMS = {"a": "system", "b+c": "system", "base_line": "baseline", "random": "control"}
METRICS = ["recall@1", "recall@2", "ndcg@2", "auc", "auc_pooled", "relaimpr"]


def board(system, metric, mean):
    cut = "@" in metric
    row = {"system": system, "fold": "test", "metric": metric, "mean": mean, "sd": 0.01, "kind": SYSTEMS[system]}
    row |= {"ci_low": 0.2 if cut else None, "ci_high": 0.3 if cut else None, "scrambled": 0.125}
    row |= {"bucket_low": 0.0625, "bucket_high": 0.375}
    return row | {"best": 0.4 if cut else None, "worst": 0.1 if cut else None}


LEADERBOARD = [board(s, m, 0.25 - n / 100) for n, s in enumerate(SYSTEMS) for m in METRICS]


def compared(comparison, system, reference, difference, p_holm, metric="ndcg@2"):
    row = {"metric": metric, "comparison": comparison, "system": system, "reference": reference}
    return row | {"difference": difference, "p_holm": p_holm}


COMPARED = [
    compared("baseline", "a", "base_line", 0.1, 0.01),
    compared("baseline", "b+c", "base_line", -0.1, 0.049),
    compared("baseline", "random", "base_line", -0.2, None),
    compared("baseline", "a", "base_line", 0.1, 0.05, "auc"),
    compared("choice", "(choice)", "a", 0.001, 0.6),
    compared("choice", "(choice)", "b+c", 0.2, 0.2),
    compared("choice", "(choice)", "base_line", 0.2, 0.01),
    compared("choice", "(choice)", "random", 0.2, None),
]


def test_P4_marks_follow_the_corrected_p_and_controls_have_none():
    assert marks(COMPARED) == {("a", "ndcg@2"): "▲°", ("b+c", "ndcg@2"): "▼°"}
    assert marks([]) == {}


def test_C13_the_readable_table_has_mark_spread_interval_and_tie_range():
    lines = markdown(LEADERBOARD, COMPARED, PARAMS).splitlines()
    assert lines[0] == (
        "| system | kind | ndcg@2 | 95 % interval | on scrambled labels | by popularity "
        "| recall@2 | auc | auc_pooled | relaimpr |"
    )
    assert lines[2] == (
        "| a | system | 0.2500▲° ± 0.0100 [0.1000, 0.4000] | 0.2000 to 0.3000 | 0.1250 | 0.0625 to 0.3750 "
        "| 0.2500 ± 0.0100 [0.1000, 0.4000] "
        "| 0.2500 ± 0.0100 | 0.2500 ± 0.0100 | 0.2500 ± 0.0100 |"
    )
    assert {line.count("|") for line in lines[:6]} == {11}
    assert lines[-1] == "- Left out: x+embedding, because it needs latent factors, and 'x' has scores alone."


def test_C9_where_time_splits_seeds_are_said_to_vary_the_model_only():
    for form in (markdown, latex):
        assert "vary the model only" not in form(LEADERBOARD, COMPARED, PARAMS)
        text = form(LEADERBOARD, COMPARED, PARAMS | {"replicates": "models"})
        assert "over 2 seeds, which vary the model only: time decides which items are cold" in text
        assert "seeds, users and items" not in text and "drawn with replacement" not in text


def test_each_shown_metric_is_defined_in_every_form():
    for text in (markdown(LEADERBOARD, COMPARED, PARAMS), latex(LEADERBOARD, COMPARED, PARAMS)):
        for name in ("Recall@k", "NDCG@k", "AUC per query", "AUC pooled", "RelaImpr"):
            assert len(re.findall(re.escape(name) + r"(\*\*)?: ", text)) == 1
        assert "MRR" not in text and "Holm" in text and "2 seeds" in text
    alone = markdown(LEADERBOARD, COMPARED[:4], PARAMS | {"seeds": [1]})
    assert "each seed chose" not in alone and "one seed" in alone


def test_the_latex_table_is_whole_and_its_text_escaped():
    text = latex(LEADERBOARD, COMPARED, PARAMS)
    assert text.isascii()
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    for opened in re.findall(r"\\begin\{(\w+)\}", text):
        assert text.count(rf"\end{{{opened}}}") == text.count(rf"\begin{{{opened}}}") == 1
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + len(SYSTEMS) and {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {5}
    assert r"\begin{tabular}{lrrrrr}" in text and r"\caption{50\%\_of}" in text
    assert rows[1].startswith(r"a & \textbf{0.2500} {\scriptsize $\pm$ 0.0100}$^{\uparrow}$$^{\circ}$ & ")
    assert rows[3].startswith(r"base\_line & 0.2300") and text.count(r"\textbf") == 5
    outside = re.sub(r"\$[^$]*\$", "", re.sub(r"^%.*", "", text))
    assert not re.search(r"(?<!\\)[_^#%]", outside)


def test_what_is_undefined_has_a_dash_and_is_never_best():
    rows = [row | ({"mean": None, "sd": None} if row["metric"] == "auc" else {}) for row in LEADERBOARD]
    assert "| – |" in markdown(rows, COMPARED, PARAMS)
    text = latex([row | {"mean": -row["mean"] if row["mean"] else None} for row in rows], COMPARED, PARAMS)
    assert text.count(r"\textbf") == 4 and text.isascii() and "& -- " in text and "& $-$0.2500 " in text


@pytest.mark.parametrize("text", ["a\\b", "{x}", "50 % & #1", "~^", "p < 0.05 | x", "Ä ½ ₂"])
def test_escaping_leaves_no_command_behind(text):
    assert escape(text).isascii()
    assert not re.search(r"(?<!\\)[&%#]", escape(text)) and escape("plain text.") == "plain text."


def test_the_stage_writes_every_form_and_defines_every_metric_of_the_tables(files):
    val = [row | {"fold": "val", "mean": 0.9} for row in LEADERBOARD]
    files.put("leaderboard.parquet", pa.Table.from_pylist(LEADERBOARD + val))
    files.put("significance.parquet", pa.Table.from_pylist(COMPARED))
    outputs = {"markdown": "l.md", "latex": "l.tex", "definitions_parquet": "d.parquet", "definitions_csv": "d.csv"}
    files.run(export.run, ["leaderboard.parquet", "significance.parquet"], outputs, **PARAMS)
    assert (files.folder / "l.md").read_text() == markdown(LEADERBOARD, COMPARED, PARAMS)
    assert (files.folder / "l.tex").read_text() == latex(LEADERBOARD, COMPARED, PARAMS)
    defined = files.get("d.parquet").to_pylist()
    assert [row["metric"] for row in defined] == METRICS and all(len(row["definition"]) > 30 for row in defined)
    assert (files.folder / "d.csv").read_text().startswith("metric,definition\nrecall@1,")
