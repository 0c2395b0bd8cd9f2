"""next-item: what will a user take next, among everything in all domains?

A query is a user's history up to the event before, candidates are all items but those of the history, relevant is the one
next item. The last event of each user is the test gold, the last but one the val gold, the rest is trained on (leave-one-out
on the merged sequence). The history of test holds the val gold as context; no fit reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.arbitrary import a_candidate_each
from frostline.artifacts import Job
from frostline.errors import ConfigError, InputError
from frostline.folds import TEST, VAL, WARM
from frostline.protocol import Protocol, Wording
from frostline.query_checks import query_checks
from frostline.seeds import generator

SHARED, OWN = "shared with the event before", "its own"
BUCKETS = 5


@dataclass(frozen=True)
class Sequences:
    """Every user's events in order, users of fewer than three events left out.

    Attributes
    ----------
    row : ndarray of int64, shape (n,)
        Of the interactions.
    user, item : ndarray of int, shape (n,)
        `user` counts the users that are kept, `item` the sorted ids.
    time : ndarray of int64, shape (n,)
    left : ndarray of int64, shape (n,)
        How many events of its user come after each: the last one, with 0, is the test gold, 1 the val gold.
    names : pyarrow.Array
        The users.
    n_short : int
        Events of users that are left out.
    """

    row: np.ndarray
    user: np.ndarray
    item: np.ndarray
    time: np.ndarray
    left: np.ndarray
    names: pa.Array
    n_short: int


@dataclass(frozen=True)
class NextItem(Protocol):
    """Options.

    Parameters
    ----------
    order : {'file', 'random', 'exclude'}
        Which of several events of one time stamp comes first: the one that the data has first, one at random by the seed, or
        neither: a gold that shares its time stamp with the event before is then not asked for.
    sequences : {'merged', 'domain'}
        Leave one out of each user's whole sequence, or of the sequence of each domain, which then is a query of its own with
        the history of that domain alone.
    domain : str, optional
        The content field that says of which domain an item is.
    cut : float or int, optional
        A time that divides training from what is asked, as unix seconds or, between 0 and 1, as a quantile of all times:
        nothing later is trained on, and a gold that is not later is not asked for. Without it, models learn from what other
        users did after the moment of a query.
    """

    order: Literal["file", "random", "exclude"] = "file"
    sequences: Literal["merged", "domain"] = "merged"
    domain: str | None = None
    cut: float | None = None

    baselines: ClassVar = ("popularity",)
    needs_order: ClassVar = True
    words: ClassVar = Wording(
        question="Each user with three events or more is a query, known by the history up to the event that is to be found. "
        "Candidates are all items of all domains but those of the history, never a sample. Relevant is the one next item.",
        untouched="on each user’s last item",
        intro="Each user’s last item, to be found among all that are not in the history.",
        candidate="next item",
        candidates="items",
        test="each user’s last item",
        val="last items but one",
        relevant="users whose next it is",
        active="events in the history",
        takes="the user takes the item next",
        fixed="the time of events decides what is held out",
        val_figures="on each user’s last item but one, with the history before it",
        learned="They learn from the val golds how to combine other systems’ scores. On val, a query’s scores come from a "
        "model that saw no gold of its fold of users.",
        rewired="other test golds",
        trusted=", and that its order of events is the true one",
    )

    def __post_init__(self) -> None:
        if self.sequences == "domain" and self.domain is None:
            raise ValueError("sequences 'domain' needs the name of the field with the domain: domain: …")

    def check(self, content, where: str) -> None:
        if self.domain is not None and self.domain not in content:
            raise ConfigError(
                f"{where}.protocol.domain: '{self.domain}' is no content field. Add it to 'content', or leave it out"
            )

    def split(self, job: Job) -> None:
        seed = job.params["seed"]
        interactions, catalogue = job.read_table("interactions"), job.read_table("catalogue")
        item_ids = pc.unique(interactions["item"]).sort()
        domain = self._domains(item_ids, catalogue)
        found = self.sequence(interactions, item_ids, domain, seed)
        items = {"item_id": item_ids, "fold": pa.array([WARM] * len(item_ids))}
        if domain is not None:
            items["domain"] = pa.array(domain)
        job.write_table("items", pa.table(items))
        job.write_table("queries", pa.table({"query": found.names}))

        cut = self._cut_time(found.time)
        train = (found.left >= 2) & (found.time <= cut if cut is not None else True)
        weight = interactions["weight"].to_numpy()[found.row]
        job.write_table("train", _table(found, train, weight=pa.array(weight[train])))
        shared = np.diff(found.time, prepend=-1) == 0
        shared &= np.diff(found.user, prepend=-1) == 0
        summary: dict[str, Any] = {
            "seed": seed,
            "users": len(found.names),
            "items": len(item_ids),
            "queries": len(found.names),
        }
        trained = np.bincount(found.item[train], minlength=len(item_ids))
        facts: dict[str, Any] = {"events": len(interactions), "events of users with fewer than three": found.n_short}
        facts["events trained on"] = int(train.sum())
        folds: dict[str, Any] = {WARM: {"items": int((trained > 0).sum()), "interactions": int(train.sum())}}
        for fold, place in ((VAL, 1), (TEST, 0)):
            known = found.left > place
            job.write_table(f"history_{fold}", _table(found, known))
            job.write_table(f"excluded_{fold}", _table(found, known).select(["query", "item"]))
            gold = found.left == place
            is_asked = gold & ~shared if self.order == "exclude" else gold
            if cut is not None:
                is_asked &= found.time > cut
            if not is_asked.any():
                raise InputError(
                    f"no {fold} gold is left to be asked for", "Use an earlier cut, or another order of ties"
                )
            stamp = pa.array(np.where(shared[is_asked], SHARED, OWN))
            job.write_table(fold, _table(found, is_asked).append_column("time stamp", stamp))
            folds[fold] = {"items": len(np.unique(found.item[is_asked])), "queries_with_relevant": int(is_asked.sum())}
            facts[f"{fold} golds"] = int(is_asked.sum())
            facts[f"{fold} golds that share their time stamp with the event before"] = float(shared[gold].mean())
            facts[f"{fold} golds that are never trained on"] = float((trained[found.item[is_asked]] == 0).mean())
        last = np.full(len(found.names), np.iinfo(np.int64).min)
        np.maximum.at(last, found.user[train], found.time[train])
        facts["training sequences of others that end after a test gold"] = _later(last, found.time[found.left == 0])
        job.write_table("strata", _strata(trained, domain))
        job.write_json("summary", summary | {"folds": folds, "shown": list(facts.items())})

    def sequence(self, interactions: pa.Table, item_ids: pa.Array, domain: np.ndarray | None, seed: int) -> Sequences:
        """The users' events in order; InputError where there are no times, or one is missing."""
        if "time" not in interactions.column_names or interactions["time"].null_count:
            raise InputError(
                "next-item: an event has no time", "Name the column of times, and leave out rows without one"
            )
        user = interactions["user"].combine_chunks()
        item = pc.index_in(interactions["item"], item_ids).to_numpy()
        if self.sequences == "domain":
            of_item = pa.array(domain[item])
            user = pc.binary_join_element_wise(user, of_item, " · ")
        names = pc.unique(user).sort()
        code = pc.index_in(user, names).to_numpy()
        time, position = interactions["time"].to_numpy(), interactions["position"].to_numpy()
        order = np.lexsort((position, time, code))
        if self.order == "random":
            drawn = np.empty(len(order))
            drawn[order] = generator(seed, "split", "ties").random(len(order))
            order = np.lexsort((drawn, time, code))
        code = code[order]
        size = np.bincount(code)
        left = np.cumsum(size)[code] - 1 - np.arange(len(code))
        kept = (size >= 3)[code]
        if not kept.any():
            raise InputError("next-item: no user has three events", "Use more data")
        is_long = size >= 3
        number = np.cumsum(is_long) - 1
        order = order[kept]
        return Sequences(
            order,
            number[code[kept]],
            item[order],
            time[order],
            left[kept],
            names.filter(pa.array(is_long)),
            int((~kept).sum()),
        )

    def split_checks(self, job: Job, seed: int, n_kept: int) -> dict[str, str]:
        found = query_checks(job, seed, (VAL, TEST))
        facts = dict(job.read_json(f"summary[{seed}]")["shown"])
        found["no event is lost"] = (
            "" if facts["events"] == n_kept else f"{facts['events']} of {n_kept} events were divided"
        )
        late = []
        for fold in (VAL, TEST):
            gold, history = job.read_table(f"{fold}[{seed}]"), job.read_table(f"history_{fold}[{seed}]")
            at = np.full(job.read_table(f"queries[{seed}]").num_rows, np.iinfo(np.int64).max)
            at[gold["query"].to_numpy()] = gold["time"].to_numpy()
            late.append(int((history["time"].to_numpy() > at[history["query"].to_numpy()]).sum()))
        found["no history holds what happened after its gold"] = (
            f"{late[0]} events before val golds and {late[1]} before test golds are later" if any(late) else ""
        )
        return found

    def rewire(self, job: Job) -> None:
        """The test golds are dealt out among the users anew, their times staying where they are."""
        interactions = job.read_table("interactions")
        item_ids = pc.unique(interactions["item"]).sort()
        domain = (
            job.read_table("items")["domain"].to_numpy(zero_copy_only=False) if self.sequences == "domain" else None
        )
        found = self.sequence(interactions, item_ids, domain, job.params["seed"])
        gold = found.left == 0
        cell = found.user * len(item_ids) + found.item
        taken = np.sort(cell[~gold])
        user, item = found.user[gold], found.item[gold]
        rng = generator(job.params["seed"], "rewire")
        open_ = np.arange(len(user))
        dealt = item.copy()
        for _ in range(100):
            dealt[open_] = rng.permutation(dealt[open_])
            wrong = np.flatnonzero(np.isin(user * len(item_ids) + dealt, taken))
            if not len(wrong):
                break
            open_ = np.union1d(wrong, rng.choice(len(user), min(len(user), 2 * len(wrong)), replace=False))
        else:
            dealt = item
        items = pc.index_in(interactions["item"], item_ids).to_numpy(zero_copy_only=False).copy()
        items[found.row[gold]] = dealt
        column = interactions.column_names.index("item")
        table = interactions.set_column(column, "item", item_ids.take(pa.array(items)))
        job.write_table("interactions", table.sort_by([("user", "ascending"), ("item", "ascending")]))

    def relabel(self, job: Job) -> None:
        """An item at random for every query, none of its history."""
        drawn = a_candidate_each(job)
        columns = {"query": pa.array(np.arange(len(drawn)), pa.int32()), "item": pa.array(drawn, pa.int32())}
        columns["time"] = pa.array(np.full(len(drawn), np.iinfo(np.int64).max))
        job.write_table(TEST, pa.table(columns | {"time stamp": pa.array([OWN] * len(drawn))}))

    def _domains(self, item_ids: pa.Array, catalogue: pa.Table) -> np.ndarray | None:
        if self.domain is None:
            return None
        rows = pc.index_in(item_ids, catalogue["item_id"].combine_chunks())
        values = catalogue[self.domain].combine_chunks().take(rows).to_pylist()
        return np.array([(v[0] if v else "") if isinstance(v, list) else str(v or "") for v in values])

    def _cut_time(self, time: np.ndarray) -> float | None:
        is_quantile = self.cut is not None and 0 < self.cut < 1
        return float(np.quantile(time, self.cut, method="lower")) if is_quantile else self.cut


def _table(found: Sequences, rows: np.ndarray, **columns: pa.Array) -> pa.Table:
    pairs = {"query": pa.array(found.user[rows], pa.int32()), "item": pa.array(found.item[rows], pa.int32())}
    return pa.table(pairs | {"time": pa.array(found.time[rows])} | columns)


def _later(last: np.ndarray, gold: np.ndarray) -> float:
    """Mean over users of the share of other users whose training sequence ends after the user's test gold."""
    if len(last) < 2:
        return 0.0
    later = len(last) - np.searchsorted(np.sort(last), gold, side="right") - (last > gold)
    return float(later.mean() / (len(last) - 1))


def _strata(trained: np.ndarray, domain: np.ndarray | None) -> pa.Table:
    """Fifths of the items that are trained on, by how often; below 0 those that never are."""
    bucket = np.full(len(trained), -1)
    seen = np.flatnonzero(trained)
    edges = np.quantile(trained[seen], np.arange(1, BUCKETS) / BUCKETS)
    bucket[seen] = np.searchsorted(edges, trained[seen], side="left")
    columns = {"item": pa.array(np.arange(len(trained)), pa.int32()), "bucket": pa.array(bucket, pa.int32())}
    return pa.table(columns | ({} if domain is None else {"domain": pa.array(domain)}))
