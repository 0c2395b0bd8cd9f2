"""Separated text with a header; rows are counted as an editor counts lines, the header's being the first."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from frostline.errors import InputError, shown_rows
from frostline.tablefile.inflate import Bytes
from frostline.tablefile.source import Source

SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
BLOCK = 2**20
"""Bytes that are parsed at once; no record is longer."""
LONGEST_HEADER = 2**20


class SeparatedText(Source):
    """See the module. Malformed records are counted and refused when all is read, because their number matters."""

    def __init__(self, content: Bytes, separator: str | None, encoding: str) -> None:
        self._bytes, self._encoding = content, codecs.lookup(encoding).name
        self._offsets: tuple[np.ndarray, np.ndarray] | None = None
        header = self._first_line(content.name)
        best = max(SEPARATORS, key=lambda candidate: len(_split(header, candidate)))
        self._header, self._separator = header, separator or best
        super().__init__(content.name, _split(header, self._separator))
        if separator is None and best != ",":
            self.notes.append(f"{self.name}: the separator was recognised as {SEPARATORS[best]}")

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        # Arrow looks at the columns that it converts, and would print that it cannot show a malformed record.
        stream = self._bytes.fresh(is_utf8=self._encoding == "utf-8")
        wrong: list[tuple[int, int]] = []

        def note_wrong(row: arrow_csv.InvalidRow) -> str:
            wrong.append((row.number, row.actual_columns))
            return "skip"

        records = 0
        reader = self._opened(stream, columns, note_wrong)
        while (batch := self._next(reader)) is not None:
            table = pa.Table.from_batches([batch])
            row = np.arange(records + 2, records + 2 + len(batch))
            records += len(batch)
            repeats = np.flatnonzero(_is_header(table))
            if len(repeats):
                self.repeated_headers += row[repeats].tolist()
                row = np.delete(row, repeats)
                table = table.take(pa.array(np.setdiff1d(np.arange(len(batch)), repeats)))
            if stream.has_nul and _one_byte_for_ascii(self._encoding):
                self._refuse_nul()
            yield table, row
        self._check_records(records + len(wrong), stream)
        if wrong:
            self._refuse_records(wrong)
        if not records:
            raise InputError("has a header but no rows", "Export it again with its rows", file=self.name)

    def line(self, row: int) -> int:
        if self._offsets is None:
            return row
        records, offsets = self._offsets
        return row + int(offsets[np.searchsorted(records, row, side="right") - 1])

    def explain_absence(self, column: str) -> None:
        """Raise if the header was divided by the wrong separator, or is no header."""
        other = next((s for s in SEPARATORS if column in _split(self._header, s)), None)
        if other is None and len(self.columns) > 1:
            if any(_is_number(name) for name in self.columns):
                raise InputError(
                    f"the first line {self._header[:80]!r} looks like data, and column '{column}' is looked for there",
                    "Add a line with the columns' names at the top",
                    file=self.name,
                    row=1,
                )
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

    def _first_line(self, name: str) -> str:
        self.name = name
        lines = self._lines()
        try:
            header = "\n"
            while header and not header.strip("\r\n"):
                header = lines.readline(LONGEST_HEADER)
        except UnicodeError as error:
            self._refuse_bytes(error)
        if "\0" in header:
            self._refuse_nul()
        if len(header) == LONGEST_HEADER:
            raise InputError("its first line is longer than a million characters", "Give a table of text", file=name)
        if not header.strip():
            raise InputError("is empty", "Give a file with a header and rows", file=name)
        return header.rstrip("\r\n")

    def _opened(self, stream, columns, note_wrong) -> arrow_csv.CSVStreamingReader:
        try:
            return arrow_csv.open_csv(
                pa.PythonFile(stream, "r"),
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=BLOCK,
                    encoding="utf8" if self._encoding == "utf-8" else self._encoding,
                ),
                arrow_csv.ParseOptions(
                    delimiter=self._separator, newlines_in_values=True, invalid_row_handler=note_wrong
                ),
                arrow_csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string())),
            )
        except (pa.ArrowInvalid, UnicodeError) as error:
            self._refuse_unreadable(error)

    def _next(self, reader: arrow_csv.CSVStreamingReader) -> pa.RecordBatch | None:
        try:
            return reader.read_next_batch()
        except StopIteration:
            return None
        except (pa.ArrowInvalid, UnicodeError) as error:
            self._refuse_unreadable(error)

    def _refuse_unreadable(self, error: Exception) -> NoReturn:
        # Arrow does not say where; the slow reader does, if it objects to the same.
        self._look_up_lines()
        raise InputError(f"cannot be read ({error})", "Mend or remove what it complains of", file=self.name) from error

    def _check_records(self, records: int, stream) -> None:
        """Find where rows are if lines are not records, and refuse what two readers understand differently."""
        # Blank lines and values of several lines do that, and so does a quote that is not closed.
        if stream.lines == records and stream.quotes % 2 == 0:
            return
        found = self._look_up_lines()
        if found != records:
            raise InputError(
                f"can be read as {found} or as {records} records", "Mend its quotes and line ends", file=self.name
            )

    def _refuse_records(self, wrong: Sequence[tuple[int, int]]) -> NoReturn:
        first, fields = wrong[0]
        rows = [self.line(number) for number, _ in wrong]
        raise InputError(
            f"found {fields} fields, expected {len(self.columns)} as in the header{shown_rows(rows)}",
            "Complete or remove it; a separator inside a value needs quotes around the value",
            file=self.name,
            row=self.line(first),
        )

    def _lines(self) -> io.TextIOWrapper:
        encoding = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        return io.TextIOWrapper(io.BufferedReader(self._bytes.fresh(), 2**20), encoding=encoding, newline="")

    def _look_up_lines(self) -> int:
        """Number of records, by a slow reading that says where a quote is not closed and keeps where lines jump."""
        csv.field_size_limit(sys.maxsize)
        records, line, jumps = 0, 1, [(0, 0)]
        try:
            reader = csv.reader(self._lines(), delimiter=self._separator, strict=True)
            for record in reader:
                if record:
                    records += 1
                    if line - records != jumps[-1][1]:
                        jumps.append((records, line - records))
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
        at, offset = zip(*jumps, strict=True)
        self._offsets = np.array(at), np.array(offset)
        return records - 1

    def _refuse_bytes(self, error: UnicodeError) -> NoReturn:
        """Say which bytes are not of the encoding, and in which line; the given error came from somewhere near."""
        stream = self._bytes.fresh()
        marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        likely = "utf-16" if self._bytes.start(2) in marks else "utf-8, cp1252 or cp1251"
        problem, row = f"is not {self._encoding} ({error})", None
        stream = self._bytes.fresh()
        decoder, line = codecs.getincrementaldecoder(self._encoding)(), 1
        try:
            while chunk := stream.read(2**20):
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

    def _refuse_nul(self) -> NoReturn:
        for row, line in enumerate(self._lines(), start=1):
            if "\0" in line:
                raise InputError(
                    f"the line holds a NUL character, which is no text: {line[:40]!r}",
                    "Remove it, or set `encoding: utf-16-le` if every other byte is one",
                    file=self.name,
                    row=row,
                )
        raise AssertionError("the stream held a NUL byte that the text does not")


def _split(header: str, separator: str) -> list[str]:
    return next(csv.reader([header], delimiter=separator))


def _is_header(table: pa.Table) -> np.ndarray:
    """Which records are the header once more, as in files that were put together."""
    found = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        if found.any():
            found &= pc.equal(table[name], name).to_numpy()
    return found


def _one_byte_for_ascii(encoding: str) -> bool:
    """Whether a NUL byte is a NUL character, and not half of another."""
    return len("a".encode(encoding)) == 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
