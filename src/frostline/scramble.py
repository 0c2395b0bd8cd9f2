"""Labels that know how active users are and how popular items are, and nothing of who likes what.

The relevant pairs are rewired at random with every query's and every item's number of pairs kept. What a system scores on
them is owed to activity and popularity alone; what it scores above that is taste.
"""

from __future__ import annotations

import numpy as np

from frostline.evaluation import BLOCK, Grid, is_sparse

ROUNDS = 8
"""Global trades. On MovieLens-1M eight leave 27.2 % of the pairs where they were, forty leave 26.6 %; without the
exchanges between equals it takes twenty-four."""

Pairs = tuple[np.ndarray, np.ndarray]


def scramble(
    query: np.ndarray,
    column: np.ndarray,
    scores: Grid,
    rng: np.random.Generator,
    excluded: Pairs | None = None,
) -> Pairs:
    """Rewire pairs by global curveball trades.

    In a trade two queries lay together the items that only one of them has, and draw from these at random as many as each
    laid down; an item that is excluded for one of the two stays where it is. In a round all queries trade at once, in
    random couples, and in the next one all items. Before each, queries of equally many pairs, and items likewise, exchange
    all they have, which mixes active users and popular items faster; where pairs are excluded they cannot, and there are
    three times the rounds. All moves are as likely as their reverse, so the rewirings that they reach are equally likely.

    Strona, Nappo, Boccacci, Fattorini & San-Miguel-Ayanz, "A fast and unbiased procedure to randomize ecological binary
    matrices with fixed row and column totals", Nature Communications 5, 2014; in couples: Carstens, Hamann, Meyer,
    Penschuck, Tran & Wagner, "Parallel and I/O-efficient randomisation of massive networks using global curveball
    trades", ESA 2018.

    Parameters
    ----------
    query, column : ndarray of int, shape (n_pairs,)
        Different pairs.
    scores : Grid
        Its shape is what the pairs lie in. Its values only order queries, and items, that the pairs alone cannot tell apart.
    rng : Generator
    excluded : (query, column), optional
        Pairs that must not occur.

    Returns
    -------
    query, column : ndarray of int64, shape (n_pairs,)
        By query. Renaming queries and items, which permutes the rows and columns of the scores, renames them here too.
    """
    members = _numbering(query, column, scores)
    places = [_places(own, n) for own, n in zip(members, scores.shape, strict=True)]
    ends = [place[of] for place, of in zip(places, (query, column), strict=True)]
    barred = None
    if excluded is not None and len(excluded[0]):
        user, item = (place[of] for place, of in zip(places, excluded, strict=True))
        concerned = (user >= 0) & (item >= 0)
        barred = user[concerned], item[concerned]
    sizes = [np.bincount(end) for end in ends]
    for turn in range(ROUNDS if barred is None else 3 * ROUNDS):
        if barred is None:
            ends = [_exchange(size, rng)[end] for size, end in zip(sizes, ends, strict=True)]
        own = turn % 2
        ends[own], ends[1 - own] = _trade(
            ends[own], ends[1 - own], sizes[own], rng, barred and (barred[own], barred[1 - own])
        )
    cells = np.sort(members[0][ends[0]] * scores.shape[1] + members[1][ends[1]])
    return np.divmod(cells, scores.shape[1])


def _exchange(size: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random permutation that moves everyone to the place of one of equal size."""
    moved = np.empty(len(size), np.int64)
    moved[np.argsort(size, kind="stable")] = np.lexsort((rng.random(len(size)), size))
    return moved


def _trade(owner: np.ndarray, thing: np.ndarray, size: np.ndarray, rng, barred: Pairs | None) -> Pairs:
    """Let all owners trade in random couples."""
    n, bits = len(size), int(thing.max()).bit_length()
    low = (1 << bits) - 1
    by_seat = rng.permutation(n)  # seats 2c and 2c + 1 are couple c; of an odd number the last owner waits
    seat = _places(by_seat, n)
    # By couple, thing and side: what both have stands twice in a row. In place where it can be: memory is what takes time.
    key = ((seat >> 1) << (bits + 1) | seat & 1)[owner]
    key |= thing << 1
    key.sort()
    stays = np.zeros(len(key), bool)
    stays[1:] = key[1:] ^ key[:-1] == 1
    stays[:-1] |= stays[1:]
    if barred is not None:
        other = by_seat[np.minimum(_seats(key, bits) ^ 1, n - 1)]
        stays |= np.isin(other << bits | key >> 1 & low, barred[0] << bits | barred[1])
    fixed, loose = key[stays], key[~stays]
    laid = np.bincount(_seats(loose, bits), minlength=n)
    # In a random order within each couple, the first ones go to its first seat and the others to its second.
    room = 63 - n.bit_length() - bits
    drawn = loose >> (bits + 1)
    drawn <<= room
    drawn |= rng.integers(1 << room, size=len(loose))
    drawn <<= bits
    drawn |= loose >> 1 & low
    drawn.sort()
    drawn &= low
    return (
        np.concatenate([np.repeat(by_seat, laid), by_seat[_seats(fixed, bits)]]),
        np.concatenate([drawn, fixed >> 1 & low]),
    )


def _seats(key: np.ndarray, bits: int) -> np.ndarray:
    return key >> (bits + 1) << 1 | key & 1


def _places(members: np.ndarray, n: int) -> np.ndarray:
    """Where each of the numbers 0 … n − 1 stands among the members; −1 if it does not."""
    place = np.full(n, -1, np.int64)
    place[members] = np.arange(len(members))
    return place


def _numbering(query: np.ndarray, column: np.ndarray, scores: Grid) -> tuple[np.ndarray, np.ndarray]:
    """The queries and the columns that have pairs, in an order that does not depend on how they are numbered.

    The pairs decide, by colour refinement (Weisfeiler & Leman, 1968), so that all systems see the same rewiring; among those
    that the pairs cannot tell apart the scores do. What is then still alike can be exchanged without moving any figure.
    """
    n_queries, n_items = scores.shape
    users, items = np.zeros(n_queries, np.uint64), np.zeros(n_items, np.uint64)
    for _ in range(4):
        users, items = (
            _mixed(users + _sums(query, items[column], n_queries)),
            _mixed(items + _sums(column, users[query], n_items)),
        )
    present = [np.flatnonzero(np.bincount(end)) for end in (query, column)]
    alike = [_alike(keys, members) for keys, members in zip((users, items), present, strict=True)]
    found = users.copy(), items.copy()
    if is_sparse(scores):
        row = np.repeat(np.arange(n_queries), np.diff(scores.matrix.indptr))
        bits = _bits(scores.matrix.data)
        found[0][:] += _sums(row, _mixed(bits ^ items[scores.matrix.indices]), n_queries)
        found[1][:] += _sums(scores.matrix.indices, _mixed(bits ^ users[row]), n_items)
        found[1][:] += _mixed(_bits(np.broadcast_to(scores.fill, n_items)))
        alike = []
    for start in range(0, n_queries, BLOCK) if alike else ():
        inside = slice(*np.searchsorted(alike[0], [start, start + BLOCK]))
        if alike[0][inside].size or alike[1].size:
            block = np.asarray(scores[start : start + BLOCK], np.float32)
            for row in alike[0][inside].tolist():
                found[0][row : row + 1] += _mixed(_bits(block[row - start]) ^ items).sum()
            for col in alike[1].tolist():
                found[1][col : col + 1] += _mixed(_bits(block[:, col]) ^ users[start : start + BLOCK]).sum()
    return tuple(
        members[np.argsort(keys[members], kind="stable")] for keys, members in zip(found, present, strict=True)
    )


def _alike(keys: np.ndarray, members: np.ndarray) -> np.ndarray:
    _, first, count = np.unique(keys[members], return_inverse=True, return_counts=True)
    return members[count[first] > 1]


def _sums(index: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    total = np.zeros(n, np.uint64)
    np.add.at(total, index, values)
    return total


def _bits(scores: np.ndarray) -> np.ndarray:
    return (scores + np.float32(0)).view(np.uint32).astype(np.uint64)  # −0 is 0


def _mixed(keys: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): every bit depends on all."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
