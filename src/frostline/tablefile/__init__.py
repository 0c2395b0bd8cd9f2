"""Tables in files of a user's: separated text, JSON lines or Parquet, read so that whatever is wrong has its row and field.

What a file is follows from how it begins, whatever its name. It is read in batches, so that a large one never has to fit
into memory. The modules: `inflate` (gzip and zstd), `separated`, `jsonlines`, `parquet` (one a format), `column` (from
what was read to ids, numbers, times and content).
"""

from __future__ import annotations

from typing import BinaryIO

from frostline.errors import InputError
from frostline.tablefile.column import Column
from frostline.tablefile.inflate import Bytes
from frostline.tablefile.jsonlines import JsonLines
from frostline.tablefile.parquet import ParquetTable
from frostline.tablefile.separated import SeparatedText
from frostline.tablefile.source import Source, require

__all__ = ["Column", "Source", "open_file", "require"]


def open_file(file: BinaryIO, name: str, separator: str | None = None, encoding: str = "utf-8") -> Source:
    """A file as a source of columns.

    Raises
    ------
    InputError
        When it is of no form that can be read, is empty, or its beginning cannot be read.
    """
    content = Bytes(file, name)
    start = content.start()
    if start.startswith(b"PAR1"):
        if content.compression:
            raise InputError(
                f"is Parquet inside {content.compression}", "Unpack it; Parquet is compressed inside", file=name
            )
        return ParquetTable(file, name)
    for magic, what in _OTHER_FORMS.items():
        if start.startswith(magic):
            raise InputError(
                f"is {what}, not a table",
                "Unpack it, or save the sheet as CSV; text as gz or zst, JSON lines and Parquet can be read",
                file=name,
            )
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return JsonLines(content, encoding)
    if text.startswith(b"[{"):
        raise InputError("is one JSON list", "Write JSON lines: one object a line, without commas between", file=name)
    source = SeparatedText(content, separator, encoding)
    if name.casefold().endswith((".parquet", ".pq")):
        source.notes.append(f"{name}: is no Parquet file in spite of its name and was read as separated text")
    return source


_OTHER_FORMS = {
    b"PK\x03\x04": "a zip archive or an Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
}
