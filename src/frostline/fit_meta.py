"""Stage `fit_meta`: let a meta-method learn from val-cold labels, and give its val scores out of fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from frostline import registry
from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.folds import meta_half
from frostline.labels import Labels, pseudo_labels, val_labels
from frostline.meta import DISJOINT, ROWS, MetaMethod, UserGroup, scaled, score_by_group, user_groups
from frostline.ranking import Metric, evaluate, rank_relevant
from frostline.seeds import generator
from frostline.signals import Signal, val_signals
from frostline.tuning import best_point, defined_mean, tuned_record

TRAINING_PAIRS = 300_000
"""A model learns from so many user–item pairs at most: all candidates of users drawn at random, for each fold others."""

Features = Callable[[int, int], np.ndarray]
"""A block of one signal at one of its points, as a feature: float32, shape (n_rows, n_candidates)."""


def run(job: Job) -> None:
    """Read `items`, `queries`, val `labels` and the `signal<j>` and `tuned<j>` of what is combined; write the results.

    Where a point has `folds`, the same of each pseudo-cold fold is read as `pseudo<folds>_<part>_<name>`.

    `model` holds, for each user group and at the chosen point, a model that learned from all item folds: it scores
    test-cold items. `scores` are those of val-cold items, float32, shape (n_queries, n_candidates): an item of fold f is
    scored by a model that learned from the labels of the other folds, at the point that is best by the other folds
    alone. `tuned` is as the stage `tune` writes it. `users` holds `scored_by` as the stage `score_meta` writes it, and
    `teaches`, bool, shape (n_groups, n_queries): whose labels taught any model of a user group.
    """
    params, known = job.params, val_labels(job)
    folds, points = range(params["val_folds"]), range(len(params["points"]))
    if len(points) > 1 and len(folds) < 3:
        raise FrostlineError(
            f"system '{params['system']}' has a grid, which takes three item folds: one to judge on, one to choose by and "
            "one to learn from. Raise split.val_folds, or give each of its parameters one value"
        )
    groups = user_groups(known.n_queries, params["meta_users"], params["seed"])
    method_class = registry.load("methods", params["method"])
    methods: list[MetaMethod] = [method_class(**point["options"]) for point in params["points"]]
    signals = val_signals(job, len(params["signals"]))
    pseudo = {
        n_folds: [_pseudo_cold(job, f"pseudo{n_folds}_{part}_", signals) for part in range(n_folds)]
        for n_folds in sorted({method.folds for method in methods})
    }
    models = Models(methods, signals, known, pseudo, groups, params)

    def unknown(fold: int, hidden: int) -> tuple[int, ...]:
        """A fold is judged without its own labels, and, where the choice is for another fold, without that one's either."""
        return tuple(sorted({fold, hidden}))

    pairs = [(fold, hidden) for fold in folds for hidden in folds if fold == hidden or len(points) > 1]
    figure = judge(models, [(point, fold, unknown(fold, hidden)) for point in points for fold, hidden in pairs], params)
    figures = np.array([[figure[point, fold, (fold,)] for fold in folds] for point in points])
    job.write_json("tuned", tuned_record(params["primary"], params["points"], figures))
    chosen = [0] * len(folds)
    if len(points) > 1:
        for hidden in folds:
            others = [fold for fold in folds if fold != hidden]
            chosen[hidden] = best_point(
                np.array([[figure[point, fold, unknown(fold, hidden)] for fold in others] for point in points])
            )
    scored_by = np.empty(known.n_queries, np.int8)
    with job.array_writer("scores", (known.n_queries, len(known.fold)), np.float32) as write:
        for rows, features in models.blocks():
            block = np.empty((len(rows), len(known.fold)), np.float32)
            for fold in folds:
                columns = known.fold == fold
                block[:, columns], scored_by[rows.start : rows.stop] = models.score(
                    rows, features, np.flatnonzero(columns), chosen[fold], (fold,)
                )
            write(block)
    final = best_point(figures)
    fitted = {group: models.fitted(final, group, ()) for group in range(len(groups))}
    job.write_arrays(
        "model", {f"{group}.{name}": value for group, model in fitted.items() for name, value in model.items()}
    )
    job.write_arrays("users", {"teaches": models.teaches, "scored_by": scored_by})


@dataclass(frozen=True)
class ItemSet:
    """Items that a model may learn from: val-cold, or a pseudo-cold fold."""

    signals: Sequence[Signal]
    known: Labels


def _pseudo_cold(job: Job, prefix: str, signals: Sequence[Signal]) -> ItemSet:
    """Which point of a signal's grid is best is known from val, so only the scores are read anew."""
    return ItemSet(
        [replace(signal, scores=job.read_array(f"{prefix}signal{number}")) for number, signal in enumerate(signals)],
        pseudo_labels(job, prefix),
    )


class Models:
    """Models by point, user group and the item folds whose labels they must not know, each fitted once."""

    def __init__(
        self,
        methods: Sequence[MetaMethod],
        signals: Sequence[Signal],
        known: Labels,
        pseudo: Mapping[int, Sequence[ItemSet]],
        groups: Sequence[UserGroup],
        params: Mapping[str, Any],
    ) -> None:
        self.methods, self.signals, self.known, self.groups = methods, signals, known, groups
        self.system, self.seed = params["system"], params["seed"]
        self.sets = {n_folds: [ItemSet(signals, known), *folds] for n_folds, folds in pseudo.items()}
        self.teaches = np.zeros((len(groups), known.n_queries), dtype=bool)
        draw = generator(self.seed, "meta-training").permutation(known.n_queries)
        self.draws = [draw[group.train[draw]] for group in groups]
        self.fitted, self._training, self._labels = cache(self._fit), cache(self._read), cache(self._read_labels)

    def _fit(self, point: int, group: int, unknown: tuple[int, ...]) -> Mapping[str, Any]:
        method = self.methods[point]
        examples = []
        for part, items in enumerate(self.sets[method.folds]):
            allowed = np.flatnonzero(~np.isin(items.known.fold, unknown))
            columns = [
                self._training(method.folds, part, group, number, signal.point_without(unknown))[:, allowed]
                for number, signal in enumerate(items.signals)
            ]
            examples.append((np.stack(columns, axis=-1), self._labels(method.folds, part, group)[:, allowed]))
        labels = [relevant for _, relevant in examples]
        any_relevant = any(relevant.any() for relevant in labels)
        if not any_relevant or all(relevant.all() for relevant in labels):
            raise FrostlineError(
                f"system '{self.system}': its users have {'only' if any_relevant else 'no'} relevant items among the "
                f"{sum(relevant.shape[1] for relevant in labels)} val-cold items that it may learn from, and one class "
                "teaches nothing. Use a larger split.val, fewer split.val_folds, or meta_users: shared"
            )
        return method.fit(examples, self.seed)

    def _users(self, n_folds: int, part: int, group: int) -> np.ndarray:
        """The users whose labels of an item set are learned from, in ascending order."""
        draw = self.draws[group]
        most = max(1, TRAINING_PAIRS // sum(len(items.known.fold) for items in self.sets[n_folds]))
        return np.sort(np.roll(draw, -part * most)[:most])

    def _read_labels(self, n_folds: int, part: int, group: int) -> np.ndarray:
        users = self._users(n_folds, part, group)
        self.teaches[group, users] = True
        return _relevant(self.sets[n_folds][part].known, users)

    def _read(self, n_folds: int, part: int, group: int, number: int, point: int) -> np.ndarray:
        users = self._users(n_folds, part, group)
        signal = self.sets[n_folds][part].signals[number].at(point, self.known.n_queries)
        blocks = [
            signal[start : start + ROWS][users[(users >= start) & (users < start + ROWS)] - start]
            for start in range(0, self.known.n_queries, ROWS)
        ]
        return scaled(np.concatenate(blocks), self.methods[0].within_query)

    def blocks(self) -> Iterator[tuple[range, Features]]:
        """The queries in blocks, and how to get the features of a block: by signal and point, each read once."""
        for start in range(0, self.known.n_queries, ROWS):
            rows = range(start, min(start + ROWS, self.known.n_queries))

            @cache
            def features(number: int, point: int, rows: range = rows) -> np.ndarray:
                signal = self.signals[number].at(point, self.known.n_queries)
                return scaled(signal[rows.start : rows.stop], self.methods[0].within_query)

            yield rows, features

    def score(
        self, rows: range, features: Features, columns: np.ndarray, point: int, unknown: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of a block of queries and some val-cold items, and the group whose model scored each query."""
        signals = [features(number, s.point_without(unknown))[:, columns] for number, s in enumerate(self.signals)]
        models = [self.fitted(point, group, unknown) for group in range(len(self.groups))]
        return score_by_group(
            self.methods[point], models, self.groups, slice(rows.start, rows.stop), np.stack(signals, axis=-1)
        )


def _relevant(known: Labels, users: np.ndarray) -> np.ndarray:
    """Labels of some queries as a matrix of bool."""
    relevant = np.zeros((len(users), len(known.fold)), dtype=bool)
    own = np.isin(known.query, users)
    relevant[np.searchsorted(users, known.query[own]), known.column[own]] = True
    return relevant


Trial = tuple[int, int, tuple[int, ...]]
"""A point, the item fold that it is judged on, and the folds whose labels the model must not know."""


def judge(models: Models, trials: Sequence[Trial], params: Mapping[str, Any]) -> dict[Trial, float]:
    """The primary metric of each trial, over the users that count.

    Raises
    ------
    FrostlineError
        When no user has a relevant item in a fold.
    """
    known, metric = models.known, Metric.parse(params["primary"])
    counts = np.ones(known.n_queries, dtype=bool)
    if params["meta_users"] == DISJOINT:
        counts = ~meta_half(known.n_queries, params["seed"])
    values = {trial: np.full(known.n_queries, np.nan) for trial in trials}
    for rows, features in models.blocks():
        own = (known.query >= rows.start) & (known.query < rows.stop) & counts[known.query]
        for trial in trials:
            point, fold, unknown = trial
            columns = np.flatnonzero(known.fold == fold)
            pairs = np.flatnonzero(own & (known.fold[known.column] == fold))
            scores, _ = models.score(rows, features, columns, point, unknown)
            place = np.searchsorted(columns, known.column[pairs])
            ranks = rank_relevant(scores, known.query[pairs] - rows.start, place, ties=params["ties"])
            values[trial][rows.start : rows.stop] = evaluate(ranks, [metric])[:, 0]
    return {trial: defined_mean(found, metric) for trial, found in values.items()}
