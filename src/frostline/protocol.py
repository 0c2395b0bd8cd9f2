"""What a protocol is: the question that an experiment asks, and all that is particular to it.

A protocol supplies queries, candidates and relevance through its stage `split`, and says in words what it asks. What
comes after the scores (`evaluate`, `strata`, `beyond`, `significance`, `aggregate`, `audit`, `export`, `report`) is the
same code for all and never asks for a protocol's name: it gets what a protocol declares here as parameters.

A protocol is one file in `frostline/protocols/`, a frozen dataclass whose fields are its options in the config
(`protocol: {name: next-item, …}`); of another package, by the entry-point group `frostline.protocols`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from frostline import registry
from frostline.artifacts import Job
from frostline.errors import ConfigError
from frostline.schema import read

METHODS, SYSTEMS = "methods", "systems"


@dataclass(frozen=True)
class Wording:
    """How tables, audit and report call what a protocol holds out. Each completes a sentence of theirs."""

    question: str
    """The definition of query, candidates and relevance."""
    untouched: str
    """"On items nobody has touched": where the systems were compared."""
    intro: str
    """The first sentence above the leaderboard."""
    candidate: str
    """One candidate: "cold item"."""
    candidates: str
    test: str
    """What the figures of the test fold are on: "test-cold items"."""
    val: str
    """What choices are made on."""
    relevant: str = "relevant users an item"
    """What the buckets of the stratum `popularity` count."""
    user: str = "user"
    """What a query is, of which `activity` counts the history."""
    active: str = "interactions"
    """What `activity` counts."""
    takes: str = "the user takes the item"
    fixed: str = ""
    """Why the seeds vary the model only, where they do."""
    val_figures: str = ""
    """How figures on val were computed."""
    learned: str = ""
    """How what learns from val labels was kept from its own."""
    decision: str = "system"
    """The verdict's word where the baseline is beaten."""
    together: str = "train and held-out interactions together"
    """What the stage split alone sees."""
    rewired: str = "other golds"
    """For what the split writes the same, where the audit of non-interference holds."""
    trusted: str = ""
    """What else of the data is taken for granted."""


@dataclass(frozen=True)
class Protocol:
    """Base of protocols.

    Files that `split` writes under `seed-<s>/split/`:

    - `items` (`item_id`, `fold`; sorted by id; further columns as the protocol likes, such as `domain`) and `queries`
      (`query`, text): every row number below counts their rows;
    - `train` (`query`, `item`, …): what models may learn from. Where a query is an item, `source` is that item's row: the
      links of items that are no query, of which `query` is −1, stand there too;
    - `val` (where `has_val`) and `test`: the labels (`query`, `item`, …). A further column, but for `time` and `weight`,
      divides the relevant pairs: each of its values is a stratum;
    - `strata` (`item`, `bucket` (popularity, from 0; below 0 for none), …): each column but `item` and `stratum` divides the
      items;
    - `summary` (JSON): `users`, `items`, `queries`, `folds`; and `shown`, pairs of a text and a number for the report;
    - where `parts` is `SYSTEMS`, for each fold `history-<fold>` (`query`, `item`, `time`, … in order: what is known of a
      query when it is asked) and `excluded-<fold>` (`query`, `item`: what is no candidate of the query).

    Class attributes
    ----------------
    default_k : tuple of int
    parts : {METHODS, SYSTEMS}
        What its systems are made of: donors and methods, which score the cold items of a fold, or `frostline.systems`, which
        score all items for the queries of a fold.
    baselines : tuple of str
        Systems that every experiment has, the last one the default baseline.
    has_val : bool
        Whether there is a val fold. Without one nothing is chosen, grids are refused, and the config names the system that
        is compared with the baseline.
    needs_content : bool
        Whether an experiment must name content fields.
    candidates : {'fold', 'all'}
        Which items are ranked: those whose fold is asked, or all that are not excluded.
    history : str
        File under `split/` that holds what is known of the queries of test: of it `evaluate` counts a query's activity and
        `beyond` makes its profile.
    drawn : str
        What the seeds draw, a key of the summary's folds, by which n_test / n_train is counted.
    needs_order : bool
        Whether the interactions must say in which order the data has them (`position`).
    calibration : tuple of str
        Ways in which scores become probabilities by default.
    words : Wording
    """

    default_k: ClassVar[tuple[int, ...]] = (5, 10, 20)
    parts: ClassVar[str] = SYSTEMS
    baselines: ClassVar[tuple[str, ...]]
    has_val: ClassVar[bool] = True
    needs_content: ClassVar[bool] = False
    candidates: ClassVar[str] = "all"
    history: ClassVar[str] = "history-test"
    drawn: ClassVar[str] = "items"
    needs_order: ClassVar[bool] = False
    calibration: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[Wording]

    replicates: ClassVar[str] = "models"
    """What the seeds are: 'draws' of other test data, 'folds' of it, or other 'models' on the same."""
    meta_users: ClassVar[str] = "crossfit"
    val_folds: ClassVar[int] = 5
    """Parts of val within which choices are made, each by the others."""

    @classmethod
    def configured(cls, options: Mapping[str, Any], split: Mapping[str, Any], n_seeds: int, where: str) -> Self:
        """The protocol with the options that stand beside its name in the config; ConfigError on what is wrong."""
        if split:
            raise ConfigError(f"{where}.split: is for cold-items. Give the options beside the protocol's name")
        return read(cls, options, f"{where}.protocol")

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """The protocol of a job."""
        return cls(**params["split"])

    def options(self) -> dict[str, Any]:
        """What `of` needs."""
        return dataclasses.asdict(self)

    def split_params(self, content: Mapping[str, Mapping], seeds: tuple[int, ...], seed: int | None) -> dict[str, Any]:
        """Further parameters of the stage `split`."""
        return {}

    def check(self, content: Mapping[str, Mapping], where: str) -> None:
        """ConfigError where the content fields do not serve."""

    def split(self, job: Job) -> None:
        """The stage `split`: read `interactions` and `catalogue`, write the files above."""
        raise NotImplementedError

    def split_checks(self, job: Job, seed: int, n_kept: int) -> dict[str, str]:
        """What is wrong with a seed's files, by check, empty where it holds; `n_kept` interactions were ingested."""
        raise NotImplementedError

    def rewire(self, job: Job) -> None:
        """Read `interactions` and a seed's `items`; write `interactions` with other test labels and all else the same."""
        raise NotImplementedError

    def relabel(self, job: Job) -> None:
        """Write arbitrary labels as `test`; the other files of the split are copied already, and hold no test label."""
        raise NotImplementedError


def protocol_of(job: Job) -> Protocol:
    """The protocol of a job, with its options."""
    return registry.load("protocols", job.params["protocol"]).of(job.params)
