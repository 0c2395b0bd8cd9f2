"""Text queries with judged items, in a file of the user's: read, checked, and what they leave unjudged flagged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, BinaryIO

import pyarrow as pa

from frostline.dataset import MISSING, Dataset
from frostline.errors import InputError, suggest
from frostline.tablefile import Column, open_file, require

COLUMNS = ("query", "item", "relevance")
NOT_RELEVANT, REPEATED = "judged_not_relevant", "repeated_judgement"
DEPTH = 10
"""A query with fewer judged items is flagged: what a system lists beside them was never looked at."""


def with_judgements(dataset: Dataset, file: BinaryIO, name: str) -> Dataset:
    """The same items, and judgements in place of interactions: `user` is a query's text, `weight` its item's relevance.

    The file is a table with the columns `query` (free text), `item` and `relevance` (a whole number, 0 for not relevant).

    A query is flagged as incomplete where fewer than `DEPTH` items are judged, where none is judged not relevant (then
    nobody seems to have looked further than what was found), or where none is relevant (then it counts nowhere).

    Raises
    ------
    InputError
        On an empty query, an unknown item, a relevance that is no whole number from 0 up, or a pair judged twice and
        differently; naming file, row, column and remedy.
    """
    source = open_file(file, name)
    for column in COLUMNS:
        require(source, column, "A file of judgements has the columns query, item and relevance")
    raw, row = source.read(list(COLUMNS))
    columns = {column: Column(raw[column], row, name, column) for column in COLUMNS}
    queries, items = (columns[column].ids().cast(pa.string()).to_pylist() for column in ("query", "item"))
    grades = columns["relevance"].numbers(missing=False).to_pylist()
    known = set(dataset.items["item_id"].to_pylist())
    judged: dict[tuple[str, str], tuple[float, int]] = {}
    dropped: Counter[str] = Counter()
    for query, item, grade, number in zip(queries, items, grades, row.tolist(), strict=True):
        place = {"file": name, "row": number}
        query = (query or "").strip()
        if query in MISSING:
            raise InputError("the query is empty", "Write its text or remove the row", **place, field="query")
        if item not in known:
            raise InputError(
                f"no item '{item}' in the catalogue", suggest(item or "", _close(item, known)), **place, field="item"
            )
        if grade < 0 or grade != int(grade):
            raise InputError(
                f"{grade:g} is no relevance", "Give a whole number from 0 (not relevant) up", **place, field="relevance"
            )
        before, first = judged.setdefault((query, item), (grade, number))
        if before != grade:
            raise InputError(
                f"'{item}' is judged {grade:g} for '{query}' here and {before:g} in row {first}",
                "Keep one of the two",
                **place,
                field="relevance",
            )
        if first != number:
            dropped[REPEATED] += 1
    relevant = [(query, item, grade, number) for (query, item), (grade, number) in judged.items() if grade > 0]
    if not relevant:
        raise InputError("judges no item relevant", "Give at least one with relevance 1", file=name)
    if len(relevant) < len(judged):
        dropped[NOT_RELEVANT] = len(judged) - len(relevant)
    table = pa.table(
        [pa.array(column) for column in zip(*relevant, strict=True)], names=["user", "item", "weight", "row"]
    )
    return replace(
        dataset,
        interactions=table,
        sources={**dataset.sources, "interactions": name},
        columns={**dataset.columns, "user": "query", "item": "item", "weight": "relevance"},
        dropped=dict(dropped),
        links=None,
        judgements=_report(judged),
    )


def _close(item: str | None, known: set[str]) -> list[str]:
    """Ids that begin like the unknown one, few enough to show."""
    start = (item or "")[:3].casefold()
    return sorted(name for name in known if name.casefold().startswith(start))[:20]


def _report(judged: dict[tuple[str, str], tuple[float, int]]) -> dict[str, Any]:
    n_judged = Counter(query for query, _ in judged)
    n_relevant = Counter(query for (query, _), (grade, _) in judged.items() if grade > 0)
    incomplete = []
    for query in sorted(n_judged):
        reasons = [
            *([f"only {n_judged[query]} items are judged"] if n_judged[query] < DEPTH else []),
            *(["no item is judged relevant"] if not n_relevant[query] else []),
            *(["no item is judged not relevant"] if n_relevant[query] == n_judged[query] else []),
        ]
        if reasons:
            incomplete.append({"query": query, "reason": "; ".join(reasons)})
    return {
        "queries": len(n_judged),
        "judged": len(judged),
        "relevant": n_relevant.total(),
        "queries_without_relevant": sum(not n_relevant[query] for query in n_judged),
        "incomplete": incomplete,
    }
