"""Times of any common form to unix seconds."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.tablefile.column import Column, is_castable

_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_PROBLEM = "cannot be read as a time stamp", "Write unix seconds or ISO 8601, the same in all rows"


class Times:
    """Turns the batches of a column of times into unix seconds; the first batch decides on form and unit.

    Attributes
    ----------
    notes : list of str
        How the times were understood, where that is not a matter of course.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._unit: int | None = None
        self._is_number: bool | None = None

    def seconds(self, column: Column) -> pa.Array:
        """Int64, null where missing; times without a zone are in UTC."""
        values, kind = column.values, column.values.type
        if column.is_text:
            values = self._parsed(column)
        elif pa.types.is_date(kind):
            self._say(column, "days begin at 00:00 UTC")
            values = values.cast(pa.timestamp("s"))
        elif pa.types.is_decimal(kind):
            values = values.cast(pa.float64())
        if pa.types.is_timestamp(values.type):
            if values.type.tz is None and not column.is_text:
                self._say(column, "times without a zone were taken as UTC")
            size = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
            number, known = _numpy(values.cast(pa.int64()))
            return pa.array(number // size, mask=~known)
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            column.refuse_type("times", "Convert the column to a time stamp, or to unix seconds")
        number, known = _numpy(values)
        wild = ~(np.abs(number) < 1e20)
        column.note(np.flatnonzero(wild), "is no time in any unit", "Mend or remove the row")
        return self._in_seconds(column, number, known & ~wild)

    def _in_seconds(self, column: Column, number: np.ndarray, known: np.ndarray) -> pa.Array:
        # Seconds reach 1e11 in the year 5138; milliseconds reached it in 1973.
        if self._unit == 0 and number.min(initial=0) > -1e11 and number.max(initial=0) < 1e11:
            return pa.array(np.floor(number).astype(np.int64), mask=~known)
        thousands = np.searchsorted([1e11, 1e14, 1e17], np.abs(number), side="right")
        telling = known & (number != 0)
        if self._unit is None and telling.any():
            units, rows = np.unique(thousands[telling], return_counts=True)
            self._unit = int(units[rows.argmax()])
            if self._unit:
                self._say(column, f"times were read as {_UNITS[self._unit]}")
        unit = self._unit or 0
        wrong = np.flatnonzero(telling & (thousands != unit))
        column.note(wrong, f"does not fit the other times, which are {_UNITS[unit]}", "Write all times in one unit")
        return pa.array((np.where(known, number, 0) // 1000**unit).astype(np.int64), mask=~known)

    def _parsed(self, column: Column) -> pa.ChunkedArray:
        if self._is_number is None:
            known = column.values.filter(pa.array(~column.is_missing()))
            if len(known):
                self._is_number = is_castable(pc.utf8_trim_whitespace(known[:1]), pa.float64())
        if self._is_number is not False:
            with suppress(pa.ArrowException):
                return column.values.cast(pa.int64())
            whole = column.parsed(pa.int64(), lambda text: _PROBLEM) if self._is_whole(column) else None
            return column.parsed(pa.float64(), lambda text: _PROBLEM) if whole is None else whole
        with suppress(pa.ArrowException):
            return column.values.cast(pa.timestamp("us", "UTC"))
        if pc.any(pc.match_substring_regex(column.values, _NO_ZONE)).as_py():
            self._say(column, "times without a zone were taken as UTC")
        return column.parsed(pa.timestamp("us", "UTC"), lambda text: _PROBLEM, prepare=_with_zone)

    def _is_whole(self, column: Column) -> bool:
        """Whether every number is whole: a float would round what is larger than 2⁵³."""
        known = pc.utf8_trim_whitespace(column.values).filter(pa.array(~column.is_missing()))
        return pc.all(pc.match_substring_regex(known, r"^-?\d{1,18}$")).as_py() is not False

    def _say(self, column: Column, what: str) -> None:
        note = f"{column.file}, field '{column.name}': {what}"
        if note not in self.notes:
            self.notes.append(note)


_NO_ZONE = r"^\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?\s*$"


def _with_zone(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO 8601 with at most microseconds, and in UTC where no zone is given."""
    values = pc.utf8_trim_whitespace(values)
    values = pc.replace_substring_regex(values, r"^(\d{4}-\d\d-\d\d)$", r"\1T00:00")
    values = pc.replace_substring_regex(values, r"(\.\d{6})\d+", r"\1")
    values = pc.replace_substring_regex(values, r"\s*UTC$", "Z")
    return pc.replace_substring_regex(values, r"([T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)$", r"\1Z")


def _numpy(values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with 0 for what is null or NaN, and where they are known."""
    known = (
        pc.is_valid(values)
        if not pa.types.is_floating(values.type)
        else pc.invert(pc.is_null(values, nan_is_null=True))
    )
    known = known.to_numpy()
    return np.where(known, values.fill_null(0).to_numpy(), 0), known
