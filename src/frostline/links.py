"""From references that a catalogue writes to links between its items, with account of every one that leads nowhere.

Duplicate rows of an item become one: the longest text stays, the links of all rows are united.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

SELF, OUTSIDE, AMBIGUOUS = "self_reference", "outside_reference", "ambiguous_reference"
REPEATED = "repeated_link"


@dataclass(frozen=True)
class Reference:
    """What the row of an item says about another one.

    Attributes
    ----------
    source : str
        Key of the item that refers.
    text : str
        The reference as it is written.
    file, row : str, int
        Where, for the report.
    """

    source: str
    text: str
    file: str = field(compare=False, default="")
    row: int = field(compare=False, default=0)


@dataclass(frozen=True)
class Links:
    """Resolved references.

    Attributes
    ----------
    pairs : list of (str, str)
        Directed links (source, target) without repeats, sorted.
    dropped : dict of str to int
        References that gave no pair of their own, by reason: references read = `len(pairs)` + their sum.
    report : dict
        Every count, the unresolved references and the colliding keys, for `quality.json`.
    """

    pairs: list[tuple[str, str]]
    dropped: dict[str, int]
    report: dict[str, Any]

    def table(self) -> pa.Table:
        """The pairs as interactions: `user` is the item that refers, `item` the other one, `row` counts the pairs."""
        return pa.table(
            {
                "user": pa.array([source for source, _ in self.pairs], pa.string()),
                "item": pa.array([target for _, target in self.pairs], pa.string()),
                "row": pa.array(range(1, len(self.pairs) + 1), pa.int64()),
            }
        )


def without_spaces(key: str) -> str:
    """A key as references spell it.

    >>> without_spaces("MATSCI C135")
    'MATSCIC135'
    """
    return "".join(key.split())


def leading_token(reference: str) -> str:
    """What a reference is looked up by: the text before its first space.

    >>> leading_token("MATSCIC135 MATS EXTRM ENVRMTS")
    'MATSCIC135'
    """
    return reference.split(maxsplit=1)[0] if reference.strip() else ""


def resolve(
    references: Sequence[Reference],
    keys: Sequence[str],
    spelling: Callable[[str], str] = str,
    token: Callable[[str], str] = str.strip,
    reason: Callable[[str], str] = lambda reference: OUTSIDE,
) -> Links:
    """Look every reference up among the keys.

    Parameters
    ----------
    references : sequence of Reference
    keys : sequence of str
        Keys of the catalogue's items, without repeats.
    spelling : callable
        How a key is spelt in references. Two keys of one spelling collide: a reference to them is ambiguous, because
        either would be a guess.
    token : callable
        The part of a reference that is looked up.
    reason : callable
        Why an unresolved reference leads nowhere: `OUTSIDE`, or what else the source is known to write there.

    Notes
    -----
    A reference counts once for each row that writes it (`references`), and once for each item (`after_collapse`);
    those of different texts may still be one link.
    """
    spelt: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        spelt[spelling(key)].append(key)
    pairs: list[tuple[str, str]] = []
    resolved: list[Reference] = []
    dropped: dict[str, int] = defaultdict(int)
    unresolved = []
    for reference in references:
        targets = spelt.get(token(reference.text), [])
        if len(targets) == 1 and targets[0] != reference.source:
            pairs.append((reference.source, targets[0]))
            resolved.append(reference)
            continue
        why = AMBIGUOUS if len(targets) > 1 else SELF if targets else reason(reference.text)
        dropped[why] += 1
        place = {"file": reference.file, "row": reference.row}
        unresolved.append({"item": reference.source, "reference": reference.text, "reason": why, **place})
    links = sorted(set(pairs))
    if len(links) < len(pairs):
        dropped[REPEATED] = len(pairs) - len(links)
    undirected = {frozenset(pair) for pair in links}
    report = {
        "references": len(references),
        "resolved": len(pairs),
        "resolution_rate": len(pairs) / len(references) if references else None,
        "after_collapse": {"references": len(set(references)), "resolved": len(set(resolved))},
        "dropped": dict(sorted(dropped.items())),
        "directed": {"links": len(links), "queries": len({source for source, _ in links})},
        "symmetric": {"links": 2 * len(undirected), "queries": len(set().union(*undirected))},
        "undirected": len(undirected),
        "unresolved": sorted(unresolved, key=lambda entry: tuple(map(str, entry.values()))),
        "collisions": sorted(sorted(group) for group in spelt.values() if len(group) > 1),
    }
    return Links(links, dict(dropped), report)


def longest(keys: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[list[int], dict[str, list[int]]]:
    """Which row stays of each key, and the rows of the keys that have several.

    The longest text stays, of equally long ones the last in the order of the alphabet, whatever the order of the rows.

    Parameters
    ----------
    keys : sequence of str, length n_rows
    texts : sequence of n_rows sequences of str
        All text of each row.

    Returns
    -------
    kept : list of int
        Row numbers, by key.
    repeated : dict of str to list of int
        Keys of several rows, with these.

    >>> longest(["b", "a", "b"], [["short"], ["x"], ["longer"]])
    ([1, 2], {'b': [0, 2]})
    """
    rows: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    kept = [max(rows[key], key=lambda row: (sum(map(len, texts[row])), *texts[row])) for key in sorted(rows)]
    return kept, {key: rows[key] for key in sorted(rows) if len(rows[key]) > 1}
