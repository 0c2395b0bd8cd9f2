"""cold-items: how well are items served that nobody has touched yet?

A query is a user, candidates are all cold items of a fold, relevant are the user's held-out interactions with them. Which
items are cold is drawn (`frostline.drawing`) or a matter of time (`frostline.temporal`). `train` holds interactions of warm
items alone; those of a cold item are in its fold's label file and nowhere else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.drawing import draw_items
from frostline.errors import ConfigError, InputError
from frostline.folds import TEST, VAL, WARM
from frostline.invariants import split_checks, split_files
from frostline.protocol import METHODS, Protocol, Wording
from frostline.schema import read
from frostline.seeds import generator
from frostline.split_options import DISJOINT_FOLDS, TEMPORAL, Split, TemporalSplit, split_class, with_folds
from frostline.swaps import swap_partners
from frostline.temporal import NOWHERE, cut, describe_items
from frostline.twins import identities


@dataclass(frozen=True)
class ColdItems(Protocol):
    """Its options stand under `split`."""

    rule: Split | TemporalSplit

    default_k: ClassVar = (1, 5, 10)
    parts: ClassVar = METHODS
    baselines: ClassVar = ("grouped_popularity", "grouped_popularity_personal")
    needs_content: ClassVar = True
    candidates: ClassVar = "fold"
    history: ClassVar = "train"
    calibration: ClassVar = ("platt", "isotonic")
    words: ClassVar = Wording(
        question="Each user with at least one training interaction is a query. Candidates are all cold items of the fold, "
        "never a sample. Relevant are the user’s held-out interactions with them, R. Queries without a relevant candidate "
        "are left out of the averages and counted.",
        untouched="on items nobody has touched",
        intro="Items nobody had touched when the systems were trained.",
        candidate="cold item",
        candidates="cold items",
        test="test-cold items",
        val="val-cold items",
        active="training interactions",
        fixed="time decides which items are cold",
        decision="transfer",
        together="warm and cold interactions together",
        rewired="other users of the test items",
        trusted=", and that the content was known before anyone touched an item, as the config says",
    )

    @classmethod
    def configured(cls, options: Mapping[str, Any], split: Mapping[str, Any], n_seeds: int, where: str) -> Self:
        if options:
            raise ConfigError(f"{where}.protocol: cold-items has no options here, they stand under 'split'. Move them")
        rule = read(split_class(split, f"{where}.split"), split, f"{where}.split")
        return cls(with_folds(rule, split.get("test") is not None, n_seeds, where))

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        given = params["split"]
        return cls(TemporalSplit(**given) if given.get("kind") == TEMPORAL else Split(**given))

    def options(self) -> dict[str, Any]:
        return dataclasses.asdict(self.rule)

    @property
    def replicates(self) -> str:
        return self.rule.replicates

    @property
    def meta_users(self) -> str:
        return self.rule.meta_users

    @property
    def val_folds(self) -> int:
        return self.rule.val_folds

    def check(self, content: Mapping[str, Mapping], where: str) -> None:
        if "category" in self.rule.strata and not any(field["as"] == "categories" for field in content.values()):
            raise ConfigError(
                f"{where}.split.strata: 'category' needs a content field of kind 'categories'. "
                "Add one to 'content', or stratify by [popularity] alone"
            )

    def split_params(self, content: Mapping[str, Mapping], seeds: tuple[int, ...], seed: int | None) -> dict[str, Any]:
        category = next((name for name, field in content.items() if field["as"] == "categories"), None)
        params: dict[str, Any] = {"category": category if "category" in self.rule.strata else None}
        if self.replicates == DISJOINT_FOLDS and seed is not None:
            params["folds"] = {"number": seeds.index(seed), "of": len(seeds), "seed": min(seeds)}
        return params

    def split_checks(self, job: Job, seed: int, n_kept: int) -> dict[str, str]:
        return split_checks(split_files(job, seed), n_kept, job.params)

    def split(self, job: Job) -> None:
        options, seed = self.rule, job.params["seed"]
        interactions = job.read_table("interactions")
        category_field = job.params["category"]
        known = job.read_table("catalogue")

        n_users = len(pc.unique(interactions["user"]))
        if isinstance(options, TemporalSplit):
            interactions, fold_of, by_time = _cut(interactions, options)
        item_ids = pc.unique(interactions["item"]).sort()
        item = pc.index_in(interactions["item"], item_ids).to_numpy()
        counts = np.bincount(item, minlength=len(item_ids))
        rows = pc.index_in(item_ids, known["item_id"].combine_chunks())
        categories = [()] * len(item_ids)
        if category_field:
            categories = known[category_field].combine_chunks().take(rows).to_pylist()
        if isinstance(options, TemporalSplit):
            draw = describe_items(fold_of, counts, categories, by_time, options)
        else:
            # An item that is listed twice is not new as long as its other listing is warm: both stay warm.
            is_twin = identities(known)[rows.to_numpy()] >= 0
            draw = draw_items(np.where(is_twin, 0, counts), categories, options, seed, job.params.get("folds"))
            draw.report["listed_twice"] = int(is_twin.sum())

        user_ids = pc.unique(interactions["user"]).sort()
        user = pc.index_in(interactions["user"], user_ids).to_numpy()
        is_train = draw.fold[item] == WARM
        has_history = np.bincount(user[is_train], minlength=len(user_ids)) > 0
        query_row = np.cumsum(has_history) - 1
        keep = has_history[user]

        summary = {"seed": seed, "users": n_users, "queries": int(has_history.sum()), **draw.report, "folds": {}}
        for fold in (WARM, VAL, TEST):
            in_fold = draw.fold[item] == fold
            kept = np.flatnonzero(in_fold & keep)
            table = {
                "query": pa.array(query_row[user[kept]], pa.int32()),
                "item": pa.array(item[kept], pa.int32()),
                **{
                    column: interactions[column].take(kept)
                    for column in ("time", "weight")
                    if column in interactions.column_names
                },
            }
            job.write_table("train" if fold == WARM else fold, pa.table(table))
            summary["folds"][fold] = {
                "items": int((draw.fold == fold).sum()),
                "interactions": int(in_fold.sum()),
                "interactions_of_users_without_history": int((in_fold & ~keep).sum()),
                "queries_with_relevant": len(np.unique(query_row[user[kept]])),
            }
        for fold in (VAL, TEST):
            if not summary["folds"][fold]["queries_with_relevant"]:
                raise InputError(
                    f"seed {seed}: no user has both a training interaction and one in {fold}-cold items",
                    "Use more data, or a larger share of cold items",
                )
        job.write_table("items", pa.table({"item_id": item_ids, "fold": pa.array(draw.fold)}))
        job.write_table("queries", pa.table({"query": user_ids.filter(pa.array(has_history))}))
        job.write_table(
            "strata",
            pa.table({
                "item": pa.array(np.arange(len(item_ids)), pa.int32()),
                "category": pa.array(draw.category),
                "bucket": pa.array(draw.bucket),
                "stratum": pa.array(draw.stratum),
            }),
        )  # fmt: skip
        job.write_json("summary", summary)

    def rewire(self, job: Job) -> None:
        """Other users for the test-cold items. Every user and every item keeps its number of interactions, and an item's
        interactions keep their times and weights. What a split may know of test-cold items is thus the same, and who took
        which of them is not.
        """
        interactions, items = job.read_table("interactions"), job.read_table("items")
        cold = items["item_id"].filter(pc.equal(items["fold"], TEST))
        rows = np.flatnonzero(pc.is_in(interactions["item"], cold.combine_chunks()).to_numpy(zero_copy_only=False))
        users = interactions["user"].combine_chunks()
        names = users.unique()
        user = pc.index_in(users, names).to_numpy(zero_copy_only=False).copy()
        item = pc.index_in(interactions["item"].take(rows), cold.combine_chunks()).to_numpy()
        user[rows] = swap_partners(user[rows], item, generator(job.params["seed"], "rewire"))
        table = interactions.set_column(interactions.column_names.index("user"), "user", names.take(pa.array(user)))
        job.write_table("interactions", table.sort_by([("user", "ascending"), ("item", "ascending")]))

    def relabel(self, job: Job) -> None:
        """One test-cold item at random for every query."""
        fold = job.read_table("items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False)
        n_queries, like = job.read_table("queries").num_rows, job.read_table("val").schema
        drawn = generator(job.params["seed"], "relabel").choice(np.flatnonzero(fold == TEST), n_queries)
        columns = {"query": np.arange(n_queries), "item": drawn}
        job.write_table(
            "test",
            pa.table(
                [pa.array(columns.get(f.name, np.ones(n_queries)).astype(np.int64)).cast(f.type) for f in like], like
            ),
        )


def _cut(interactions: pa.Table, options: TemporalSplit) -> tuple[pa.Table, np.ndarray, dict]:
    """The interactions that have a place in the split by time, the folds of their items by id, and the report."""
    if "time" not in interactions.column_names:
        raise InputError(
            "split.kind temporal: the interactions have no times",
            "Name the column of times, or use split.kind stratified, which needs none",
        )
    user, item = (
        pc.index_in(interactions[name], pc.unique(interactions[name]).sort()).to_numpy() for name in ("user", "item")
    )
    time = interactions["time"]
    first_time = pc.subtract(time, interactions["since_first"])
    found = cut(user, item, _masked(time), _masked(first_time), options)
    return interactions.filter(pa.array(found.kept)), found.fold[found.fold != NOWHERE], found.report


def _masked(time: pa.ChunkedArray) -> np.ma.MaskedArray:
    return np.ma.array(time.fill_null(0).to_numpy(), mask=pc.is_null(time).to_numpy())
