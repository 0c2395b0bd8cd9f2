"""related-items: which items belong with this one?

A query is an item, or a text; candidates are the whole catalogue but the item itself and what it is known to be linked with;
relevant are its links. There is no val fold, so nothing is chosen here and the config names the system to judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.arbitrary import a_candidate_each
from frostline.artifacts import Job
from frostline.errors import InputError
from frostline.folds import TEST, WARM
from frostline.protocol import Protocol, Wording
from frostline.query_checks import query_checks
from frostline.seeds import generator

IDENTICAL, DIFFERENT = "identical", "different"


@dataclass(frozen=True)
class RelatedItems(Protocol):
    """Options.

    Parameters
    ----------
    lens : {'links', 'held_out_links', 'judged'}
        What is relevant: all links, as the items refer to each other; the links that were held out, for both their ends,
        the others being known; or what was judged relevant for the texts of a file.
    held_out : float
        Share of the links that `held_out_links` holds out, about: items are drawn by the seed, and the links between two
        drawn items are held out. So what is held out does not depend on which items these links join.
    known_links : {'filtered', 'kept'}
        Whether the links that are known are no candidates, or compete with those that are to be found.
    """

    lens: Literal["links", "held_out_links", "judged"] = "links"
    held_out: float = 0.3
    known_links: Literal["filtered", "kept"] = "filtered"

    baselines: ClassVar = ("tfidf",)
    has_val: ClassVar = False
    needs_content: ClassVar = True
    drawn: ClassVar = "links"
    words: ClassVar = Wording(
        question="Each item with a link is a query, or each text that was judged. Candidates are all items of the catalogue "
        "but itself and those that it is known to be linked with, never a sample. Relevant are its links, R.",
        untouched="on the catalogue’s links",
        intro="For each item the rest of the catalogue is ranked, and its links should come first.",
        candidate="linked item",
        candidates="items",
        test="links",
        val="links",
        relevant="links an item",
        user="query",
        active="items",
        takes="the item is linked with the query",
        fixed="the links are the same in every seed",
        together="all links",
        rewired="other links",
        trusted=", and that its links were not written by looking at the texts",
    )

    def __post_init__(self) -> None:
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must be a share between 0 and 1, not {self.held_out}")

    @property
    def replicates(self) -> str:
        return "draws" if self.lens == "held_out_links" else "models"

    def split_params(self, content: Mapping[str, Mapping], seeds: tuple[int, ...], seed: int | None) -> dict[str, Any]:
        return {"texts": [name for name, field in content.items() if field["as"] == "text"]}

    def split(self, job: Job) -> None:
        interactions, catalogue = job.read_table("interactions"), job.read_table("catalogue")
        item_ids = catalogue["item_id"].combine_chunks()
        target = pc.index_in(interactions["item"], item_ids).to_numpy()
        known = np.zeros((2, 0), np.int64)
        if self.lens == "judged":
            names = pc.unique(interactions["user"]).sort()
            query, own = pc.index_in(interactions["user"], names).to_numpy(), None
        else:
            source = pc.index_in(interactions["user"], item_ids).to_numpy()
            pairs = np.stack([source, target])
            if self.lens == "held_out_links":
                pairs, known = self.hold_out(pairs, len(item_ids), job.params["seed"])
            own, query = np.unique(pairs[0], return_inverse=True)
            target, names = pairs[1], item_ids.take(pa.array(own))
        if not len(query):
            raise InputError("no link is left to be found", "Hold out a larger share, or use more links")
        texts = _texts(catalogue, job.params["texts"])
        alike = np.zeros(len(query), bool) if own is None else texts[own[query]] == texts[target]
        job.write_table("items", pa.table({"item_id": item_ids, "fold": pa.array([WARM] * len(item_ids))}))
        job.write_table("queries", pa.table({"query": names}))
        job.write_table(TEST, _labels(query, target, alike))
        itself = np.zeros((2, 0), np.int64) if own is None else np.stack([np.arange(len(own)), own])
        row = np.full(len(item_ids), -1)
        row[itself[1]] = itself[0]
        links_of_queries = np.stack([row[known[0]], known[1]])
        known_pairs = links_of_queries[:, links_of_queries[0] >= 0]
        barred = itself if self.known_links == "kept" else np.concatenate([itself, known_pairs], axis=1)
        job.write_table("history_test", _pairs(*itself))
        job.write_table("excluded_test", _pairs(*barred[:, np.lexsort(barred[::-1])]))
        train = _pairs(*links_of_queries).append_column("source", pa.array(known[0], pa.int32()))
        job.write_table("train", train)
        links = {WARM: len(known[0]) // 2, TEST: len(query)}
        job.write_table(
            "strata",
            pa.table({
                "item": pa.array(np.arange(len(item_ids)), pa.int32()),
                "bucket": pa.array(np.full(len(item_ids), -1), pa.int32()),
            }),
        )  # fmt: skip
        shown = [
            ("items of the catalogue", len(item_ids)),
            ("queries", len(names)),
            ("relevant links", len(query)),
            ("of these between identical texts", int(alike.sum())),
            (f"known links, {self.known_links} among the candidates", links[WARM]),
        ]
        common = {"items": len(item_ids), "queries_with_relevant": len(names)}
        folds = {fold: {"links": count, **common} for fold, count in links.items()}
        summary = {"seed": job.params["seed"], "users": len(names), "items": len(item_ids), "queries": len(names)}
        job.write_json("summary", summary | {"references": len(interactions), "folds": folds, "shown": shown})

    def hold_out(self, pairs: np.ndarray, n_items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The links that are held out and those that are known, each for both its ends; int, shape (2, n)."""
        linked = np.unique(pairs)
        drawn = np.zeros(n_items, bool)
        n_drawn = round(math.sqrt(self.held_out) * len(linked))
        drawn[generator(seed, "split", "links").permutation(linked)[:n_drawn]] = True
        both = np.unique(np.concatenate([pairs, pairs[::-1]], axis=1), axis=1)
        is_held = drawn[both[0]] & drawn[both[1]]
        return both[:, is_held], both[:, ~is_held]

    def split_checks(self, job: Job, seed: int, n_kept: int) -> dict[str, str]:
        n_read = job.read_json(f"summary[{seed}]")["references"]
        lost = "" if n_read == n_kept else f"{n_read} of {n_kept} links were divided"
        return query_checks(job, seed, (TEST,)) | {"no link is lost": lost}

    def rewire(self, job: Job) -> None:
        """The held-out links join other items, each query and each linked item having as many as before."""
        interactions, items = job.read_table("interactions"), job.read_table("items")
        item_ids, rng = items["item_id"].combine_chunks(), generator(job.params["seed"], "rewire")
        names = pc.unique(pa.concat_arrays([item_ids, interactions["user"].combine_chunks()]))
        source = pc.index_in(interactions["user"], names).to_numpy()
        target = pc.index_in(interactions["item"], names).to_numpy(zero_copy_only=False).copy()
        held = np.ones(len(source), bool)
        if self.lens == "held_out_links":
            found, _ = self.hold_out(np.stack([source, target]), len(item_ids), job.params["seed"])
            held = np.isin(source * len(names) + target, found[0] * len(names) + found[1])
        one_way = held & ~np.isin(source * len(names) + target, target * len(names) + source)
        target = _swapped(source, target, np.flatnonzero(one_way), len(names), rng)
        column = interactions.column_names.index("item")
        table = interactions.set_column(column, "item", names.take(pa.array(target)))
        job.write_table("interactions", table.sort_by([("user", "ascending"), ("item", "ascending")]))

    def relabel(self, job: Job) -> None:
        """A candidate at random for every query."""
        drawn = a_candidate_each(job)
        job.write_table(TEST, _labels(np.arange(len(drawn)), drawn, np.zeros(len(drawn), bool)))


def _swapped(source: np.ndarray, target: np.ndarray, rows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Exchange targets between pairs of `rows` where neither becomes a link to itself or one that is there, either way."""
    target = target.copy()
    joined = {(min(a, b), max(a, b)) for a, b in zip(source.tolist(), target.tolist(), strict=True)}
    for _ in range(10):
        for first, second in rng.permutation(rows)[: len(rows) // 2 * 2].reshape(-1, 2).tolist():
            a, b, t, u = (int(v) for v in (source[first], source[second], target[first], target[second]))
            new = [(min(a, u), max(a, u)), (min(b, t), max(b, t))]
            if len({a, b, t, u}) == 4 and not any(pair in joined for pair in new):
                joined -= {(min(a, t), max(a, t)), (min(b, u), max(b, u))}
                joined |= set(new)
                target[first], target[second] = u, t
    return target


def _texts(catalogue: pa.Table, names: list[str]) -> np.ndarray:
    columns = [catalogue[name].to_pylist() for name in names]
    return np.array(["\0".join(value or "" for value in line) for line in zip(*columns, strict=True)], dtype=object)


def _pairs(query: np.ndarray, item: np.ndarray) -> pa.Table:
    return pa.table({"query": pa.array(query, pa.int32()), "item": pa.array(item, pa.int32())})


def _labels(query: np.ndarray, item: np.ndarray, alike: np.ndarray) -> pa.Table:
    text = pa.array(np.where(alike, IDENTICAL, DIFFERENT))
    order = np.lexsort((item, query))
    return _pairs(query[order], item[order]).append_column("text", text.take(pa.array(order)))
