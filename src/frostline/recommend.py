"""Stage `recommend`: rank really new items by what the verdict chose: those of a file, or those that nobody touched yet.

Nothing is held out here: donors and methods learn from all interactions. What was decided on held-out items stays
decided: the system by the verdict, the point of a grid by its val figures over all seeds, and a meta-method's weights
by the models that learned them, whose scores are averaged over seeds and user groups.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from frostline import registry
from frostline.api import BLOCK, Bilinear, Scores, Warm
from frostline.artifacts import Job
from frostline.encoding import encode
from frostline.errors import FrostlineError
from frostline.meta import ROWS, MetaMethod, scaled
from frostline.scoring import scores_of
from frostline.seeds import generator


def run(job: Job) -> None:
    """Read `interactions`, `catalogue`, `verdict`, every `tuned` and meta-`model`, maybe `new`; write lists and `summary`.

    New are the items of `new`, or else those of the catalogue that have no interactions.

    `items_per_user` has the columns user, rank, item, score; `users_per_item` has item, rank, user, score; both hold
    the best `top` of each, ties in an order drawn from the seed.
    """
    params, verdict = job.params, job.read_json("verdict")
    interactions, catalogue = job.read_table("interactions"), job.read_table("catalogue")
    users = pc.unique(interactions["user"]).sort()
    known = pc.unique(interactions["item"]).sort()
    if "new" in job.inputs:
        added = job.read_table("new")
        touched = catalogue.filter(pc.is_in(catalogue["item_id"], known))
        catalogue = pa.concat_tables([touched, added.select(touched.column_names)])
    new = catalogue["item_id"].filter(pc.invert(pc.is_in(catalogue["item_id"], known))).combine_chunks().sort()
    if not len(new):
        raise FrostlineError(
            "every item of the catalogue has interactions, so there is no new one to recommend. Add the new items to the "
            "items file, or name a file of them as `new_items`, and run again"
        )
    ids = pa.concat_arrays([known, new])
    is_known = np.arange(len(ids)) < len(known)
    content, _ = encode(catalogue, ids, is_known, params["content"])
    place = pc.index_in(interactions["user"], users).to_numpy(), pc.index_in(interactions["item"], known).to_numpy()
    weight = interactions["weight"].to_numpy().astype(np.float32)
    refit = _Refit(
        job,
        Warm(
            n_queries=len(users),
            seed=params["seed"],
            train=csr_array((weight, place), shape=(len(users), len(known))),
            content=content.take(np.flatnonzero(is_known)),
        ),
        content.take(np.flatnonzero(~is_known)),
    )
    system = verdict["chosen"] if verdict["decision"] == "transfer" else verdict["baseline"]
    per_user, per_item = top_lists(refit.scores(system), len(users), len(new), params["top"], params["seed"])
    _write(job, "items_per_user", ("user", users), ("item", new), *per_user)
    _write(job, "users_per_item", ("item", new), ("user", users), *per_item)
    summary = {key: verdict[key] for key in ("decision", "metric", "difference", "ci_low", "ci_high")}
    summary |= {"system": system, "points": refit.points, "users": len(users), "new_items": len(new)}
    job.write_json("summary", summary)


class _Refit:
    """Systems that learn from everything there is."""

    def __init__(self, job: Job, warm: Warm, new) -> None:
        self._job, self._warm, self._new = job, warm, new
        self._systems: Mapping[str, Mapping[str, Any]] = job.params["systems"]
        self.points: dict[str, Any] = {}
        self._donor = cache(self._fit_donor)

    def scores(self, name: str) -> Scores:
        """Scores of the new items by a system of the experiment."""
        system = self._systems[name]
        point = self._point(name)
        method = registry.load("methods", system["method"])(**system["points"][point]["options"])
        self.points[name] = system["points"][point]["options"]
        if isinstance(method, MetaMethod):
            models = [
                {key.partition(".")[2]: value for key, value in arrays.items() if key.startswith(f"{group}.")}
                for (_, owner), file in sorted(self._job.family("model").items())
                if owner == name
                for arrays in [self._job.read_arrays(file)]
                for group in sorted({key.partition(".")[0] for key in arrays})
            ]
            return _Combined(method, models, [self.scores(signal) for signal in system["signals"]])
        donor = self._donor(name, system["points"][point]["donor"]) if system["donor"] else None
        warm = Warm(**vars(self._warm) | {"donor": donor})
        given = Warm(warm.n_queries, warm.seed, **{need: getattr(warm, need) for need in method.needs})
        return scores_of(method, method.fit(given), given, self._new)

    def _point(self, name: str) -> int:
        """The point of the highest val figure, averaged over seeds."""
        job = self._job
        records = [job.read_json(file) for (_, owner), file in job.family("tuned").items() if owner == name]
        figures = np.array([[point["mean"] for point in record["points"]] for record in records])
        return int(figures.mean(axis=0).argmax()) if records else 0

    def _fit_donor(self, name: str, number: int) -> Bilinear:
        spec = self._systems[name]["donor"]
        donor_class = registry.load("donors", spec["donor"])
        if hasattr(donor_class, "files"):
            raise FrostlineError(
                f"system '{name}' rests on a donor that was trained elsewhere, which cannot be trained again here on all "
                "interactions. Name systems without a brought donor, or let your own pipeline rank the new items"
            )
        donor, warm = donor_class(**spec["points"][number]), self._warm
        extra = {"content": warm.content} if donor_class.needs_content else {}
        return donor.fit(warm.train, warm.seed, **extra)


class _Combined:
    """Mean of the scores by several models of a meta-method."""

    def __init__(self, method: MetaMethod, models: list[dict], signals: list[Scores]) -> None:
        self._method, self._models, self._signals = method, models, signals

    def block(self, start: int, stop: int) -> np.ndarray:
        parts = []
        for first in range(start, stop, ROWS):
            blocks = (signal.block(first, min(first + ROWS, stop)) for signal in self._signals)
            features = np.stack([scaled(block, self._method.within_query) for block in blocks], axis=-1)
            parts.append(np.mean([self._method.score(model, features) for model in self._models], axis=0))
        return np.concatenate(parts).astype(np.float32)


Lists = tuple[np.ndarray, np.ndarray, np.ndarray]


def top_lists(scores: Scores, n_users: int, n_items: int, top: int, seed: int) -> tuple[Lists, Lists]:
    """The best items of each user and the best users of each item, best first.

    Returns
    -------
    per_user, per_item : tuple of (owner, member, score)
        Ndarrays of equal length, by owner and then from the best down; `min(top, number of members)` entries an owner.
        Ties are in an order drawn from the seed, the same for every owner.
    """
    item_order, user_order = (
        generator(seed, "ties", what).permutation(n) for what, n in (("i", n_items), ("u", n_users))
    )
    users, best = [], (np.empty((n_items, 0), np.int64), np.empty((n_items, 0), np.float32))
    for start in range(0, n_users, BLOCK):
        block = scores.block(start, min(start + BLOCK, n_users))
        users.append(_best(block, np.broadcast_to(np.arange(n_items), block.shape), item_order, top))
        member = np.broadcast_to(np.arange(start, start + len(block)), block.T.shape)
        best = _best(np.hstack([best[1], block.T]), np.hstack([best[0], member]), user_order, top)
    per_user = np.concatenate([part[0] for part in users]), np.concatenate([part[1] for part in users])
    return tuple(
        (np.repeat(np.arange(len(member)), member.shape[1]), member.ravel(), score.ravel())
        for member, score in (per_user, best)
    )


def _best(scores: np.ndarray, member: np.ndarray, order: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    rank = np.lexsort((order[member], -scores), axis=1)[:, :top]
    return np.take_along_axis(member, rank, axis=1), np.take_along_axis(scores, rank, axis=1)


def _write(job: Job, name: str, owner: tuple[str, pa.Array], member: tuple[str, pa.Array], *lists: np.ndarray) -> None:
    owners, members, scores = lists
    first = np.searchsorted(owners, owners)
    columns = {
        owner[0]: owner[1].take(pa.array(owners)),
        "rank": pa.array(np.arange(len(owners)) - first + 1, pa.int32()),
        member[0]: member[1].take(pa.array(members)),
        "score": pa.array(scores, pa.float32()),
    }
    table = pa.table(columns)
    job.write_table(f"{name}_parquet", table)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.to_pylist() for column in columns.values()), strict=True))
    job.write_text(f"{name}_csv", stream.getvalue())
