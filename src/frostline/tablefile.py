"""Tables in files of a user's: CSV, TSV or Parquet, read so that whatever is wrong is named with its row and field."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from frostline.dataset import KINDS, MISSING
from frostline.errors import InputError, suggest

SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def open_file(file: BinaryIO, name: str, separator: str | None = None, encoding: str = "utf-8") -> Source:
    """A file as a source of columns: Parquet if it starts like one, and separated text otherwise, whatever its name."""
    file.seek(0)
    return ParquetSource(file, name) if file.read(4) == b"PAR1" else TextSource(file, name, separator, encoding)


def require(source: Source, column: str, remedy: str) -> None:
    if column not in source.columns:
        source.explain_absence(column)
        # The nearest spelling is sought without regard to case and outer spaces first.
        same = [name for name in source.columns if name.strip().casefold() == column.strip().casefold()]
        hint = (
            f"did you mean '{same[0]}'? Allowed: {', '.join(source.columns)}"
            if same
            else suggest(column, source.columns)
        )
        raise InputError("there is no such column", f"{remedy}: {hint}", file=source.name, field=column)
    if source.columns.count(column) > 1:
        raise InputError(
            "the header has this column more than once", "Rename one", file=source.name, row=1, field=column
        )


class ParquetSource:
    """A Parquet file; its rows are counted from 1."""

    notes = ()

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        with self._readable():
            self._file = pq.ParquetFile(file)
            self.columns = self._file.schema_arrow.names

    def read(self, columns: list[str]) -> tuple[pa.Table, np.ndarray]:
        with self._readable():
            table = self._file.read(columns)
        if not table.num_rows:
            raise InputError("has no rows", "Export it again with its rows", file=self.name)
        return table, np.arange(1, table.num_rows + 1)

    def explain_absence(self, column: str) -> None:
        """Parquet has no separator that could be wrong."""

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"is not a readable Parquet file ({error})", "Export it again", file=self.name) from error


class TextSource:
    """Separated text with a header; rows are counted as an editor counts lines, the header's being the first."""

    def __init__(self, file: BinaryIO, name: str, separator: str | None, encoding: str) -> None:
        self.name, self._file, self._encoding = name, file, codecs.lookup(encoding).name
        try:
            with self._lines() as lines:
                self._header = next((line for line in lines if line.strip()), "").rstrip("\r\n")
        except UnicodeError as error:
            self._refuse_bytes(error)
        if not self._header:
            raise InputError("is empty", "Give a file with a header and rows", file=name)
        best = max(SEPARATORS, key=lambda candidate: len(self._split(candidate)))
        self._separator = separator or best
        self.columns = self._split(self._separator)
        guessed = separator is None and best != ","
        self.notes = [f"{name}: the separator was recognised as {SEPARATORS[best]}"] if guessed else []

    def read(self, columns: list[str]) -> tuple[pa.Table, np.ndarray]:
        """Read columns as text, with the row of each record."""
        self._file.seek(0)
        try:
            table = arrow_csv.read_csv(
                self._file,
                arrow_csv.ReadOptions(encoding="utf8" if self._encoding == "utf-8" else self._encoding),
                arrow_csv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
                arrow_csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string())),
            )
        except (pa.ArrowInvalid, UnicodeError) as error:
            # Arrow does not say where; the slow reader does, if it objects to the same.
            self._rows()
            raise InputError(
                f"cannot be read ({error})", "Mend or remove what it complains of", file=self.name
            ) from error
        if not table.num_rows:
            raise InputError("has a header but no rows", "Export it again with its rows", file=self.name)
        if self._count_lines() == table.num_rows + 1:
            return table, np.arange(2, table.num_rows + 2)
        # Blank lines or values of several lines: rows need looking up, and an unbalanced quote looks just like this.
        row = self._rows()
        if len(row) != table.num_rows:
            raise InputError(
                f"can be read as {len(row)} or as {table.num_rows} records",
                "Mend its quotes and line ends",
                file=self.name,
            )
        return table, row

    def explain_absence(self, column: str) -> None:
        """Raise if the column is absent because the header was divided by the wrong separator."""
        other = next((s for s in SEPARATORS if column in self._split(s)), None)
        if other is None and len(self.columns) > 1:
            return
        shown = SEPARATORS.get(self._separator, repr(self._separator))
        problem = f"the header {self._header[:80]!r} has no column '{column}' when divided by {shown}"
        if other:
            remedy = f"It seems to be divided by {SEPARATORS[other]}; set `separator: {other!r}`"
        elif "::" in self._header:
            remedy = (
                "It seems to be divided by '::', and a separator is one character; replace it, for example by a tab"
            )
        else:
            remedy = "Set `separator` to the character that divides it"
        raise InputError(problem, remedy, file=self.name, row=1)

    def _split(self, separator: str) -> list[str]:
        return next(csv.reader([self._header], delimiter=separator))

    @contextmanager
    def _lines(self) -> Iterator[io.TextIOWrapper]:
        self._file.seek(0)
        encoding = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        text = io.TextIOWrapper(self._file, encoding=encoding, newline="")
        try:
            yield text
        finally:
            # Or the file would be closed with the wrapper.
            text.detach()

    def _count_lines(self) -> int:
        self._file.seek(0)
        count, last = 0, b""
        while chunk := self._file.read(2**20):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
        return count + (last != b"\n")

    def _rows(self) -> np.ndarray:
        """Row of each record after the header, by a slow reading that says where a record is malformed."""
        csv.field_size_limit(sys.maxsize)
        found, line = [], 1
        try:
            with self._lines() as lines:
                reader = csv.reader(lines, delimiter=self._separator, strict=True)
                for record in reader:
                    if record:
                        if len(record) != len(self.columns):
                            raise InputError(
                                f"found {len(record)} fields, expected {len(self.columns)} as in the header",
                                "Complete or remove it; a separator inside a value needs quotes around the value",
                                file=self.name,
                                row=line,
                            )
                        found.append(line)
                    line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"quotes are not balanced from here on ({error})",
                "Close the quote, and write a quote inside a quoted value twice",
                file=self.name,
                row=line,
            ) from error
        except UnicodeError as error:
            self._refuse_bytes(error)
        return np.array(found[1:])

    def _refuse_bytes(self, error: UnicodeError) -> NoReturn:
        """Say which bytes are not of the encoding, and in which line; the given error came from somewhere near."""
        self._file.seek(0)
        likely = "utf-16" if self._file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8 or cp1252"
        problem, row = f"is not {self._encoding} ({error})", None
        self._file.seek(0)
        decoder, line = codecs.getincrementaldecoder(self._encoding)(), 1
        try:
            while chunk := self._file.read(2**20):
                line += decoder.decode(chunk).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as found:
            problem = f"the bytes {found.object[found.start : found.start + 8]!r} are not {self._encoding}"
            row = line + found.object[: found.start].count(b"\n")
        except UnicodeError:
            # UTF-16 without its mark has no position.
            pass
        remedy = f"Set `encoding` to what the file is written in, for example {likely}"
        raise InputError(problem, remedy, file=self.name, row=row) from error


class Column:
    """One column as it was read, with what a message needs: the rows, the file and the column's name."""

    def __init__(self, values: pa.ChunkedArray, row: np.ndarray, file: str, name: str) -> None:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if any(check(values.type) for check in _TEXT):
            values = values.cast(pa.string())
        self._values, self._row, self._file, self._name = values, row, file, name
        self._is_text = values.type == pa.string()

    def ids(self) -> pa.ChunkedArray:
        """Ids as text, dictionary-encoded."""
        if not (self._is_text or pa.types.is_integer(self._values.type)):
            self._refuse_type("ids", "Store ids as text or whole numbers: 7 and 7.0 would be different ids")
        return self._values.cast(pa.string()).dictionary_encode()

    def numbers(self, missing: bool) -> pa.ChunkedArray:
        """Float64 without infinities, null where a number is missing."""
        values, kind = self._values, self._values.type
        if self._is_text:
            values = _blank_out(values)
            wrong = _first_uncastable(values, pa.float64())
            if wrong is not None:
                remedy = "Write decimals with a point" if "," in values[wrong].as_py() else "Mend or remove the row"
                self._refuse(wrong, "is not a number", remedy)
        elif not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_boolean(kind)
        ):
            self._refuse_type("numbers", "Convert the column")
        values = values.cast(pa.float64(), safe=False)
        number = values.fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(np.isinf(number) if missing else ~np.isfinite(number))
        if len(wrong):
            self._refuse(wrong[0], "is not a finite number", "Mend or remove the row")
        return pa.chunked_array([pa.array(number, mask=np.isnan(number))])

    def unix_seconds(self) -> tuple[pa.Array, str]:
        """Times as int64 seconds, null where missing, and the unit that they came in."""
        values, kind = self._values, self._values.type
        if self._is_text:
            values = _blank_out(values)
            sample = values.drop_null().slice(0, 1)
            if _first_uncastable(sample, pa.float64()) is None:
                whole = _first_uncastable(values, pa.int64()) is None
                values = self._parsed(values, pa.int64() if whole else pa.float64())
            elif _first_uncastable(values, pa.timestamp("us")) is None:
                values = values.cast(pa.timestamp("us"))
            else:
                values = self._parsed(_with_zone(values), pa.timestamp("us", "UTC"))
        elif pa.types.is_date(kind):
            values = values.cast(pa.timestamp("s"))
        if pa.types.is_timestamp(values.type):
            size = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
            number, known = _numpy(values.cast(pa.int64()))
            return pa.array(number // size, mask=~known), "seconds"
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            self._refuse_type("times", "Convert the column to a time stamp, or to unix seconds")
        number, known = _numpy(values)
        if len(wrong := np.flatnonzero(~(np.abs(number) < 1e20))):
            self._refuse(wrong[0], "is no time in any unit", "Mend or remove the row")
        # Seconds reach 1e11 in the year 5138; milliseconds reached it in 1973.
        thousands = np.searchsorted([1e11, 1e14, 1e17], np.abs(number), side="right")
        units, rows = np.unique(thousands[known & (number != 0)], return_counts=True)
        unit = units[rows.argmax()] if len(units) else 0
        if len(wrong := np.flatnonzero(known & (number != 0) & (thousands != unit))):
            self._refuse(
                wrong[0], f"does not fit the other times, which are {_UNITS[unit]}", "Write all times in one unit"
            )
        return pa.array((number // 1000**unit).astype(np.int64), mask=~known), _UNITS[unit]

    def content(self, kind: str, separator: str) -> pa.ChunkedArray | pa.Array:
        """The column as a content field of that kind (`KINDS`)."""
        if kind == "number":
            return self.numbers(missing=True)
        is_list = pa.types.is_list(self._values.type) or pa.types.is_large_list(self._values.type)
        try:
            if kind == "categories" and not is_list:
                return pc.split_pattern(self._values.cast(pa.string()), separator)
            return self._values.cast(KINDS[kind])
        except pa.ArrowException:
            self._refuse_type(kind, "Convert the column, or give another kind under `as`")

    def lacks(self, separator: str) -> bool:
        """Whether no text contains the separator."""
        return self._is_text and not pc.any(pc.match_substring(self._values, separator)).as_py()

    def _parsed(self, values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        wrong = _first_uncastable(values, kind)
        if wrong is not None:
            self._refuse(
                wrong, "cannot be read as a time stamp", "Write unix seconds or ISO 8601, the same in all rows"
            )
        return values.cast(kind)

    def _refuse(self, index: int, problem: str, remedy: str) -> NoReturn:
        value = self._values[int(index)].as_py()
        raise InputError(f"{value!r} {problem}", remedy, file=self._file, row=int(self._row[index]), field=self._name)

    def _refuse_type(self, what: str, remedy: str) -> NoReturn:
        raise InputError(
            f"the column's type {self._values.type} cannot hold {what}", remedy, file=self._file, field=self._name
        )


Source = TextSource | ParquetSource

_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")


def _numpy(values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with 0 for what is null or NaN, and where they are known."""
    known = (
        pc.is_valid(values)
        if not pa.types.is_floating(values.type)
        else pc.invert(pc.is_null(values, nan_is_null=True))
    )
    known = known.to_numpy()
    return np.where(known, values.fill_null(0).to_numpy(), 0), known


def _blank_out(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Trimmed text, null for what spells a missing value."""
    values = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.is_in(values, pa.array(MISSING)), None, values)


def _with_zone(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO 8601 with at most microseconds, and in UTC where no zone is given."""
    values = pc.replace_substring_regex(values, r"^(\d{4}-\d\d-\d\d)$", r"\1T00:00")
    values = pc.replace_substring_regex(values, r"(\.\d{6})\d+", r"\1")
    values = pc.replace_substring_regex(values, r"\s*UTC$", "Z")
    return pc.replace_substring_regex(values, r"([T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)$", r"\1Z")


def _first_uncastable(values: pa.ChunkedArray, kind: pa.DataType) -> int | None:
    """Index of the first value that cannot be cast, found by halving."""

    def castable(part: pa.ChunkedArray) -> bool:
        try:
            part.cast(kind)
        except pa.ArrowException:
            return False
        return True

    if castable(values):
        return None
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if castable(values[low:middle]) else (low, middle)
    return low
