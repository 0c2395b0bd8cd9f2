"""The bytes of a file from its beginning, as often as wanted, and inflated where it is compressed."""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO

import pyarrow as pa

from frostline.errors import InputError

FREE, RATIO = 2**30, 200
"""A compressed file may inflate to 1 GiB, and to more only while that is at most 200 times its size: tables of text
seldom shrink to less than a twentieth, and a bomb to a thousandth."""
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Bytes:
    """An open file that can be read from its beginning again.

    Attributes
    ----------
    name : str
    compression : str or None
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self.name = file, name
        self._file.seek(0)
        magic = self._file.read(4)
        self.compression = next((kind for start, kind in _MAGIC.items() if magic.startswith(start)), None)
        self._limit = max(FREE, RATIO * self._file.seek(0, io.SEEK_END)) if self.compression else None

    def fresh(self, is_utf8: bool = False) -> Counted:
        """A stream over all (inflated) bytes; reading raises UnicodeDecodeError where they should be UTF-8 and are not.

        The last stream that was asked for is the one that may be read.
        """
        self._file.seek(0)
        stream = self._file
        if self.compression:
            stream = pa.CompressedInputStream(pa.PythonFile(_Lent(self._file), "r"), self.compression)
        return Counted(stream, self.name, self._limit, is_utf8)

    def start(self, size: int = 2**12) -> bytes:
        """The first bytes."""
        return self.fresh().read(size)


class _Lent(io.RawIOBase):
    """A file that its borrower cannot close."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


class Counted(io.RawIOBase):
    """A stream that counts what passes through it.

    Attributes
    ----------
    lines, quotes : int
        Line feeds, blank ones at the end left out, and double quotes.
    has_nul : bool
    """

    def __init__(self, stream, name: str, limit: int | None, is_utf8: bool) -> None:
        self._stream, self._name, self._limit = stream, name, limit
        self._size = self.lines = self.quotes = self._trailing = 0
        self.has_nul = False
        self._decoder = codecs.getincrementaldecoder("utf-8")() if is_utf8 else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._stream.read(size)
        except OSError as error:
            raise InputError(
                f"is damaged or cut short ({error})", "Get it again from where it came from", file=self._name
            ) from error
        if self._decoder:
            self._decoder.decode(data, final=not data)
        if data:
            self._count(data)
        if self._limit is not None and self._size > self._limit:
            raise InputError(
                f"inflates to more than {RATIO} times its size",
                "Unpack it yourself if you trust it",
                file=self._name,
            )
        return data

    def _count(self, data: bytes) -> None:
        self._size += len(data)
        self.quotes += data.count(b'"')
        self.has_nul = self.has_nul or b"\0" in data
        body = data.rstrip(b"\r\n")
        if body:
            self.lines += self._trailing + body.count(b"\n")
            self._trailing = data.count(b"\n", len(body))
        else:
            self._trailing += data.count(b"\n")
