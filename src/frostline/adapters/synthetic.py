"""A seeded catalogue whose generating model is known, so that the best possible ranking is known too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

import numpy as np
import pyarrow as pa

from frostline.dataset import Adapter, DataFile, Dataset

TOPICS = {
    "adventure": "quest island treasure voyage storm jungle escape compass danger expedition",
    "animals": "wolf forest herd whale falcon migration burrow cub wild feather",
    "art": "painter canvas museum colour sculpture sketch portrait gallery fresco studio",
    "business": "company market founder profit strategy startup merger trade leader bargain",
    "cooking": "kitchen recipe bread spice oven harvest butter feast chef simmer",
    "crime": "detective murder alibi clue suspect heist witness verdict gang poison",
    "fantasy": "dragon wizard kingdom sword spell prophecy goblin throne curse realm",
    "gardening": "seed soil orchard rose compost greenhouse prune blossom herb meadow",
    "history": "empire battle archive king revolution ruins treaty dynasty siege chronicle",
    "humour": "joke clown awkward prank neighbour mishap absurd parody laughter blunder",
    "mathematics": "proof number theorem geometry puzzle infinity prime curve logic symmetry",
    "music": "melody violin concert rhythm choir guitar opera drum composer tune",
    "philosophy": "truth reason ethics dialogue mind freedom virtue doubt meaning paradox",
    "romance": "love wedding letter heart summer kiss promise stranger longing reunion",
    "science": "experiment laboratory atom theory microscope discovery energy cell particle hypothesis",
    "space": "planet rocket galaxy astronaut orbit comet telescope alien moon gravity",
    "sports": "match champion trainer race stadium goal marathon team medal rival",
    "travel": "train city border suitcase map harbour mountain road hotel desert",
}
COMMON_WORDS = "story life world time new old great small night day people way guide first last long"
# The last five years are those in which people interact; the catalogue begins long before.
YEAR = 31_557_600
END = 1_704_067_200  # 2024-01-01
START = END - 5 * YEAR
OLDEST_YEAR, NEWEST_YEAR = 1994, 2023
# Eight dimensions for eighteen topics: topics share tastes, as they do in life.
DIMENSIONS, COMMUNITIES = 8, 48
CONTENT_SHARE = 0.75
COMMUNITY_STRENGTH, PERSONAL_STRENGTH = 4.0, 2.5
BLOCK = 100_000


@dataclass(frozen=True)
class Synthetic(Adapter):
    """Catalogue, users and interactions drawn from a known model, without a download.

    An item is a mixture of topics; its latent vector is a unit vector of which the topics and the era explain a share
    of about `CONTENT_SHARE`, and no content the rest. A user is the taste of a community plus a deviation of his own.
    User u's `activity[u]` items are drawn one after the other without replacement, each with probability proportional
    to ``exp(user_factors[u] @ item_factors[i])``. The last factor column is 1 for users and the item's log-popularity
    for items, two thirds of whose variance come from topics and year. Times are drawn after the pair, none before the
    item's release, and tell nothing more about it.

    Under this law, whatever is known of a user's other items, exchanging an item of a set for a heavier one makes the
    set more probable. So among any candidates, ranking by ``user_factors[u] @ item_factors[i]`` is best in expectation
    for every metric that rewards relevant items for standing higher (precision, recall, MAP, NDCG, MRR, per-query AUC)
    given the model; in one drawn sample luck can put a system above it.

    Parameters
    ----------
    users, items, interactions : int
        How many; every user has at least one interaction and none has more than a quarter of the items.
    seed : int
        The same seed and numbers give the same data.
    """

    has_truth: ClassVar[bool] = True

    users: int = 2000
    items: int = 1200
    interactions: int = 100_000
    seed: int = 20_240_101

    def __post_init__(self) -> None:
        if self.users < 1 or self.items < 4:
            raise ValueError(f"users is {self.users} and items {self.items}; at least 1 and 4 are needed")
        most = self.users * (self.items // 4)
        if not self.users <= self.interactions <= most:
            raise ValueError(
                f"interactions is {self.interactions}; {self.users} users and {self.items} items "
                f"allow {self.users} to {most}"
            )

    def kinds(self) -> Mapping[str, str]:
        return {"categories": "categories", "year": "number", "text": "text"}

    def files(self) -> Mapping[str, DataFile]:
        return {}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Draw the data; `files` is empty, and every content field is made whichever are wanted."""
        catalogue_seed, people_seed, pairs_seed = np.random.SeedSequence(self.seed).spawn(3)
        items, item_vectors, popularity, release = _catalogue(np.random.default_rng(catalogue_seed), self.items)
        rng = np.random.default_rng(people_seed)
        community, tastes, deviation = _people(rng, self.users)
        activity = _activity(rng, self.users, self.interactions, self.items // 4)
        joined = START + (rng.random(self.users) ** 1.5 * 4.5 * YEAR).astype(np.int64)

        # Weights of a whole community, laid end to end so that one search serves all of them: its numbers grow from
        # c to c + 1 within community c.
        weights = np.exp(tastes @ item_vectors.T + popularity)
        ladder = np.cumsum(weights / weights.sum(1, keepdims=True), axis=1) + np.arange(len(tastes))[:, None]
        ladder[:, -1] = np.arange(len(tastes)) + 1

        # Users of a community together: the search then stays within one part of the ladder.
        order = np.argsort(community, kind="stable")
        blocks = np.split(order, np.flatnonzero(np.diff(activity[order].cumsum() // BLOCK)) + 1)
        pairs = []
        for block, seed in zip(blocks, pairs_seed.spawn(len(blocks)), strict=True):
            stream = np.random.default_rng(seed)
            user, item = _pairs(
                stream, activity[block], community[block], deviation[block], ladder.ravel(), item_vectors
            )
            user = block[user]
            begin = np.maximum(joined[user], release[item])
            time = begin + (stream.beta(1, 3, len(user)) * (END - begin)).astype(np.int64)
            pairs.append((user.astype(np.int32), item.astype(np.int32), time))
        user, item, time = (np.concatenate(column) for column in zip(*pairs, strict=True))

        user_ids, item_ids = _ids("u", self.users, 6), _ids("i", self.items, 4)
        interactions = pa.table(
            {
                "user": pa.DictionaryArray.from_arrays(user, pa.array(user_ids)),
                "item": pa.DictionaryArray.from_arrays(item, pa.array(item_ids)),
                "time": time,
                "row": np.arange(1, len(user) + 1),
            }
        )
        return Dataset(
            interactions=interactions,
            items=items.add_column(0, "item_id", pa.array(item_ids)),
            sources={"interactions": "synthetic interactions", "items": "synthetic items"},
            truth={
                "users": user_ids,
                "items": item_ids,
                "user_factors": np.column_stack([tastes[community] + deviation, np.ones(self.users)]).astype("f4"),
                "item_factors": np.column_stack([item_vectors, popularity]).astype("f4"),
            },
        )


def _ids(prefix: str, n: int, width: int) -> np.ndarray:
    """Ids of equal length. Rows are drawn alike, so their order tells nothing of popularity."""
    width = max(width, len(str(n - 1)))
    return np.array([f"{prefix}{i:0{width}}" for i in range(n)])


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _catalogue(rng: np.random.Generator, n: int) -> tuple[pa.Table, np.ndarray, np.ndarray, np.ndarray]:
    """Content table, unit latent vectors, log-popularity and release times of `n` items."""
    names = np.array(list(TOPICS))
    # One to four topics an item; the leading one is mostly a common topic.
    n_topics = 1 + rng.choice(4, size=n, p=[0.25, 0.4, 0.25, 0.1])
    frequency = rng.gumbel(size=(n, len(names))) - 0.6 * np.log1p(rng.permutation(len(names)))
    ranks = frequency.argsort(1)[:, ::-1].argsort(1)
    share = np.where(ranks < n_topics[:, None], 0.6**ranks, 0)
    share /= share.sum(1, keepdims=True)

    release = END - (np.minimum(rng.exponential(6, n), 29.9) * YEAR).astype(np.int64)
    year = np.clip(release.astype("M8[s]").astype("M8[Y]").astype(np.int64) + 1970, OLDEST_YEAR, NEWEST_YEAR)
    age = (NEWEST_YEAR - year) / (NEWEST_YEAR - OLDEST_YEAR)

    topics, era = _unit(rng.normal(size=(len(names), DIMENSIONS))), _unit(rng.normal(size=(2, DIMENSIONS)))
    explained = _unit(share @ topics + 0.5 * np.column_stack([np.cos(np.pi * age), np.sin(np.pi * age)]) @ era)
    hidden = _unit(rng.normal(size=(n, DIMENSIONS)))
    vectors = _unit(np.sqrt(CONTENT_SHARE) * explained + np.sqrt(1 - CONTENT_SHARE) * hidden)

    from_content = share @ rng.normal(size=len(names)) - 2 * age
    popularity = 0.9 * (from_content - from_content.mean()) / from_content.std() + 0.6 * rng.normal(size=n)

    # Two words in three come from the item's topics in their proportions.
    words = np.array(" ".join(TOPICS.values()).split())
    per_topic = len(words) // len(names)
    length = 12
    topic = (rng.random((n, length, 1)) > share.cumsum(1)[:, None, :-1]).sum(2)
    word = words[topic * per_topic + rng.integers(per_topic, size=(n, length))]
    word = np.where(rng.random((n, length)) < 1 / 3, rng.choice(COMMON_WORDS.split(), size=(n, length)), word)
    shown = rng.integers(8, length + 1, size=n)

    table = pa.table(
        {
            "categories": pa.array(
                [names[chosen].tolist() for chosen in ranks < n_topics[:, None]], pa.list_(pa.string())
            ),
            "year": pa.array(year, pa.float64()),
            "text": pa.array([" ".join(row[:k]) for row, k in zip(word, shown, strict=True)]),
            "row": np.arange(1, n + 1),
        }
    )
    return table, vectors, popularity, release


def _people(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each user's community, the communities' tastes, and each user's deviation, all of one length."""
    size = rng.dirichlet(np.full(COMMUNITIES, 3.0))
    community = rng.choice(COMMUNITIES, size=n, p=size)
    tastes = COMMUNITY_STRENGTH * _unit(rng.normal(size=(COMMUNITIES, DIMENSIONS)))
    return community, tastes, PERSONAL_STRENGTH * _unit(rng.normal(size=(n, DIMENSIONS)))


def _activity(rng: np.random.Generator, users: int, total: int, most: int) -> np.ndarray:
    """Long-tailed numbers of interactions between 1 and `most` that add up to `total`."""
    weight = rng.lognormal(sigma=0.9, size=users)
    activity = np.minimum(1 + ((total - users) * weight / weight.sum()).astype(np.int64), most)
    while rest := total - activity.sum():
        open_users = np.flatnonzero(activity < most)
        activity[rng.permutation(open_users)[:rest]] += 1
    return activity


def _pairs(rng, activity, community, deviation, ladder, item_vectors) -> tuple[np.ndarray, np.ndarray]:
    """Each user's first `activity` distinct items in an endless stream drawn with his weights.

    An item is proposed with the community's weights and taken with probability exp(deviation @ vector - length of the
    deviation), which is at most 1 as vectors have length 1. So what is taken has the user's own weights, and
    leaving out repeats makes it a draw without replacement.
    """
    n_items = len(item_vectors)
    keys, missing = np.empty(0, np.int64), activity
    while missing.any():
        user = np.repeat(np.arange(len(activity)), np.where(missing > 0, 8 * missing + 16, 0))
        # A multiple of 2**-40 is added without rounding, so that no search leaves its community.
        height = community[user] + rng.integers(2**40, size=len(user)) / 2**40
        item = np.searchsorted(ladder, height, side="right") - community[user] * n_items
        fit = np.einsum("ij,ij->i", deviation[user], item_vectors[item]) - PERSONAL_STRENGTH
        taken = rng.random(len(user)) < np.exp(fit)
        keys = np.concatenate([keys, user[taken] * n_items + item[taken]])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
        keys = keys[np.argsort(keys // n_items, kind="stable")]
        user = keys // n_items
        position = np.arange(len(keys)) - np.searchsorted(user, user)
        keys = keys[position < activity[user]]
        missing = activity - np.bincount(keys // n_items, minlength=len(activity))
    return keys // n_items, keys % n_items
