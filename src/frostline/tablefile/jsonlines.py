"""JSON lines: one object a line. Numbers stay as they are written, because ids are text: 7 and 7.0 are different ones."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from frostline.errors import InputError, shown_rows
from frostline.tablefile.inflate import Bytes
from frostline.tablefile.source import Source

BATCH = 2**16
"""Lines that are read at once."""
LOOKED_AT = 1000
"""A column exists if one of the first thousand lines has it; a line without it has no value there."""


class JsonLines(Source):
    def __init__(self, content: Bytes, encoding: str) -> None:
        self._bytes, self._encoding = content, codecs.lookup(encoding).name
        super().__init__(content.name, [])
        names = (name for _, record in islice(self._records([]), LOOKED_AT) for name in record)
        self.columns = list(dict.fromkeys(names))

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        wrong: list[tuple[int, str]] = []
        records, empty = self._records(wrong), True
        while chunk := list(islice(records, BATCH)):
            empty = False
            rows = np.array([row for row, _ in chunk])
            arrays = [self._column(name, [record.get(name) for _, record in chunk], rows) for name in columns]
            yield pa.table(arrays, names=list(columns)), rows
        if wrong:
            row, problem = wrong[0]
            raise InputError(
                f"is not a JSON object ({problem}){shown_rows([row for row, _ in wrong])}",
                "Mend or remove the line",
                file=self.name,
                row=row,
            )
        if empty:
            raise InputError("has no rows", "Export it again with its rows", file=self.name)

    def _records(self, wrong: list[tuple[int, str]]) -> Iterator[tuple[int, dict]]:
        for row, line in enumerate(io.BufferedReader(self._bytes.fresh(), 2**20), start=1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if row == 1 and self._encoding == "utf-8" else self._encoding)
                record = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
            except UnicodeDecodeError as error:
                shown = error.object[error.start : error.start + 8]
                wrong.append((row, f"the bytes {shown!r} are not {self._encoding}"))
            except json.JSONDecodeError as error:
                wrong.append((row, f"{error.msg} at character {error.pos + 1}"))
            except (ValueError, RecursionError) as error:
                wrong.append((row, str(error)))
            else:
                if isinstance(record, dict):
                    yield row, record
                else:
                    wrong.append((row, f"{line[:40]!r}"))

    def _column(self, name: str, values: list, rows: np.ndarray) -> pa.Array:
        is_list = any(isinstance(value, list) for value in values)
        try:
            return pa.array(
                [_listed(value) if is_list else _scalar(value) for value in values],
                pa.list_(pa.string()) if is_list else pa.string(),
            )
        except (TypeError, UnicodeEncodeError):
            wrong = next(i for i, value in enumerate(values) if not _is_plain(value))
            raise InputError(
                f"{json.dumps(values[wrong])[:80]} is nested, or half of a surrogate pair",
                "Give text, a number or a list of these",
                file=self.name,
                row=int(rows[wrong]),
                field=name,
            ) from None


def _scalar(value: object) -> str | None:
    if isinstance(value, dict | list):
        raise TypeError
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _listed(value: object) -> list[str | None] | None:
    if value is None:
        return None
    return [_scalar(part) for part in (value if isinstance(value, list) else [value])]


def _is_plain(value: object) -> bool:
    try:
        pa.array(_listed(value), pa.string())
    except (TypeError, UnicodeEncodeError):
        return False
    return True
