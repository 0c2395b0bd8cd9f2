"""Stage `report`: one self-contained page that a person reads, and can check.

This module gathers what the page says; `charts` and `dag` draw, `wording` and `numbers` write, and the template only
places. The page has no clock and fetches nothing; text from data is escaped everywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from frostline import __version__, definitions, numbers
from frostline.artifacts import Job
from frostline.report import charts, dag, evidence, wording
from frostline.report.significance import section

CHANCE = "constant"
"""The control whose figures are chance: it ties all candidates."""

WORST = ("failed", "warning", "not run", "passed")
"""Results of a check, the worst first."""

# Read now, because a running stage may open nothing but its declared inputs.
_FILES = (
    "template.html.j2",
    "significance.html.j2",
    "evidence.html.j2",
    "links.html.j2",
    "style.css",
    "sort.js",
)
_SOURCES = {name: (files(__name__) / name).read_text(encoding="utf-8") for name in _FILES}
_ENVIRONMENT = Environment(
    autoescape=True, loader=DictLoader(_SOURCES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.filters |= {
    "decimal": numbers.decimal,
    "count": numbers.count,
    "percent": numbers.percent,
    "probability": numbers.probability,
    "measure": definitions.measure,
    "reason": wording.reason,
    "listed": wording.listed,
    "no_place": wording.no_place,
    "zip": zip,
    "breakable": wording.breakable,
}
_ENVIRONMENT.globals |= {"mark": charts.mark, "version": __version__}

Row = Mapping[str, Any]
Board = Mapping[tuple[str, str], Row]
"""Rows of one fold of the leaderboard by system and metric, best system first."""


def run(job: Job) -> None:
    """Read the tables, `quality` and what `audit` wrote; write `page`. `calibration` and `reliability` need not be there."""
    rows, tuning = (job.read_table(name).to_pylist() for name in ("leaderboard", "tuning"))
    found = {name: job.read_json(name) for name in ("quality", "split", "lineage", "verdict")}
    names = ("significance", "variance", "strata", "beyond", "calibration", "reliability")
    further = {name: job.read_table(name).to_pylist() for name in names if name in job.inputs}
    job.write_text("page", render(rows, tuning, params=job.params, **found, **further))


def render(
    rows: Sequence[Row],
    tuning: Sequence[Row],
    quality: Row,
    split: Row,
    lineage: Row,
    verdict: Row,
    params: Row,
    significance: Sequence[Row],
    variance: Sequence[Row],
    strata: Sequence[Row] = (),
    beyond: Sequence[Row] = (),
    calibration: Sequence[Row] = (),
    reliability: Sequence[Row] = (),
) -> str:
    """The page as HTML.

    Parameters
    ----------
    rows : sequence of dict
        Rows of `tables/leaderboard.parquet`.
    tuning, significance, variance : sequence of dict
        Rows of `tables/{tuning,significance,variance}.parquet`.
    quality, split, lineage, verdict : dict
        What `ingest` and `audit` wrote. What `quality` lacks is left out.
    params : dict
        See `frostline.plan`.
    strata : sequence of dict
        Rows of `tables/strata.parquet`.
    beyond : sequence of dict
        Rows of `tables/beyond.parquet`.
    calibration, reliability : sequence of dict
        Rows of the tables of these names, if there are any.
    """
    boards = {fold: _board(rows, fold) for fold in params["folds"]}
    data = {
        "params": params,
        "verdict": verdict,
        "sentences": wording.sentences(verdict, params["words"]),
        "headline": wording.verdict_sentence(verdict, params["words"]),
        "subjects": _subjects(verdict),
        "facts": _facts(quality, split, params),
        "plots": _plots(boards["test"], verdict, params),
        "kinds": list(dict.fromkeys(row["kind"] for row in boards["test"].values())),
        "tables": {fold: _panels(board, verdict, params) for fold, board in boards.items() if board},
        "strata": evidence.strata_tables(strata, _systems(boards["test"]), params["words"]),
        "beyond": evidence.beyond_table(beyond, _systems(boards["test"]), _shown_k(params)),
        "calibration": evidence.calibration(
            calibration, reliability, _systems(boards["test"]), (wording.subject(verdict), verdict["baseline"])
        ),
        "left_out": {
            fold: numbers.span(row["n_excluded"] for row in board.values()) for fold, board in boards.items() if board
        },
        "notes": _notes(boards["test"]) + [(name, f"left out: {why}") for name, why in params["left_out"].items()],
        "significance": section(significance, variance, params),
        "choices": _choices(tuning),
        "summaries": split.get("summaries", {}),
        "held_out": _held_out(split.get("summaries", {})),
        "merges": _merges(split.get("summaries", {})),
        "timed": next((summary for summary in split.get("summaries", {}).values() if "temporal" in summary), None),
        "quality": quality,
        "pipeline": _pipeline(lineage),
        "definitions": definitions.definitions(params),
        "confidence": definitions.CONFIDENCE,
        "style": Markup(_SOURCES["style.css"]),
        "script": Markup(_SOURCES["sort.js"]),
        "script_digest": _digest(_SOURCES["sort.js"]),
    }
    return _ENVIRONMENT.get_template("template.html.j2").render(data)


def _digest(script: str) -> str:
    """What the page's security policy knows its own script by, so that no other can run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _board(rows: Iterable[Row], fold: str) -> Board:
    return {(row["system"], row["metric"]): row for row in rows if row["fold"] == fold}


def possible(board: Board, system: str, metric: str) -> float | None:
    """Share of the way from chance to the oracle; None where either is unknown."""
    oracle = next((name for (name, _), row in board.items() if row["kind"] == "oracle"), None)
    here, top, chance = (board.get((name, metric), {}).get("mean") for name in (system, oracle, CHANCE))
    if None in (here, top, chance) or top <= chance:
        return None
    return (here - chance) / (top - chance)


def _subjects(verdict: Row) -> list[dict]:
    """The audit by subject, each with the worst result among its checks, and every check with its detail."""
    return [
        part | {"result": min((check["result"] for check in part["checks"]), key=WORST.index)}
        for part in verdict["evidence"]
    ]


def _facts(quality: Row, split: Row, params: Row) -> list[tuple[str, str]]:
    """The size of the experiment, for the first screen."""
    summaries = list(split.get("summaries", {}).values())
    facts = [("interactions", numbers.count(quality.get("interactions", {}).get("kept")))]
    if summaries:
        facts.insert(0, ("users", numbers.span(summary["users"] for summary in summaries)))
        facts.insert(1, ("items", numbers.span(summary["items"] for summary in summaries)))
        for fold in params["folds"]:
            facts.append((params["words"][fold], numbers.span(s["folds"][fold][params["drawn"]] for s in summaries)))
        facts.append(("seeds" if len(summaries) > 1 else "seed", numbers.count(len(summaries))))
    return facts


def _plots(board: Board, verdict: Row, params: Row) -> list:
    """The leaderboard by the primary metric, for a screen and for a phone."""
    metric = params["primary"]
    dots = [
        charts.Dot(
            system=row["system"],
            kind=row["kind"],
            mean=row["mean"],
            sd=row["sd"],
            low=row["ci_low"],
            high=row["ci_high"],
            share=possible(board, row["system"], metric),
            scrambled=row["scrambled"],
            is_chosen=row["system"] == wording.subject(verdict),
        )
        for (_, name), row in board.items()
        if name == metric
    ]
    dots.sort(key=lambda dot: (dot.mean is None, -(dot.mean or 0), dot.system))
    chance = board.get((CHANCE, metric), {}).get("mean")
    title = f"{definitions.measure(metric)} of every system on {params['words']['test']}"
    frames = ((charts.WIDE, "wide"), (charts.NARROW, "narrow"))
    return [charts.leaderboard(dots, params["baseline"], chance, title, frame, name) for frame, name in frames]


def _panels(board: Board, verdict: Row, params: Row) -> list[dict]:
    """One table for each k: the measures cut at k, and those of the whole list beside them."""
    systems, shown = _systems(board), _shown_k(params)
    name, _, primary_k = params["primary"].partition("@")
    panels = []
    for k in params["k"]:
        cut = [f"{measure}@{k}" for measure in definitions.MEASURES]
        judged = f"{name}@{k}" if primary_k else params["primary"]
        rows = [_line(board, system, [*cut, *definitions.WHOLE_LIST], judged, verdict) for system in systems]
        _mark_best(rows)
        has_oracle = any(row["possible"] is not None for row in rows)
        panels.append(
            {"k": k, "cut": cut, "rows": rows, "judged": judged, "shown": k == shown, "has_oracle": has_oracle}
        )
    return panels


def _systems(board: Board) -> list[str]:
    return list(dict.fromkeys(system for system, _ in board))


def _shown_k(params: Row) -> int:
    """The cut-off of the primary metric, or the largest."""
    k = params["primary"].partition("@")[2]
    return int(k) if k else max(params["k"])


def _line(board: Board, system: str, metrics: Sequence[str], judged: str, verdict: Row) -> dict:
    any_row = next(row for (name, _), row in board.items() if name == system)
    return {
        "system": system,
        "kind": any_row["kind"],
        "is_chosen": system == verdict["chosen"],
        "is_baseline": system == verdict["baseline"],
        "n_queries": any_row["n_queries"],
        "cells": [_cell(metric, board.get((system, metric))) for metric in metrics],
        "possible": possible(board, system, judged),
        **{name: board.get((system, judged), {}).get(name) for name in ("scrambled", "bucket_low", "bucket_high")},
    }


def _cell(metric: str, row: Row | None) -> dict:
    cell = {
        "metric": metric,
        "is_best": False,
        **{name: row and row[name] for name in ("mean", "sd", "ci_low", "ci_high")},
    }
    is_wide = row and row["best"] is not None and row["best"] - row["worst"] > definitions.WIDE_TIES
    return cell | {"ties": (row["worst"], row["best"]) if is_wide else None}


def _mark_best(rows: Sequence[dict]) -> None:
    """Mark the best competitor of each column."""
    competing = [row["cells"] for row in rows if row["kind"] in ("system", "baseline")]
    for cells in zip(*competing, strict=True):
        defined = [cell for cell in cells if cell["mean"] is not None]
        if defined:
            max(defined, key=lambda cell: cell["mean"])["is_best"] = True


def _notes(board: Board) -> list[tuple[str, str]]:
    """Each note of the leaderboard once, with the systems that it is about."""
    about: dict[str, list[str]] = {}
    for (system, _), row in board.items():
        if row["note"] and system not in about.setdefault(row["note"], []):
            about[row["note"]].append(system)
    every = len({system for system, _ in board})
    return [("every system" if len(systems) == every else ", ".join(systems), note) for note, systems in about.items()]


def _choices(tuning: Sequence[Row]) -> list[tuple[str, str, str]]:
    """System, parameter and the chosen value in each seed, for the parameters that had several values to choose from."""
    points: dict[str, list[tuple[int, bool, dict]]] = {}
    for row in tuning:
        options = json.loads(row["donor_params"]) | json.loads(row["method_params"])
        points.setdefault(row["system"], []).append((row["seed"], row["chosen"], options))
    return [
        (
            system,
            name,
            ", ".join(f"{seed}: {wording.listed({name: o[name]})[0].partition(' = ')[2]}" for seed, o in chosen),
        )
        for system, found in points.items()
        for chosen in [[(seed, options) for seed, is_chosen, options in found if is_chosen]]
        for name in found[0][2]
        if len({repr(options[name]) for _, _, options in found}) > 1
    ]


def _held_out(summaries: Mapping[str, Row]) -> list[tuple[str, list[str]]]:
    """What a protocol's summary asks to be shown, with its figure in each seed."""
    shown = [dict(summary.get("shown", [])) for summary in summaries.values()]
    names = dict.fromkeys(name for facts in shown for name in facts)
    return [(name, [_figure(facts.get(name)) for facts in shown]) for name in names]


def _figure(value: Any) -> str:
    return numbers.count(value) if isinstance(value, int) else numbers.percent(value) if value is not None else "–"


def _merges(summaries: Mapping[str, Row]) -> list[tuple[list[str], list[Row]]]:
    """Merged strata, seeds with the same ones together."""
    groups: list[tuple[list[str], list[Row]]] = []
    for seed, summary in summaries.items():
        merges = summary.get("merges", [])
        same = next((seeds for seeds, known in groups if known == merges), None)
        if same is None:
            groups.append(([seed], merges))
        else:
            same.append(seed)
    return groups


def _pipeline(lineage: Row) -> dict[str, Any]:
    graph = lineage.get("graph", [])
    watched = {"interactions.parquet": "ingest"} | dict.fromkeys(dag.LABELS, "split")
    readers = {
        file: sorted(edge["target"] for edge in graph if edge["source"] == source and file in edge["files"])
        for file, source in watched.items()
    }
    picture = dag.draw(graph, "The stages of this run and the files between them") if graph else ""
    return {"picture": picture, "edges": graph, "readers": readers}
