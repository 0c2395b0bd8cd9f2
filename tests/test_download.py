"""Download against a server on this machine that is slow, cuts off, lies, or knows ranges: what arrives is whole."""

import hashlib
import http.server
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from frostline import download
from frostline.adapters.movielens import MovieLens1M
from frostline.cli import main
from frostline.dataset import DataFile
from frostline.download import DownloadError, fetch

DATA = os.urandom(300_000)
MD5 = f"md5:{hashlib.md5(DATA).hexdigest()}"


class Server:
    """Serves `body`; a test sets how. `seen` lists the Range header of each request."""

    def __init__(self):
        self.body, self.etag, self.ranges = DATA, '"1"', True
        self.cut_at, self.codes, self.stall = [], [], 0.0
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/data.bin"

    def answer(self, request):
        asked = request.headers.get("Range")
        self.seen.append(asked)
        if self.codes:
            code = self.codes.pop(0)
            if code != 200:
                request.send_error(code)
                return
        start = 0
        if asked and self.ranges and request.headers.get("If-Range") == self.etag:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
        if start >= len(self.body):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(self.body)}")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        if self.etag:
            request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(self.body) - start))
        request.end_headers()
        end = self.cut_at.pop(0) if self.cut_at else len(self.body)
        request.wfile.write(self.body[start:end])
        if end < len(self.body):
            time.sleep(self.stall)
            request.wfile.flush()
            request.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.001)
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


def ask(server, **changes):
    return DataFile(None, "data.bin", url=server.url, **{"checksum": MD5, "licence": "CC BY"} | changes)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_P5_a_file_arrives_whole_with_its_licence_shown(server, tmp_path, capsys):
    target = tmp_path / "new folder" / "data.bin"
    assert fetch(ask(server), target) == MD5
    assert target.read_bytes() == DATA and left(target.parent) == ["data.bin"]
    said = capsys.readouterr().err
    assert f"downloading {server.url} to {target}; licence: CC BY" in said and "100%" in said
    assert f"complete, {MD5} (as the publisher gives it)" in said


def test_P5_without_a_known_checksum_the_digest_is_told(server, tmp_path, capsys):
    digest = fetch(ask(server, checksum=""), tmp_path / "data.bin")
    assert digest == f"sha256:{hashlib.sha256(DATA).hexdigest()}"
    assert f"{digest} (the publisher gives none to compare with)" in capsys.readouterr().err


def test_P5_a_connection_that_breaks_is_resumed_where_it_broke(server, tmp_path, capsys):
    server.cut_at = [100_000, 250_000]
    fetch(ask(server), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert server.seen == [None, "bytes=100000-", "bytes=250000-"]
    assert "the connection broke off (100,000 of 300,000 bytes); trying again" in capsys.readouterr().err


def test_P5_a_killed_run_goes_on_where_it_was(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(DATA[:123_456])
    (tmp_path / "data.bin.part.version").write_text(server.etag)
    fetch(ask(server), tmp_path / "data.bin")
    assert server.seen == ["bytes=123456-"] and left(tmp_path) == ["data.bin"]
    assert (tmp_path / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize("kept", [300_000, 400_000], ids=["whole", "too long"])
def test_P5_a_part_that_needs_nothing_more_is_checked_or_begun_anew(server, tmp_path, kept):
    (tmp_path / "data.bin.part").write_bytes((DATA + DATA)[:kept])
    (tmp_path / "data.bin.part.version").write_text(server.etag)
    fetch(ask(server), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert len(server.seen) == (1 if kept == len(DATA) else 2)


@pytest.mark.parametrize("change", ["another version", "no ranges", "no mark", "a weak mark"])
def test_P5_halves_of_different_files_are_never_joined(server, tmp_path, change):
    """The part is of an older version, or nothing tells which it is of, or the server cannot resume."""
    (tmp_path / "data.bin.part").write_bytes(b"x" * 100_000)
    if change != "no mark":
        (tmp_path / "data.bin.part.version").write_text(server.etag)
    if change == "another version":
        server.etag = '"2"'
    if change == "a weak mark":
        server.etag, server.cut_at = 'W/"1"', [200_000]
    server.ranges = change != "no ranges"
    fetch(ask(server, checksum=""), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_P5_a_server_that_stalls_is_given_up_and_resumed(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    server.cut_at, server.stall = [150_000], 1.0
    fetch(ask(server), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA and server.seen == [None, "bytes=150000-"]


def test_P5_a_server_that_keeps_breaking_off_is_given_up_and_what_came_is_kept(server, tmp_path):
    server.cut_at = [100_000] * 20
    with pytest.raises(DownloadError, match=r"the connection broke off \(100,000 of 300,000 bytes\)"):
        fetch(ask(server), tmp_path / "data.bin")
    assert len(server.seen) == download.ATTEMPTS
    assert (tmp_path / "data.bin.part").read_bytes() == DATA[:100_000] and not (tmp_path / "data.bin").exists()


def test_P5_a_busy_server_is_asked_again(server, tmp_path, capsys):
    server.codes = [503, 429, 200]
    fetch(ask(server), tmp_path / "data.bin")
    assert "the server answers 503" in capsys.readouterr().err and len(server.seen) == 3


@pytest.mark.parametrize("code", [403, 404, 410])
def test_P5_a_file_that_is_not_there_is_one_message_at_once(server, tmp_path, code):
    server.codes = [code]
    with pytest.raises(DownloadError) as caught:
        fetch(ask(server), tmp_path / "data.bin")
    assert f"data.bin could not be downloaded: the server answers {code}" in str(caught.value)
    assert f"Get {server.url} (licence: CC BY) in another way and put it at {tmp_path / 'data.bin'}" in str(
        caught.value
    )
    assert len(server.seen) == 1 and left(tmp_path) == []


def test_P5_a_wrong_checksum_is_refused_and_nothing_is_left(server, tmp_path):
    server.body = DATA[:-1] + bytes([DATA[-1] ^ 1])
    with pytest.raises(DownloadError, match=rf"its checksum is md5:\w+, not the publisher's {MD5}; it was deleted"):
        fetch(ask(server), tmp_path / "data.bin")
    assert left(tmp_path) == []


def test_P5_without_a_network_one_message_says_what_to_fetch_and_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.001)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/data.bin"
    with pytest.raises(DownloadError) as caught:
        fetch(DataFile(None, "data.bin", url=url), tmp_path / "data.bin")
    assert "the server cannot be reached (" in str(caught.value) and "refused" in str(caught.value)
    assert f"Get {url} in another way and put it at {tmp_path / 'data.bin'}, or set FROSTLINE_DATA" in str(caught.value)
    assert left(tmp_path) == []


def test_P5_what_is_there_is_checked_and_not_fetched_again(server, tmp_path):
    (tmp_path / "data.bin").write_bytes(DATA)
    assert fetch(ask(server), tmp_path / "data.bin") == MD5 and server.seen == []


def test_P5_of_two_who_want_the_same_file_one_waits(server, tmp_path):
    server.cut_at, server.stall = [100_000], 0.3
    others = [threading.Thread(target=fetch, args=(ask(server), tmp_path / "data.bin")) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert server.seen == [None, "bytes=100000-"] and left(tmp_path) == ["data.bin"]
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_P5_a_folder_that_cannot_be_written_is_one_message(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match=r"cannot be written \(.*\)\. Make room, or set XDG_CACHE_HOME"):
        fetch(ask(server), tmp_path / "file" / "data.bin")


def test_a_bar_moves_where_somebody_looks_on(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    show = download._progress("data.bin", 2**21)
    show(2**20)
    show(2**21)
    shown = capsys.readouterr().err
    assert f"[{'#' * 15}{'.' * 15}] data.bin: 1.0 of 2.0 MiB, 50%" in shown and shown.endswith("2.0 of 2.0 MiB, 100%\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["movielens-2m"], "unknown adapter 'movielens-2m': did you mean 'movielens-"),
        (["movielens-1m", "--options", '{"paht": "x"}'], "movielens-1m: unknown key 'paht', did you mean 'path'?"),
        (["movielens-1m", "--options", "{path: x}"], "is not JSON"),
        (["movielens-1m", "--file", "ml-2m.zip"], "'movielens-1m' has no file 'ml-2m.zip', did you mean 'ml-1m.zip'?"),
        (["ifdb"], "'ifdb' has nothing that can be downloaded. Get ifdb.zip from https://ifdb.org"),
        (["mind"], "Get MINDsmall_dev.zip from https://msnews.github.io"),
        (["synthetic"], "'synthetic' has nothing that can be downloaded. Bring your own files"),
    ],
)
def test_P5_what_cannot_be_downloaded_is_one_message(arguments, says, capsys):
    assert main(["download", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("frostline: error: ") and says in said and said.count("\n") == 1


def test_P5_the_command_fetches_a_data_set_into_the_cache(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(MovieLens1M, "URL", server.url)
    monkeypatch.setattr(MovieLens1M, "CHECKSUM", MD5)
    assert main(["download", "movielens-1m"]) == 0
    assert (tmp_path / "frostline/ml-1m.zip").read_bytes() == DATA
    assert "research use" in capsys.readouterr().err, "the licence is shown"


@pytest.mark.parametrize("home", ["XDG_CACHE_HOME", "HOME"])
def test_the_cache_is_shared(monkeypatch, tmp_path, home):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(home, str(tmp_path))
    assert download.cache() == Path(tmp_path, *([".cache"] if home == "HOME" else []), "frostline")
