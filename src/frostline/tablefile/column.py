"""From a column as it was read to ids, numbers, times and content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.dataset import KINDS, MISSING
from frostline.errors import InputError
from frostline.faults import Faults

_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class Column:
    """Values of one column with what a message needs: their rows, the file and the column's name.

    A cell that cannot be converted is noted in `faults` and null in the result; without `faults`, and for a column of a
    type that cannot hold what it should, InputError is raised at once.
    """

    def __init__(
        self, values: pa.ChunkedArray | pa.Array, row: np.ndarray, file: str, name: str, faults: Faults | None = None
    ) -> None:
        if isinstance(values, pa.Array):
            values = pa.chunked_array([values])
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if any(check(values.type) for check in _TEXT):
            values = values.cast(pa.string())
        if pa.types.is_null(values.type):
            values = values.cast(pa.string())
        self.values, self.file, self.name = values, file, name
        self._row, self._faults = row, faults
        self.is_text = values.type == pa.string()

    def ids(self) -> pa.ChunkedArray:
        """Ids as text, as it is written; whole numbers become decimal text."""
        kind = self.values.type
        is_whole = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0)
        if not (self.is_text or is_whole):
            self.refuse_type("ids", "Store ids as text or whole numbers: 7 and 7.0 would be different ids")
        return self.values.cast(pa.string())

    def numbers(self, missing: bool) -> pa.ChunkedArray:
        """Float64 without infinities, null where a number is missing; `missing` says whether one may be."""
        values, kind = self.values, self.values.type
        if self.is_text:
            values = self.parsed(pa.float64(), _number_problem)
        elif not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_boolean(kind)
        ):
            self.refuse_type("numbers", "Convert the column")
        values = values.cast(pa.float64(), safe=False)
        number = values.fill_null(np.nan).to_numpy()
        wrong = np.isinf(number)
        if not missing:
            wrong |= np.isnan(number)
            if self.is_text and wrong.any():
                # What is null although something is written there is no number, and was noted.
                wrong &= self.is_missing() | pc.is_valid(values).to_numpy()
        self.note(np.flatnonzero(wrong), "is not a finite number", "Mend or remove the row")
        return pa.chunked_array([pa.array(number, mask=~np.isfinite(number))])

    def content(self, kind: str, separator: str) -> pa.ChunkedArray | pa.Array:
        """The column as a content field of that kind (`KINDS`)."""
        if kind == "number":
            return self.numbers(missing=True)
        is_list = pa.types.is_list(self.values.type) or pa.types.is_large_list(self.values.type)
        try:
            if kind == "categories" and not is_list:
                return pc.split_pattern(self.values.cast(pa.string()), separator)
            return self.values.cast(KINDS[kind])
        except pa.ArrowException:
            self.refuse_type(kind, "Convert the column, or give another kind under `as`")

    def lacks(self, separator: str) -> bool:
        """Whether no text contains the separator."""
        return self.is_text and not pc.any(pc.match_substring(self.values, separator)).as_py()

    def is_missing(self) -> np.ndarray:
        """Where text spells a missing value, or there is none."""
        trimmed = pc.utf8_trim_whitespace(self.values)
        return pc.or_(pc.is_null(trimmed), pc.is_in(trimmed, pa.array(MISSING))).to_numpy()

    def parsed(
        self, kind: pa.DataType, problem: Callable[[str], tuple[str, str]], prepare: Callable = pc.utf8_trim_whitespace
    ) -> pa.ChunkedArray:
        """Text cast to a type, null where it is missing or, which is noted, cannot be cast.

        `problem` says what is wrong with a text and what to do; `prepare` normalises text before the cast.
        """
        try:
            return self.values.cast(kind)
        except pa.ArrowException:
            pass
        prepared = prepare(self.values).combine_chunks().dictionary_encode()
        texts = pc.if_else(pc.is_in(prepared.dictionary, pa.array(MISSING)), None, prepared.dictionary)
        uncastable = _uncastable(texts, kind)
        said = {i: problem(texts[i].as_py()) for i in uncastable}
        place = prepared.indices.fill_null(-1).to_numpy()
        for what in dict.fromkeys(said.values()):
            self.note(np.flatnonzero(np.isin(place, [i for i in said if said[i] == what])), *what)
        keep = np.ones(len(texts), dtype=bool)
        keep[uncastable] = False
        numbers = pc.if_else(pa.array(keep), texts, None).cast(kind)
        return pa.chunked_array([numbers.take(pa.array(prepared.indices))])

    def note(self, index: np.ndarray, problem: str, remedy: str) -> None:
        """Note the values at `index` as faults."""
        if len(index):
            faults = Faults() if self._faults is None else self._faults
            value = self.values[int(index[0])].as_py()
            faults.add(self.file, self.name, problem, remedy, self._row[index], value)
            if self._faults is None:
                faults.raise_if_any()

    def refuse_type(self, what: str, remedy: str) -> NoReturn:
        raise InputError(
            f"the column's type {self.values.type} cannot hold {what}", remedy, file=self.file, field=self.name
        )


def _number_problem(text: str) -> tuple[str, str]:
    remedy = "Write decimals with a point" if "," in text else "Mend or remove the row"
    return "is not a number", remedy


def is_castable(values: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        values.cast(kind)
    except pa.ArrowException:
        return False
    return True


def _uncastable(values: pa.Array, kind: pa.DataType) -> Sequence[int]:
    """Places of all values that cannot be cast, found by halving."""
    found, pending = [], [(0, len(values))]
    while pending:
        low, high = pending.pop()
        if is_castable(values[low:high], kind):
            continue
        if high - low == 1:
            found.append(low)
        else:
            middle = (low + high) // 2
            pending += [(middle, high), (low, middle)]
    return found
