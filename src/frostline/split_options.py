"""The options of the stage `split`, by kind of split."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from frostline.errors import ConfigError, suggest

TEMPORAL, DISJOINT_FOLDS = "temporal", "folds"


@dataclass(frozen=True)
class Split:
    """How items are divided at random within strata; shares are of all items that have interactions.

    `replicates` is what the seeds are. `draws`: each draws its test-cold items anew. `folds`: the seeds share out the
    eligible items, so that each is test-cold in exactly one of them; `test` is then one over the number of seeds.
    """

    kind: Literal["stratified"] = "stratified"
    test: float = 0.2
    val: float = 0.1
    strata: tuple[Literal["category", "popularity"], ...] = ("category", "popularity")
    popularity_buckets: int = 5
    min_interactions: int = 5
    val_folds: int = 5
    replicates: Literal["draws", "folds"] = "draws"
    meta_users: Literal["shared", "disjoint", "crossfit"] = "crossfit"

    def __post_init__(self) -> None:
        if not (0 < self.test < 1 and 0 < self.val < 1 and self.test + self.val < 1):
            raise ValueError(
                f"test ({self.test}) and val ({self.val}) must be positive and leave a share for warm items"
            )
        if self.popularity_buckets < 1 or self.min_interactions < 1:
            raise ValueError("popularity_buckets and min_interactions must be at least 1")
        if self.val_folds < 2:
            raise ValueError("val_folds must be at least 2")


@dataclass(frozen=True)
class TemporalSplit:
    """How items are divided by their first appearance, see `frostline.temporal`.

    `t1` and `t2` are times (ISO 8601, UTC where no zone is given) or quantiles of first appearance: 0.7 and 0.8 make the
    share of val-cold items 0.1, that of test-cold items 0.2. Buckets and categories divide no draw, only the figures.
    `min_interactions` counts events up to T1, of which a cold item has none: it makes no item warm, and says only which
    warm items a meta-method may play cold.
    """

    kind: Literal["temporal"]
    t1: Any = 0.7
    t2: Any = 0.8
    strata: tuple[Literal["category", "popularity"], ...] = ("category", "popularity")
    popularity_buckets: int = 5
    min_interactions: int = 5
    val_folds: int = 5
    meta_users: Literal["shared", "disjoint", "crossfit"] = "crossfit"

    replicates: ClassVar = "models"
    """What the seeds are: time decides which items are cold, so they vary the model only and are no random draws."""

    def __post_init__(self) -> None:
        for name in ("t1", "t2"):
            object.__setattr__(self, name, _time_or_quantile(name, getattr(self, name)))
        if type(self.t1) is type(self.t2) and self.t1 >= self.t2:
            raise ValueError(f"t1 ({self.t1}) must be before t2 ({self.t2})")
        if self.popularity_buckets < 1 or self.min_interactions < 1:
            raise ValueError("popularity_buckets and min_interactions must be at least 1")
        if self.val_folds < 2:
            raise ValueError("val_folds must be at least 2")


_KINDS = {"stratified": Split, TEMPORAL: TemporalSplit}
_NOT_TEMPORAL = {
    **dict.fromkeys(
        ("test", "val"), "the shares follow from t1 and t2: t1: 0.7 and t2: 0.8 make val-cold 0.1 and test-cold 0.2"
    ),
    "replicates": "time decides which items are cold, the same ones in every seed",
}
"""Keys of the other kind of split, and why this one has none of them."""


def _time_or_quantile(name: str, value: Any) -> float | str:
    """A quantile as it is; a time, which YAML may have read already, as ISO 8601 to the second in UTC."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if 0 < value < 1:
            return float(value)
    elif isinstance(value, (str, datetime.date)):
        try:
            moment = datetime.datetime.fromisoformat(str(value))
        except ValueError:
            pass
        else:
            if moment.tzinfo:
                moment = moment.astimezone(datetime.UTC)
            return moment.replace(tzinfo=None, microsecond=0).isoformat()
    raise ValueError(f"{name} must be a time such as 2001-06-30 or a quantile between 0 and 1, not {value!r}")


def with_folds(split: Split | TemporalSplit, is_test_given: bool, n_seeds: int, where: str) -> Split | TemporalSplit:
    """The split; where the seeds are folds, its share of test follows from their number.

    Raises
    ------
    ConfigError
        Where one seed is no fold, another share was asked for, or no share is left for warm items.
    """
    if split.replicates != DISJOINT_FOLDS:
        return split
    if n_seeds < 2:
        raise ConfigError(f"{where}.seeds: with split.replicates 'folds' each seed is a fold. Give at least two seeds")
    if is_test_given and abs(split.test - 1 / n_seeds) > 0.005:
        raise ConfigError(
            f"{where}.split.test: with replicates 'folds' each of the {n_seeds} seeds tests one fold of {n_seeds}, "
            f"so it is {1 / n_seeds:.3g}, not {split.test:g}. Leave it out, or give as many seeds as you want folds"
        )
    if 1 / n_seeds + split.val >= 1:
        raise ConfigError(
            f"{where}.split.val: {n_seeds} folds and val ({split.val:g}) leave no share for warm items. Lower it, or "
            "give more seeds"
        )
    return dataclasses.replace(split, test=1 / n_seeds)


def split_class(raw: Mapping[str, Any], where: str) -> type[Split | TemporalSplit]:
    """The class of the kind of split that a config asks for.

    Raises
    ------
    ConfigError
        On an unknown kind, or a key of the other kind that has no meaning in this one.
    """
    kind = raw.get("kind") or Split.kind
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigError(f"{where}.kind: unknown value {kind!r}, {suggest(kind, _KINDS)}")
    for key, why in _NOT_TEMPORAL.items() if kind == TEMPORAL else ():
        if raw.get(key) is not None:
            raise ConfigError(f"{where}.{key}: plays no part in kind temporal: {why}. Remove it")
    return _KINDS[kind]
