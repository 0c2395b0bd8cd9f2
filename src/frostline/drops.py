"""Rows that are left out, by reason: how many, and the first few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

EXAMPLES = 5


class Drops:
    """Counts dropped rows and keeps the `EXAMPLES` first ones of each reason."""

    def __init__(self) -> None:
        self._number: Counter[str] = Counter()
        self._examples: dict[str, list[dict[str, Any]]] = {}

    def add(self, reason: str, rows: np.ndarray, describe: Callable[[int], tuple[str, str]]) -> None:
        """Count rows of files; `describe(i)` gives the file and the value to show of the i-th."""
        if not len(rows):
            return
        self._number[reason] += len(rows)
        first = np.argsort(rows, kind="stable")[:EXAMPLES].tolist()
        found = self._examples.get(reason, [])
        for index, (file, value) in zip(first, map(describe, first), strict=True):
            found.append({"file": file, "row": int(rows[index]), "value": value})
        self._examples[reason] = sorted(found, key=lambda example: example["row"])[:EXAMPLES]

    def include(self, counts: Mapping[str, int], examples: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Add what the adapter left out."""
        self._number.update(counts)
        self._examples |= {reason: list(found[:EXAMPLES]) for reason, found in examples.items()}

    def counts(self, kept: int) -> dict[str, Any]:
        """Rows read, kept and dropped by reason: read = kept + dropped."""
        return {"read": kept + self._number.total(), "kept": kept, "dropped": dict(sorted(self._number.items()))}

    def examples(self, line_of: Callable[[str, int], int]) -> dict[str, list[dict[str, Any]]]:
        """The examples, with rows as a person counts them."""
        return {
            reason: [example | {"row": line_of(example["file"], example["row"])} for example in found]
            for reason, found in self._examples.items()
        }
