"""Columns of numbers for many rows in little memory: in chunks, each as narrow as its values allow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

CHUNK = 2**19
"""Rows of a chunk, or a few more: many small arrays among what comes and goes would leave holes in the memory."""


class Packed:
    """Rows of numeric columns that are appended and then taken out in ranges of one column."""

    def __init__(self) -> None:
        self._chunks: list[dict[str, np.ndarray]] = []
        self._open: list[dict[str, np.ndarray]] = []
        self._length = self._closed = 0

    def __len__(self) -> int:
        return self._length

    def append(self, **columns: np.ndarray) -> None:
        """Add rows; every call gives the same columns, int64, float64 or bool."""
        self._open.append({name: narrow(values) for name, values in columns.items()})
        self._length += len(next(iter(columns.values())))
        if self._length - self._closed >= CHUNK:
            self.close()

    def close(self) -> None:
        """Make a chunk of what has been added since the last one; to be called before rows are taken out."""
        if self._open:
            self._chunks.append({name: narrow(_wide([part[name] for part in self._open])) for name in self._open[0]})
            self._open, self._closed = [], self._length

    def replace(self, name: str, by: np.ndarray) -> None:
        """Turn each value v of a column into `by[v]`."""
        for chunk in self._chunks:
            chunk[name] = narrow(by[chunk[name]])

    def counts(self, name: str, size: int) -> np.ndarray:
        """How often each of 0 … size − 1 occurs in a column, int64."""
        total = np.zeros(size, dtype=np.int64)
        for chunk in self._chunks:
            total += np.bincount(chunk[name], minlength=size)
        return total

    def rows(self, name: str, low: int, high: int) -> dict[str, np.ndarray]:
        """The rows whose value in one column is in [low, high): all columns, int64, float64 or bool, and their `place`."""
        parts: list[dict[str, np.ndarray]] = []
        start = 0
        for chunk in self._chunks:
            values = chunk[name]
            index = np.flatnonzero((values >= low) & (values < high))
            parts.append({column: array[index] for column, array in chunk.items()} | {"place": start + index})
            start += len(values)
        return {column: _wide([part[column] for part in parts]) for column in parts[0]}


def ranges(counts: np.ndarray, rows: int) -> Iterator[tuple[int, int]]:
    """Cut 0 … len(counts) into ranges that together hold at most that many rows, or are one value that has more."""
    total = np.cumsum(counts)
    low = 0
    while low < len(counts):
        before = total[low - 1] if low else 0
        high = max(int(np.searchsorted(total, before + rows, side="right")), low + 1)
        yield low, high
        low = high


def narrow(values: np.ndarray) -> np.ndarray:
    """The same values in the smallest type that holds them all; a constant takes no memory."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if low == high:
        return np.broadcast_to(values[:1].copy(), values.shape)
    if values.dtype == bool:
        return values
    if values.dtype.kind == "i":
        return values.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
    for smaller in (np.float16, np.float32):
        with np.errstate(over="ignore"):
            candidate = values.astype(smaller)
        if (candidate == values).all():
            return candidate
    return values


def _wide(parts: list[np.ndarray]) -> np.ndarray:
    wide = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}[parts[0].dtype.kind]
    return np.concatenate(parts, dtype=wide, casting="unsafe")
