"""The report: its numbers are those of the tables, its text is escaped, its bytes repeat, and it needs nothing else."""

import copy
import itertools
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frostline
from frostline import report
from frostline.definitions import measure
from frostline.links import Reference, resolve
from frostline.numbers import count, decimal, percent, span
from frostline.protocols.cold_items import ColdItems
from frostline.report import charts, dag, wording
from frostline.significance import COLUMNS

EVIL = "<script>alert(1)</script>"
SYSTEMS = {
    "oracle": "oracle",
    "als+linmap": "system",
    EVIL: "system",
    "grouped_popularity_personal": "baseline",
    "constant": "control",
    "random": "control",
}
LEVEL = dict(zip(SYSTEMS, (0.5, 0.3, 0.25, 0.1, 0.05, 0.049), strict=True))
SEEDS = [42, 43]
K = [1, 10]
CUT = [f"{name}@{k}" for k in K for name in ("recall", "precision", "map", "ndcg", "mrr", "hit_rate")]
PARAMS = {
    "experiment": EVIL,
    "protocol_name": "cold-items",
    "words": asdict(ColdItems.words),
    "drawn": "items",
    "adapter": "synthetic",
    "content": {EVIL: {"as": "categories"}},
    "split": {"kind": "stratified", "test": 0.2, "val": 0.1, "strata": ["category", "popularity"], "val_folds": 5},
    "donors": {"als": {"factors": 64, "regularization": 0.05}},
    "methods": {"als+linmap": {"alpha": 10.0}, EVIL: {EVIL: EVIL}},
    "systems": SYSTEMS,
    "left_out": {"ease+magnitude_scaling": f"needs <b>latent factors</b> {EVIL}"},
    "seeds": SEEDS,
    "replicates": "draws",
    "folds": ["val", "test"],
    "k": K,
    "primary": "ndcg@10",
    "baseline": "grouped_popularity_personal",
    "ties": "expected",
}
VERDICT = {
    "chosen": "als+linmap",
    "chosen_by_seed": {"42": "als+linmap", "43": "als+linmap"},
    "baseline": "grouped_popularity_personal",
    "metric": "ndcg@10",
    "chosen_mean": 0.2299546,
    "baseline_mean": 0.0891003,
    "difference": 0.1408543,
    "ci_low": 0.0898973,
    "ci_high": 0.1887016,
    "decision": "transfer",
    "hindsight": {"system": "als+linmap", "mean": 0.2299546, "gap": 0.0},
    "checks": {"cold items are not in train": True, "every file is what its provenance says": True},
    "warnings": {},
    "noninterference": "not run",
    "evidence": [
        {
            "subject": "The split",
            "checks": [{"name": "cold items are not in train", "result": "passed", "detail": "in every seed"}],
        },
        {
            "subject": "Lineage",
            "checks": [
                {"name": "every file is what its provenance says", "result": "passed", "detail": "for every file"}
            ],
        },
        {
            "subject": "Non-interference",
            "checks": [{"name": "labels change nothing", "result": "not run", "detail": "run it"}],
        },
    ],
    "trusted": ["The stage split.", f"The donor '{EVIL}'."],
}
SUMMARY = {
    "users": 2000,
    "queries": 1990,
    "items": 1198,
    "ineligible_items": 21,
    "strata": [],
    "merges": [
        {"bucket": 0, "stratum": EVIL, "into": "(other)"},
        {"bucket": 0, "stratum": "", "into": "(other)"},
        {"bucket": 1, "stratum": "art", "into": "music"},
    ],
    "folds": {
        fold: {
            "items": 838 + n,
            "interactions": 70000 + n,
            "interactions_of_users_without_history": 30 + n,
            "queries_with_relevant": 1800 + n,
        }
        for n, fold in enumerate(("warm", "val", "test"))
    },
}
SPLIT = {
    "checks": [{"name": "cold items are not in train", "result": "passed", "detail": "holds in every seed"}],
    "summaries": {"42": SUMMARY | {"seed": 42}, "43": SUMMARY | {"seed": 43, "ineligible_items": 22}},
}
GRAPH = [
    ("ingest", "split", ["interactions.parquet", "items.parquet"]),
    ("ingest", "audit", ["quality.json"]),
    ("split", "content", ["items.parquet"]),
    ("split", "fit_donor", ["train.parquet"]),
    ("split", "evaluate", ["queries.parquet", "test.parquet", "val.parquet"]),
    ("split", "audit", ["items.parquet", "test.parquet", "val.parquet"]),
    ("content", "score", ["test.npz"]),
    ("fit_donor", "score", ["donor.npz"]),
    ("score", "evaluate", ["scores.npy"]),
    ("evaluate", "select", ["pooled.json"]),
    ("evaluate", "audit", ["per_query.parquet"]),
    ("select", "audit", ["chosen.json"]),
]
GRAPH = [{"source": source, "target": target, "files": files} for source, target, files in GRAPH]
LINEAGE = {
    "checks": [
        {"name": "every file is what its provenance says", "result": "passed", "detail": "holds for every file"}
    ],
    "graph": GRAPH,
}
QUALITY = {
    "files": ["clicks.csv", EVIL],
    "interactions": {"read": 101234, "kept": 100000, "dropped": {"no_content": 1200, "repeated_pair": 33, EVIL: 1}},
    "items": {"read": 1201, "kept": 1200, "dropped": {"repeated_item": 1}, "without_interactions": 2},
    "users": 2001,
    "content": {EVIL: {"kind": "categories", "present": 600, "share": 0.5}},
    "time": {"first": "2019-01-01T23:41:03", "last": "2023-12-31T16:38:31", "missing": 7},
    "notes": [f"the separator was {EVIL}"],
    "suspicious": [f"every item is {EVIL}"],
    "examples": {"no_content": [{"file": "clicks.csv", "row": 1017, "value": EVIL}]},
}


def leaderboard_rows(systems=SYSTEMS, n_seeds=2):
    """Rows as `aggregate` writes them, with figures that are all different."""
    rng = random.Random(1)
    rows = []
    for fold, system, metric in itertools.product(PARAMS["folds"], systems, [*CUT, "auc", "auc_pooled", "relaimpr"]):
        mean = LEVEL[system] + rng.random() / 50 if metric != "relaimpr" else LEVEL[system] * 20 - 2
        has_interval = metric not in ("auc_pooled", "relaimpr")
        rows.append(
            {
                "system": system,
                "fold": fold,
                "metric": metric,
                "mean": mean,
                "sd": rng.random() / 100 if n_seeds > 1 else None,
                "ci_low": mean - rng.random() / 10 if has_interval else None,
                "ci_high": mean + rng.random() / 10 if has_interval else None,
                "n_seeds": n_seeds,
                "n_queries": 9803 if fold == "test" else 9054,
                "best": mean + rng.choice([0, 0.0004, 0.1]) if has_interval else None,
                "worst": mean - rng.choice([0, 0.0004, 0.02]) if has_interval else None,
                "bucket_low": mean * 0.2 if has_interval else None,
                "bucket_high": mean * 0.8 if has_interval else None,
                "scrambled": mean * 0.4 if has_interval and fold == "test" else None,
                "n_excluded": 1197,
                "kind": systems[system],
                "deterministic": False,
                "note": EVIL if system == "oracle" else "",
            }
        )
    return rows


ROWS = leaderboard_rows()


TUNING = [
    {"seed": seed, "system": "als+linmap", "donor_params": json.dumps({"factors": 64}), "chosen": chosen}
    | {"method_params": json.dumps({"alpha": alpha, "note": EVIL})}
    for seed, best in ((42, 10.0), (43, 0.5))
    for alpha in (0.5, 10.0)
    for chosen in [alpha == best]
]


STRATA = [
    {
        **{"system": system, "kind": SYSTEMS[system], "stratum": kind, "value": value, "metric": metric},
        "mean": 0.1 + number / 97 + at / 31 + (0 if low else 0.5),
        **{"sd": 0.01, "ci_low": low, "ci_high": low and 0.4},
        **{"low": 3 + at if kind == "popularity" else None, "high": 1009 if kind == "popularity" else None},
        **{"n_seeds": 2, "n_queries": 1234 + at, "n_relevant": 5678, "n_items": 77},
    }
    for kind, values in (("category", [EVIL, "drama"]), ("popularity", ["1", "2"]))
    for at, value in enumerate(values)
    for number, system in enumerate(SYSTEMS)
    for metric, low in (("ndcg@10", 0.05), ("auc", None))
]


BEYOND = [
    {"system": system, "kind": SYSTEMS[system], "metric": f"{name}@{k}", "mean": 0.2 + number / 97 + k / 31 + at / 13}
    | {"sd": 0.02, "n_seeds": 2, "n_queries": 9803, "reference": "0123456789ab ba9876543210"}
    | {"note": "content distance to the history" if name == "novelty" else ""}
    for number, system in enumerate(SYSTEMS)
    for k in K
    for at, name in enumerate(("coverage", "novelty"))
]


def compared_rows(systems=SYSTEMS, choice=True):
    """Rows as `significance` writes them, with figures that are all different."""
    rng = random.Random(2)
    baseline = PARAMS["baseline"]
    pairs = [("baseline", system, baseline) for system in systems if system != baseline]
    pairs += [("choice", "(choice)", system) for system in systems if choice and system != "als+linmap"]
    rows = []
    for metric, (comparison, system, reference) in itertools.product(["ndcg@10", "auc"], pairs):
        kind = systems[system if comparison == "baseline" else reference]
        competes = kind in ("system", "baseline")
        row = dict.fromkeys(COLUMNS) | {name: rng.random() for name in COLUMNS if name.endswith(("p_holm", "_p", "sd"))}
        row |= {name: rng.random() - 0.5 for name in ("difference", "ci_low", "ci_high", "detectable")}
        row |= {f"users_{name}": rng.random() - 0.5 for name in ("ci_low", "ci_high", "effect_size", "detectable")}
        row |= {name: rng.randrange(2000) for name in ("n_users", "users_wins", "users_ties", "users_losses")}
        row |= {} if competes else {name: None for name in COLUMNS if name.endswith("p_holm")}
        row |= {"metric": metric, "comparison": comparison, "system": system, "reference": reference, "kind": kind}
        rows.append(row | {"deterministic": False, "note": ""})
    return rows


COMPARED = compared_rows()
VARIANCE = [
    {"metric": "ndcg@10", "system": "(choice)", "reference": "grouped_popularity_personal", "factor": f, "share": share}
    for f, share in (("seeds", 0.1), ("users", 0.006), ("items", 0.894))
]
CALIBRATION = [
    {"system": system, "kind": SYSTEMS[system], "method": method, "metric": metric, "n_seeds": 2, "sd": 0.03}
    | {"mean": 0.05 + number / 97 + at / 13 + of / 29}
    for number, system in enumerate(SYSTEMS)
    for at, method in enumerate(("platt", "isotonic"))
    for of, metric in enumerate(("logloss", "brier", "ece"))
]
RELIABILITY = [
    {"system": system, "method": method, "bin": b, "predicted": b / 50, "observed": b / 40, "n": 100, "n_seeds": 2}
    for system in SYSTEMS
    for method in ("platt", "isotonic")
    for b in range(1, 11)
]


def render(**changed):
    given = {
        "calibration": CALIBRATION,
        "reliability": RELIABILITY,
        "beyond": BEYOND,
        "strata": STRATA,
        "rows": ROWS,
        "significance": COMPARED,
        "variance": VARIANCE,
        "tuning": TUNING,
        "quality": QUALITY,
        "split": SPLIT,
        "lineage": LINEAGE,
        "verdict": VERDICT,
        "params": PARAMS,
    }
    return report.render(**copy.deepcopy(given | changed))


VOID = {"meta", "link", "input", "wbr", "br"}


def plain(parts):
    """Text as a browser shows it: white space collapses, but narrow spaces stay."""
    return re.sub(r"[ \n]+", " ", "".join(parts)).strip()


class Page(HTMLParser):
    """A page as a list of elements: (tag, attributes, text inside). Complains about tags that do not nest."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self._open = [], []
        self.feed(html)
        self.close()
        assert not self._open, f"unclosed: {[tag for tag, *_ in self._open]}"

    def handle_starttag(self, tag, attributes):
        element = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag in ("td", "th"):
            self.handle_data(" ")
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        assert self._open and self._open[-1][0] == tag, f"</{tag}> closes {self._open[-1][0]}"
        self._open.pop()

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)

    def find(self, tag, **wanted):
        """Texts and attributes of the elements with these attributes; `class_` is one of the classes."""
        for name, attributes, text in self.elements:
            classes = (attributes.get("class") or "").split()
            if name == tag and all(
                value in classes if key == "class_" else attributes.get(key) == value for key, value in wanted.items()
            ):
                yield plain(text), attributes

    def text(self, tag, **wanted):
        return [text for text, _ in self.find(tag, **wanted)]


@pytest.fixture(scope="module")
def html():
    return render()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def boards(page):
    """Cells of the leaderboard's tables: {(fold, k, system, column): (text, attributes)}."""
    found, place = {}, None
    for tag, attributes, text in page.elements:
        if tag == "table":
            place = (attributes["data-fold"], int(attributes["data-k"])) if "data-fold" in attributes else None
        elif tag == "tr":
            system = attributes.get("data-system")
        elif tag == "td" and place and system:
            column = attributes.get("data-metric") or attributes["class"]
            assert (*place, system, column) not in found
            found[*place, system, column] = (plain(text), attributes)
    return found


def test_every_figure_of_the_tables_is_that_of_the_leaderboard(page):
    cells = boards(page)
    shown = 0
    for row in ROWS:
        name, _, k = row["metric"].partition("@")
        if name == "hit_rate":
            continue
        expected = decimal(row["mean"], signed=name == "relaimpr") + f" ± {decimal(row['sd'])}"
        if row["ci_low"] is not None:
            expected += f" [{decimal(row['ci_low'])}, {decimal(row['ci_high'])}]"
        if row["best"] is not None and row["best"] - row["worst"] > 0.001:
            expected += f" ties {decimal(row['worst'])}–{decimal(row['best'])}"
        for at in [int(k)] if k else K:
            text, attributes = cells.pop((row["fold"], at, row["system"], row["metric"]))
            assert text == expected
            assert float(attributes["data-value"]) == row["mean"]
            shown += 1
    assert shown == 2 * len(SYSTEMS) * len(K) * 8
    for (fold, k, system, column), (text, _) in cells.items():
        mean = {row["system"]: row["mean"] for row in ROWS if row["fold"] == fold and row["metric"] == f"ndcg@{k}"}
        share = (mean[system] - mean["constant"]) / (mean["oracle"] - mean["constant"])
        expected = {"possible": percent(share), "queries": "9,803" if fold == "test" else "9,054"}
        expected["scrambled"] = decimal(mean[system] * 0.4)
        expected["buckets"] = f"{decimal(mean[system] * 0.2)}–{decimal(mean[system] * 0.8)}"
        assert text == expected[column] and (fold == "test" or column not in ("scrambled", "buckets"))


def test_C13_every_system_has_its_figures_by_stratum(html, page):
    assert html.index("By popularity of the cold item") < html.index("By category of the cold item")
    for row in STRATA:
        cell = f"{decimal(row['mean'])} ± .0100 [.0500, .4000]"
        found = [element for element in page.elements if element[0] == "td" and plain(element[2]) == cell]
        assert bool(found) == (row["metric"] == "ndcg@10"), cell
    assert "3–1,009 relevant users an item" in html and "77 items, 1,235 queries, 5,678 relevant" in html
    assert "For which items" not in render(strata=[])


def test_P2_A5_what_lists_are_like_is_shown_at_the_primarys_k_with_the_space_that_they_are_measured_in(html, page):
    for row in BEYOND:
        cell = f"{decimal(row['mean'])} ± .0200"
        found = [element for element in page.elements if element[0] == "td" and plain(element[2]) == cell]
        assert bool(found) == row["metric"].endswith("@10"), cell
    assert "0123456789ab ba9876543210" in html and "on the same 9,803 queries" in html
    assert "What are the lists like" not in render(beyond=[])


def test_C12_calibration_is_shown_for_every_system_with_the_reliability_of_the_choice_and_the_baseline(html, page):
    for row in CALIBRATION:
        cell = f"{decimal(row['mean'])} ± .0300"
        assert any(element[0] == "td" and plain(element[2]) == cell for element in page.elements)
    dots = re.findall(r'<circle class="mark (\w+)" cx="([\d.]+)" cy="([\d.]+)" r="3.5"><title>(\w+): ', html)
    assert len(dots) == 2 * 2 * 10, "two systems, two methods, ten bins"
    across = [float(x) for kind, x, _, method in dots if (kind, method) == ("system", "platt")][:10]
    steps = {round(b - a, 0) for a, b in itertools.pairwise(across)}
    assert len(steps) == 1, "equal steps of the prediction are equal steps of the plot"
    assert "What does a score mean" not in render(calibration=[], reliability=[])


def test_the_best_competitor_is_marked_and_controls_and_oracle_do_not_compete(page):
    best = {key[:3] for key, (_, attributes) in boards(page).items() if attributes.get("class") == "best"}
    assert {system for _, _, system in best} <= {"als+linmap", EVIL, "grouped_popularity_personal"}
    assert ("test", 10, "als+linmap") in best


def test_the_verdict_stands_first_with_how_it_was_chosen(page):
    assert page.text("p", class_="verdict") == [
        "Use als+linmap: on items nobody has touched it gives NDCG@10 .230, .141 above grouped_popularity_personal "
        "(95\u202f% interval .090 to .189)."
    ]
    choice, hindsight = page.text("p", class_="lead")
    assert choice.endswith("on its own val-cold items, without a look at test: als+linmap in both seeds.")
    assert hindsight == "In hindsight, als+linmap is also the best on test, so choosing blindly cost nothing."
    assert page.text("p", class_="stamp") == ["2 of 2 audit checks passed"]
    tags = [attributes.get("id") for tag, attributes, _ in page.elements if tag == "section"]
    assert tags == [
        "verdict",
        "plot",
        "leaderboard",
        "significance",
        "strata",
        "beyond",
        "calibration",
        "audit",
        "split",
        "data",
        "pipeline",
        "method",
    ]


def lines_of(page, number):
    """Rows of the section's tables by their first cell."""
    tables = [n for n, (tag, a, _) in enumerate(page.elements) if tag == "table" and "significance" in a["class"]]
    rows = [plain(text) for tag, _, text in page.elements[tables[number] :] if tag == "tr"]
    return rows


def test_P4_every_comparison_stands_with_interval_and_corrected_p(page):
    told = "\n".join(lines_of(page, 0))
    for row in (row for row in COMPARED if row["metric"] == "ndcg@10"):
        interval = f"{decimal(row['ci_low'], signed=True)} to {decimal(row['ci_high'], signed=True)}"
        figures = f"{decimal(row['difference'], signed=True)} {interval} {decimal(row['p_holm'])}"
        assert figures in told
        assert (f"{figures} {decimal(row['detectable'])}" in told) == (row["comparison"] == "baseline")
    assert "the baseline" in told and "the choice of every seed" in told
    assert not any(decimal(row["difference"], signed=True) in told for row in COMPARED if row["metric"] == "auc")


def test_B7_tests_over_seeds_and_over_users_are_told_apart_and_labelled(page):
    told = "\n".join(lines_of(page, 1))
    assert "users, this split" in told and "seeds" in told
    for row in (row for row in COMPARED if row["metric"] == "ndcg@10"):
        names = ("seeds_p_holm", "corrected_p_holm")
        assert " ".join(decimal(row[name]) for name in names) in told
        names = ("users_p_holm", "users_randomisation_p_holm")
        assert " ".join(decimal(row[name]) for name in names) in told
        assert f"{row['users_wins']:,} / {row['users_ties']:,} / {row['users_losses']:,}" in told
    deterministic = [row | {"deterministic": True, "sd": 0.0, "seeds_p_holm": None} for row in COMPARED]
    assert "deterministic –" in "\n".join(lines_of(Page(render(significance=deterministic)), 1))


def test_the_shares_of_the_uncertainty_are_one_sentence_where_something_was_chosen(page):
    text = next(text for text, a in page.find("section") if a.get("id") == "significance")
    assert "89.4\u202f% to the items, 10.0\u202f% to the seeds and 0.6\u202f% to the users are due." in text
    others = [row | {"system": "als+linmap"} for row in VARIANCE]
    bare = Page(render(significance=compared_rows(choice=False), variance=others))
    text = next(text for text, a in bare.find("section") if a.get("id") == "significance")
    assert "are due" not in text and "what each seed chose" not in text.partition("Tests over the seeds")[0]


def verdict(**changed):
    return wording.verdict_sentence(VERDICT | changed, PARAMS["words"]).striptags()


def test_the_verdict_says_keep_when_the_interval_holds_zero():
    told = verdict(decision="baseline", difference=0.0027, ci_low=-0.0101, ci_high=0.0204)
    assert told == (
        "Keep grouped_popularity_personal: on items nobody has touched als+linmap gives NDCG@10 .230, .003 above "
        "grouped_popularity_personal (95 % interval −.010 to .020, which does not exclude zero)."
    )
    told = verdict(decision="baseline", difference=-0.02, ci_low=-0.03, ci_high=-0.01)
    assert ".020 below grouped_popularity_personal (95 % interval −.030 to −.010)." in told
    assert "level with" in verdict(decision="baseline", difference=0.0001, ci_low=-0.01, ci_high=0.01)


def test_the_verdict_says_so_when_every_seed_chose_the_baseline_or_the_seeds_disagree():
    baseline = VERDICT["baseline"]
    told = verdict(decision="baseline", chosen=baseline, chosen_by_seed={"42": baseline}, chosen_mean=0.0891)
    assert told == (
        "Keep grouped_popularity_personal: nothing did better on val-cold items. On items nobody has touched it gives "
        "NDCG@10 .089."
    )
    assert "touched what each seed chose gives" in verdict(chosen_by_seed={"42": "als+linmap", "43": "als+knn"})
    told = wording.choice_sentence(
        VERDICT | {"chosen_by_seed": {"1": "b", "2": "a", "3": "b"}}, PARAMS["words"]
    ).striptags()
    assert told.endswith("b in seeds 1, 3; a in seed 2.")


@pytest.mark.parametrize(
    ("gap", "told"),
    [
        (0.0051, "In hindsight als+knn would have given .235 on test, .005 more: the price of choosing blindly."),
        (
            0.0001,
            "In hindsight als+knn would have given .235 on test, less than .001 more: the price of choosing blindly.",
        ),
        (-0.002, "In hindsight no single system does better on test: the best of them, als+knn, gives .235."),
    ],
)
def test_hindsight_tells_the_price_of_choosing_blindly(gap, told):
    hindsight = {"system": "als+knn", "mean": 0.235, "gap": gap}
    assert wording.hindsight_sentence(VERDICT | {"hindsight": hindsight}).striptags() == told


def test_a_failed_check_is_on_the_first_screen_with_its_detail():
    found = [
        {"name": "strata", "result": "failed", "detail": f"seed 43: {EVIL}"},
        {"name": "donors", "result": "warning", "detail": "unverified donor"},
        {"name": "fine", "result": "passed", "detail": "holds"},
    ]
    changed = {
        "checks": VERDICT["checks"] | {"strata": False, "donors": True, "fine": True},
        "warnings": {"donors": "unverified donor"},
        "evidence": [*VERDICT["evidence"], {"subject": "More", "checks": found}],
    }
    page = Page(render(verdict=VERDICT | changed))
    assert page.text("p", class_="stamp") == ["3 of 5 audit checks passed, 1 warning"]
    assert list(page.find("aside", class_="failed")) and not list(page.find("aside", class_="passed"))
    assert page.text("li", class_="failed") == [
        f"failed: More failed: strata. seed 43: {EVIL} warning: donors. unverified donor"
    ]
    assert len(page.text("li", class_="passed")) == 2
    assert page.text("p", class_="warning") == ["1 audit check failed: do not rely on the figures until it passes."]
    assert page.text("tr", class_="failed") == [f"strata failed seed 43: {EVIL}"]


def test_the_first_screen_says_what_was_not_run_and_what_is_trusted(page):
    assert page.text("li", class_="not-run") == ["not run: Non-interference not run: labels change nothing. run it"]
    assert page.text("p", class_="trusted") == ["The stage split.", f"The donor '{EVIL}'."]
    assert list(page.find("aside", class_="passed"))


def test_text_from_data_and_config_is_escaped_wherever_it_is_shown(html, page):
    assert EVIL not in html
    assert html.count("<script>") == html.count("</script>") == 1
    shown = "".join(data for tag, _, text in page.elements if tag == "body" for data in text)
    # System, experiment, notes, file, dropped reason, content field, example, stratum, parameters.
    assert shown.count("alert(1)") >= 9
    policy = next(a["content"] for _, a in page.find("meta", **{"http-equiv": "Content-Security-Policy"}))
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy


def test_the_script_is_the_one_that_the_policy_allows(html):
    script = re.search("<script>(.*?)</script>", html, re.DOTALL)[1]
    assert f"script-src '{report._digest(script)}'" in html


def test_the_page_is_one_file_that_needs_nothing_else(html, page):
    assert not re.search(r"https?:|//\w|@import|\burl\((?!#)|\bsrc=", html)
    links = [a[key] for _, a, _ in page.elements for key in ("href", "xlink:href") if key in a]
    assert all(link == "data:," or link.startswith("#") for link in links)
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = {link[1:] for link in links if link.startswith("#")} | {a["for"] for _, a in page.find("label")}
    named |= {a[key] for _, a in page.find("svg") for key in ("aria-labelledby", "aria-describedby") if key in a}
    assert named <= set(ids)


def test_every_panel_is_in_the_page_and_shown_without_script(html):
    for fold, k in itertools.product(("test", "val"), K):
        assert f"#k-{fold}-{k}:checked ~ .panel-{k}" in html
        assert html.count(f'id="k-{fold}-{k}"') == 1
    assert html.count(" checked>") == 2


def test_what_was_read_kept_and_dropped_is_told_by_reason(page):
    assert page.text("tr", class_="dropped") == [
        "dropped: the item has no content 1,200",
        "dropped: the same user and item again, joined into one interaction 33",
        f"dropped: {EVIL} 1",
        "dropped: the same item again, with the same content 1",
    ]
    assert page.text("tr", class_="kept") == ["kept 100,000", "kept 1,200"]
    section = next(text for text, a in page.find("section") if a.get("id") == "data")
    for told in ("101,234", "1,201", "2,001", "50.0\u202f%", "2019-01-01 to 2023-12-31, unknown for 7", "row 1,017"):
        assert told in section
    assert "Nothing had to be dropped" not in section


def test_the_split_of_each_seed_is_counted_and_equal_merges_are_told_once(page):
    section = next(text for text, a in page.find("section") if a.get("id") == "split")
    assert "42 2,000 1,990 21 838 70,000 839 70,001 1,801 31 840 70,002 1,802 32" in section
    assert "3 merges in seeds 42, 43:" in section
    assert f"(other) / 0 takes {EVIL}, (none)" in section and "music / 1 takes art" in section


def test_A2_A3_A9_links_and_judgements_are_told_with_what_led_nowhere():
    links = resolve(
        [Reference("A", EVIL, "f.csv", 7), Reference("A", "B"), Reference("B", "A"), Reference("B", "B")], ["A", "B"]
    )
    told = {
        "links": links.report | {"repeated_keys": {EVIL: ["f.csv, row 2", "f.csv, row 3"]}, "collisions": [["x", EVIL]]}
    }
    section = next(text for text, a in Page(render(quality=QUALITY | told)).find("section") if a.get("id") == "data")
    assert "2 of 4 references lead to another item (50" in section and "2 links of 2 items, or 1 pairs" in section
    assert f"A → {EVIL} (f.csv, row 7)" in section and "1 unresolved: the item refers to itself" in section
    assert f"x and {EVIL}" in section and f"{EVIL}: f.csv, row 2; f.csv, row 3" in section
    judged = {
        "queries": 3,
        "judged": 9,
        "relevant": 4,
        "incomplete": [{"query": EVIL, "reason": "only 2 items are judged"}],
    }
    section = next(
        text
        for text, a in Page(render(quality=QUALITY | {"judgements": judged})).find("section")
        if a.get("id") == "data"
    )
    assert "9 judgements of 3 texts, 4 of them relevant" in section and f"{EVIL}: only 2 items are judged" in section


def test_C9_a_split_by_time_shows_both_sides_of_its_cuts_and_what_they_leave():
    period = {"interactions": 40_001, "users": 501, "new_users": 402, "items": 303, "new_items": 204}
    cut = {
        "t1": "2020-05-01T00:00:00",
        "t2": "2021-07-02T03:04:05",
        "left_out": {"unknown_time": 1_288, "warm_item_after_t1": 0, "val_item_after_t2": 77},
        "placeholders": [{"time": "1980-01-01T00:00:00", "interactions": 1_648}],
        "items_left_out": 4,
        "periods": [{name: value * n for name, value in period.items()} for n in (1, 2, 3)],
    }
    timed = {name: value for name, value in SUMMARY.items() if name != "ineligible_items"}
    timed |= {"temporal": cut, "merges": []}
    split = SPLIT | {"summaries": {"42": timed | {"seed": 42}, "43": timed | {"seed": 43}}}
    page = Page(render(split=split, params=PARAMS | {"replicates": "models"}))
    section = next(text for text, a in page.find("section") if a.get("id") == "split")
    assert "up to T1 (2020-05-01 00:00:00), val-cold if up to T2 (2021-07-02 03:04:05)" in section
    # Files of 838, 839 and 840 of 1,198 items; 1,990, 1,801 and 1,802 of 2,000 users are asked.
    assert "up to T1 40,001 501 402 303 204 69.9 % 69,970 1,990 99.5 %" in section
    assert "T1 to T2 80,002 1,002 804 606 408 70.0 % 69,970 1,801 90.0 %" in section
    assert "after T2 120,003 1,503 1,206 909 612 70.1 % 69,970 1,802 90.1 %" in section
    assert (
        "1,288 interactions at an unknown time" in section and "77 interactions after T2 with val-cold items" in section
    )
    assert "0 interactions" not in section and "1,648 of these are dated 1980-01-01 00:00:00" in section
    assert "Too rare" not in section and "Strata that were too small" not in section
    method = next(text for text, a in page.find("section") if a.get("id") == "method")
    assert "seeds vary the model only" in method and "bootstrap over users and items" in method
    assert "drawn with replacement" not in method


def test_what_is_absent_is_left_out():
    quality = {"interactions": {"kept": 100000}}
    bare = {name: kind for name, kind in SYSTEMS.items() if kind not in ("oracle", "control")}
    rows = [row for row in leaderboard_rows(bare, n_seeds=1) if row["fold"] == "test"]
    for row in rows:
        if row["system"] == EVIL and row["metric"] in ("ndcg@10", "relaimpr"):
            row |= {"mean": None, "sd": None, "ci_low": None, "ci_high": None, "best": None, "worst": None}
    page = Page(render(rows=rows, quality=quality, split={"checks": []}, lineage={"checks": [], "graph": []}))
    cells = boards(page)
    assert cells["test", 10, EVIL, "ndcg@10"][0] == "–" and cells["test", 10, EVIL, "relaimpr"][0] == "–"
    assert not any(column == "possible" for *_, column in cells)
    assert "±" not in cells["test", 10, "als+linmap", "ndcg@10"][0]
    assert not list(page.find("svg", class_="dag"))


@pytest.mark.parametrize("primary", ["auc", "hit_rate@1", "precision@10"])
def test_any_metric_can_be_primary(primary):
    page = Page(render(params=PARAMS | {"primary": primary}, verdict=VERDICT | {"metric": primary}))
    assert measure(primary) in page.text("p", class_="verdict")[0]
    mean = next(r["mean"] for r in ROWS if (r["system"], r["fold"], r["metric"]) == ("oracle", "test", primary))
    assert decimal(mean, 3) in page.text("text", class_="value")


def test_the_plot_shows_every_system_in_order_at_its_place(page):
    rows = sorted((r for r in ROWS if (r["fold"], r["metric"]) == ("test", "ndcg@10")), key=lambda row: -row["mean"])
    for frame, name in ((charts.WIDE, "wide"), (charts.NARROW, "narrow")):
        start = next(i for i, (t, a, _) in enumerate(page.elements) if t == "svg" and name in (a.get("class") or ""))
        stop = next(i for i in range(start + 1, len(page.elements)) if page.elements[i][0] in ("svg", "figcaption"))
        plot = page.elements[start:stop]
        labels = ["".join(text) for tag, a, text in plot if tag == "text" and "label" in (a.get("class") or "")]
        assert labels == [charts.shorten(row["system"], 34 if frame.is_narrow else 27) for row in rows]
        values = ["".join(text) for tag, a, text in plot if tag == "text" and a.get("class") == "value"]
        assert values == [decimal(row["mean"], 3) for row in rows]
        extent = [v for r in rows for v in (r["ci_low"], r["ci_high"], r["mean"] - r["sd"], r["mean"] + r["sd"])]
        axis = charts.axis_over(extent, frame.left, frame.width - frame.right, 4 if frame.is_narrow else 6)
        drawn = [float(a["cx"]) for tag, a, _ in plot if tag == "circle"]
        assert drawn == pytest.approx([axis(r["mean"]) for r in rows if r["kind"] == "system"], abs=0.06)
        bars = [(float(a["x"]), float(a["width"])) for tag, a, _ in plot if tag == "rect" and "sd" in a["class"]]
        expected = [(axis(r["mean"] - r["sd"]), axis(r["mean"] + r["sd"]) - axis(r["mean"] - r["sd"])) for r in rows]
        assert bars == [pytest.approx(pair, abs=0.06) for pair in expected]
        lines = [a["d"] for tag, a, _ in plot if tag == "path" and "interval" in a["class"]]
        ends = [[float(end) for end in re.match(r"M(\S+) \S+H([\d.-]+)", line).groups()] for line in lines]
        assert ends == [pytest.approx([axis(r["ci_low"]), axis(r["ci_high"])], abs=0.06) for r in rows]
        reference = {a["class"]: a["d"] for tag, a, _ in plot if tag == "path" and "reference" in a["class"]}
        for kind, system in (("baseline", "grouped_popularity_personal"), ("chance", "constant")):
            x = axis(next(row["mean"] for row in rows if row["system"] == system))
            assert float(re.match(r"M(\S+)", reference[f"reference {kind}"])[1]) == pytest.approx(x, abs=0.06)


finite = st.floats(-3, 3, allow_nan=False).map(lambda value: round(value, 6))


@given(st.lists(finite, max_size=5), st.integers(2, 8))
def test_the_axis_holds_every_value_and_zero_between_round_ticks(values, about):
    axis = charts.axis_over(values, 10, 110, about)
    assert 2 <= len(axis.ticks) <= about + 3
    step = axis.ticks[1] - axis.ticks[0]
    for value in [*values, 0.0]:
        assert axis.ticks[0] - 1e-6 * step <= value <= axis.ticks[-1] + 1e-6 * step
        assert 10 - 1e-3 <= axis(value) <= 110 + 1e-3
    assert len({decimal(tick, axis.decimals) for tick in axis.ticks}) == len(axis.ticks)


def test_held_out_interactions_have_arrows_of_their_own(page):
    edges = dag.edges_of(GRAPH)
    held_out = {(edge.source, edge.target): edge.files for edge in edges if edge.is_label}
    both = ("test.parquet", "val.parquet")
    assert held_out == {("split", "evaluate"): both, ("split", "audit"): both}
    assert len(page.text("path", class_="held-out")) == 2
    assert len(page.text("path", class_="edge")) == len(edges)
    section = next(text for text, a in page.find("section") if a.get("id") == "pipeline")
    assert "interactions.parquet was read by split alone" in section
    assert "test.parquet was read by audit and evaluate alone" in section


def test_a_label_that_reaches_a_model_is_drawn_and_told():
    leak = {"source": "split", "target": "fit_donor", "files": ["test.parquet", "train.parquet"]}
    graph = [leak if (e["source"], e["target"]) == ("split", "fit_donor") else e for e in GRAPH]
    page = Page(render(lineage=LINEAGE | {"graph": graph}))
    assert len(page.text("path", class_="held-out")) == 3
    section = next(text for text, a in page.find("section") if a.get("id") == "pipeline")
    assert "test.parquet was read by audit, evaluate and fit_donor alone" in section


def test_stages_stand_in_layers_by_their_longest_path():
    layer = dag.layers_of(dag.edges_of(GRAPH))
    assert [stage for stage, _ in sorted(layer.items(), key=lambda item: (item[1], item[0]))] == [
        "ingest",
        "split",
        *("content", "fit_donor"),
        *("score", "evaluate", "select", "audit"),
    ]
    assert layer["content"] == layer["fit_donor"] == 2 and layer["audit"] == 6


pairs = st.lists(
    st.tuples(*[st.sampled_from("abcdefg")] * 2).filter(lambda pair: pair[0] != pair[1]), min_size=1, unique=True
)


@given(pairs)
def test_any_graph_can_be_drawn_even_with_circles(pairs):
    graph = [{"source": a, "target": b, "files": [f"{a}{b}.npz"]} for a, b in pairs]
    edges = dag.edges_of(graph)
    layer, lanes = dag.layers_of(edges), dag.lanes_of(edges, dag.layers_of(edges))
    assert all((layer[e.source] < layer[e.target]) != e.is_back for e in edges)
    taken = [(e.is_back, lane, n) for e, lane in lanes.items() for n in dag._passed(e, layer)]
    assert len(taken) == len(set(taken)), "two edges share a lane"
    drawn = str(dag.draw(graph, "title"))
    page = Page(drawn)
    assert page.text("text", class_="file") == [
        file for e in sorted(edges, key=lambda e: e.is_label) for file in e.files
    ]
    boxes = [tuple(float(a[key]) for key in ("x", "y", "width", "height")) for _, a in page.find("rect")]
    for (x, y, w, h), (x2, y2, w2, h2) in itertools.combinations(boxes, 2):
        assert x + w < x2 or x2 + w2 < x or y + h < y2 or y2 + h2 < y, "two stages overlap"
    width, height = map(float, next(a["viewbox"] for _, a in page.find("svg")).split()[2:])
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (decimal(0.22996), ".2300"),
        (decimal(1.28130), "1.2813"),
        (decimal(0.99999), "1.0000"),
        (decimal(-0.0000001), ".0000"),
        (decimal(-1.078), "−1.0780"),
        (decimal(0.8649, signed=True), "+.8649"),
        (decimal(0.0, signed=True), ".0000"),
        (count(1234567), "1,234,567"),
        (percent(1.0), "100\u202f%"),
        (percent(0.9999), "> 99.9\u202f%"),
        (percent(0.0004), "< 0.1\u202f%"),
        (percent(-0.0004, 0), "0\u202f%"),
        (percent(-0.036), "−3.6\u202f%"),
        (span([240, 239, 240]), "239–240"),
        (span([1200]), "1,200"),
        (decimal(None) + count(None) + percent(None), "–––"),
    ],
)
def test_numbers_are_written_alike(text, expected):
    assert text == expected


def test_the_stage_runs_guarded_from_its_declared_files_and_repeats_its_bytes(files):
    for name, value in {"quality": QUALITY, "split": SPLIT, "lineage": LINEAGE, "verdict": VERDICT}.items():
        files.put(f"{name}.json", value)
    files.put("leaderboard.parquet", pa.Table.from_pylist(ROWS))
    files.put("tuning.parquet", pa.Table.from_pylist(TUNING))
    files.put("strata.parquet", pa.Table.from_pylist(STRATA))
    files.put("beyond.parquet", pa.Table.from_pylist(BEYOND))
    files.put("significance.parquet", pa.Table.from_pylist(COMPARED))
    files.put("variance.parquet", pa.Table.from_pylist(VARIANCE))
    files.put("calibration.parquet", pa.Table.from_pylist(CALIBRATION))
    files.put("reliability.parquet", pa.Table.from_pylist(RELIABILITY))
    inputs = [
        *(
            f"{n}={n}.parquet"
            for n in (
                "leaderboard",
                "significance",
                "variance",
                "tuning",
                "strata",
                "beyond",
                "calibration",
                "reliability",
            )
        ),
        *(f"{n}={n}.json" for n in ("quality", "split", "lineage", "verdict")),
    ]
    program = (
        "import sys; from frostline.cli import main; code = main();"
        "assert not {'matplotlib', 'scipy', 'sklearn'} & set(sys.modules); sys.exit(code)"
    )
    parameters, pages = ["--params", json.dumps(PARAMS)], []
    for seed in ("1", "2"):
        subprocess.run(
            [
                sys.executable,
                "-c",
                program,
                "report",
                "--input",
                *inputs,
                "--output",
                f"page={seed}/index.html",
                *parameters,
            ],
            cwd=files.folder,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(frostline.__file__).parents[1])},
            check=True,
        )
        pages.append((files.folder / seed / "index.html").read_bytes())
    assert pages[0] == pages[1]
    assert len(pages[0]) < 300_000


def test_what_the_grids_chose_is_shown_and_what_had_no_choice_is_not():
    text = render()
    assert "42: 10, 43: 0.5" in text and "What the grids chose" in text
    assert text.count("42: 10, 43: 0.5") == 1 and "42: 64" not in text
    assert "What the grids chose" not in render(tuning=[])


@pytest.mark.parametrize("meta_users", ["shared", "disjoint", "crossfit"])
def test_C7_the_page_says_whose_labels_taught_a_meta_method(meta_users):
    split = PARAMS["split"] | {"meta_users": meta_users}
    assert f"meta_users: {meta_users}" in render(params=PARAMS | {"learns": True, "split": split})
    assert "Meta-methods" not in render(params=PARAMS | {"learns": False, "split": split})
