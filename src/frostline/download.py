"""Fetch a data file from its publisher: resumed where it broke off, checked, and in its place only when whole.

Not a stage: it needs the network and the system's certificates, which a stage may not have.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from frostline import __version__, registry
from frostline.dataset import DataFile
from frostline.errors import FrostlineError, suggest
from frostline.schema import read

TIMEOUT = 30.0
"""Seconds without a byte after which the connection is given up and resumed."""

ATTEMPTS = 5
"""Connections in a row that may break without having brought a byte."""

PAUSE = 1.0
"""Seconds before the second attempt, doubled each time."""

_CHUNK = 2**18
_WORTH_ANOTHER_TRY = (408, 425, 429, 500, 502, 503, 504)


class DownloadError(FrostlineError):
    """A file that cannot be had from where it should be."""


class _Broken(Exception):
    """The connection ended early; what came so far is kept."""


def cache() -> Path:
    """The folder that all experiments share: `$XDG_CACHE_HOME/frostline`, by default `~/.cache/frostline`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "frostline")


def fetch_all(adapter: str, options: Mapping[str, Any], only: str | None = None) -> None:
    """Download the files of an adapter into the cache, or the one of that name; those that are there are checked.

    Raises
    ------
    ConfigError
        When there is no such adapter or option.
    DownloadError
        See `fetch`; also when nothing of it can be downloaded.
    """
    found = read(registry.load("adapters", adapter), options, adapter).files().values()
    names = [file.name for file in found if file.url]
    if only and names and only not in names:
        raise DownloadError(f"'{adapter}' has no file '{only}', {suggest(only, names)}")
    files = [file for file in found if file.url and only in (None, file.name)]
    if not files:
        sources = ", ".join(sorted({f"{file.name} from {file.source}" for file in found if file.source}))
        raise DownloadError(
            f"'{adapter}' has nothing that can be downloaded. "
            + (f"Get {sources}" if sources else "Bring your own files")
        )
    for file in files:
        fetch(file, cache() / file.name)


def fetch(file: DataFile, target: Path) -> str:
    """Download a file unless it is there already.

    What arrives is kept in `target.part` until it is whole and its checksum right, so a run that was killed goes on where it
    was (if the server can, and still has the same file). Of two processes that want the same file one waits.

    Parameters
    ----------
    file : DataFile
        With a `url`.
    target : Path
        Where it belongs; its folder is made.

    Returns
    -------
    str
        `algorithm:hexdigest` of the file: of the checksum's algorithm, SHA-256 where none is known.

    Raises
    ------
    DownloadError
        When the server cannot be reached, has no such file, keeps breaking off, or the checksum is another. It says what
        to get from where by hand, and where to put it.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(part) as stream:
            if not target.exists():
                licence = f"; licence: {file.licence}" if file.licence else ""
                _say(f"downloading {file.url} to {target}{licence}")
                _complete(file, stream, part, target)
                _say(f"{file.name}: checking")
            digest = _digest(target if target.exists() else part, file.checksum.partition(":")[0] or "sha256")
            if file.checksum and digest != file.checksum:
                wrong = target if target.exists() else part
                wrong.unlink()
                raise _failure(
                    file, target, f"its checksum is {digest}, not the publisher's {file.checksum}; it was deleted"
                )
            if not target.exists():
                os.replace(part, target)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise DownloadError(
            f"{target}: cannot be written ({reason}). Make room, or set XDG_CACHE_HOME to another folder"
        ) from error
    verdict = "as the publisher gives it" if file.checksum else "the publisher gives none to compare with"
    _say(f"{target}: complete, {digest} ({verdict})")
    return digest


@contextmanager
def _alone(part: Path) -> Iterator[BinaryIO]:
    """The partial file, open and locked. Another process may have finished, and so moved it, while this one waited."""
    while True:
        # Unbuffered, so that what came is there whatever happens next.
        with open(part, "ab", buffering=0) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if part.exists() and os.path.samestat(os.fstat(stream.fileno()), part.stat()):
                try:
                    yield stream
                finally:
                    if part.exists() and not part.stat().st_size:
                        part.unlink()
                    if not part.exists():
                        _validator(part).unlink(missing_ok=True)
                return


def _complete(file: DataFile, stream: BinaryIO, part: Path, target: Path) -> None:
    """Connect until everything is there."""
    failures = 0
    while True:
        before = os.fstat(stream.fileno()).st_size
        try:
            return _receive(file, stream, part)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in _WORTH_ANOTHER_TRY:
                raise _failure(file, target, f"the server answers {error.code} {error.reason}") from error
            reason = f"the server answers {error.code} {error.reason}"
        except urllib.error.URLError as error:
            reason = f"the server cannot be reached ({error.reason})"
        except (_Broken, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            reason = f"the connection broke off ({error or type(error).__name__})"
        failures = failures + 1 if os.fstat(stream.fileno()).st_size <= before else 1
        if failures == ATTEMPTS:
            raise _failure(file, target, reason)
        _say(f"{file.name}: {reason}; trying again")
        time.sleep(PAUSE * 2 ** (failures - 1))


def _receive(file: DataFile, stream: BinaryIO, part: Path) -> None:
    """One connection: ask for what is missing and append it, or begin anew if the server sends the whole."""
    start, known = os.fstat(stream.fileno()).st_size, _validator(part)
    headers = {"User-Agent": f"frostline/{__version__}", "Accept-Encoding": "identity"}
    # Without a mark of which version the part is of, the two halves could be of different files.
    if start and known.exists():
        headers |= {"Range": f"bytes={start}-", "If-Range": known.read_text()}
    else:
        start = 0
    try:
        response = urllib.request.urlopen(urllib.request.Request(file.url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            error.close()
            if error.headers.get("Content-Range") == f"bytes */{start}":
                return  # killed between the last byte and the check
            stream.truncate(0)
            raise _Broken("nothing is missing, and yet it is not complete") from error
        raise
    with response:
        expected_range = f"bytes {start}-"
        if response.status != 206 or not response.headers.get("Content-Range", "").startswith(expected_range):
            start = 0
        if not start:
            stream.truncate(0)
            mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            # A weak mark may be the same for different bytes.
            known.unlink(missing_ok=True)
            if mark and not mark.startswith("W/"):
                known.write_text(mark)
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        show = _progress(file.name, total)
        received = start
        # Not `read`, which loses what it has when the rest does not come in time.
        while chunk := response.read1(_CHUNK):
            stream.write(chunk)
            received += len(chunk)
            show(received)
        os.fsync(stream.fileno())
        if total is not None and received < total:
            raise _Broken(f"{received:,} of {total:,} bytes")


def _validator(part: Path) -> Path:
    return part.with_name(f"{part.name}.version")


def _progress(name: str, total: int | None) -> Callable[[int], None]:
    """A bar that moves where a person looks on, and a line every tenth of the file in a log."""
    whole = f" of {total / 2**20:,.1f} MiB" if total else " MiB"
    last = [time.monotonic() - 1, -1.0]

    def show(received: int) -> None:
        share = received / total if total else 0.0
        line = f"{name}: {received / 2**20:,.1f}{whole}" + (f", {share:.0%}" if total else "")
        if sys.stderr.isatty():
            if time.monotonic() - last[0] >= 0.2 or received == total:
                last[0] = time.monotonic()
                filled = round(30 * share)
                sys.stderr.write(f"\r\033[K[{'#' * filled}{'.' * (30 - filled)}] {line}" + "\n" * (received == total))
                sys.stderr.flush()
        elif total and int(share * 10) > last[1]:
            last[1] = int(share * 10)
            _say(line)

    return show


def _digest(path: Path, algorithm: str) -> str:
    with open(path, "rb") as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"


def _failure(file: DataFile, target: Path, reason: str) -> DownloadError:
    licence = f" (licence: {file.licence})" if file.licence else ""
    return DownloadError(
        f"{file.name} could not be downloaded: {reason}. Get {file.url}{licence} in another way and put it at "
        f"{target}, or set FROSTLINE_DATA to the folder that holds it"
    )


def _say(text: str) -> None:
    sys.stderr.write(f"frostline: {text}\n")
    sys.stderr.flush()
