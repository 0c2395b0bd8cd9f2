"""A data set that is nowhere is fetched by the run that needs it, once for all experiments, and by no dry run (P5)."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import threading
import zipfile

import pytest

from .conftest import Workspace

pytestmark = pytest.mark.workflow

ADAPTER = """
from frostline.adapters.movielens import MovieLens1M

class Own(MovieLens1M):
    ARCHIVE, URL, CHECKSUM = "own.zip", "{url}", "{checksum}"
"""


@functools.cache
def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("ratings.dat", "".join(f"{u}::{i}::5::{u + i}\n" for u in range(9) for i in range(7)))
        file.writestr("movies.dat", "".join(f"{i}::Film {i} (2001)::Drama\n" for i in range(7)))
    return stream.getvalue()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.seen.append(self.path)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A workspace whose data only a server on this machine has, and what was asked of that server."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "own.zip").write_bytes(archive())
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path / "served"))
    )
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FROSTLINE_DATA", raising=False)
    experiment = {
        "protocol": "cold-items",
        "data": {"adapter": "own:Own", "path": "data/own.zip"},
        "content": ["genres", "title"],
        "methods": {"content_profile": {}},
    }
    workspace = Workspace(tmp_path / "work", experiment)
    checksum = f"md5:{hashlib.md5(archive()).hexdigest()}"
    url = f"http://127.0.0.1:{server.server_port}/own.zip"
    (workspace.folder / "own.py").write_text(ADAPTER.format(url=url, checksum=checksum))
    yield workspace, server
    server.shutdown()
    server.server_close()


def test_P5_what_is_nowhere_is_fetched_once(place, tmp_path):
    workspace, server = place
    assert workspace.planned()["download"] == 1 and not server.seen, "a dry run fetches nothing"
    done = workspace.run("results/small/ingest/quality.json")
    assert "complete, md5:" in done.stderr
    assert (tmp_path / "cache/frostline/own.zip").read_bytes() == archive() and len(server.seen) == 1
    assert workspace.read_json("ingest/quality.json")["interactions"]["kept"] == 63
    planned = workspace.planned()
    assert "download" not in planned and "ingest" not in planned, "and read no second time"
    other = Workspace(tmp_path / "other", {})
    (other.folder / "config.yaml").write_bytes((workspace.folder / "config.yaml").read_bytes())
    (other.folder / "own.py").write_bytes((workspace.folder / "own.py").read_bytes())
    assert "download" not in other.planned() and len(server.seen) == 1, "the cache is shared"


def test_P5_without_a_network_the_run_ends_with_what_to_fetch(place, tmp_path):
    workspace, server = place
    server.shutdown()
    server.server_close()
    source = (workspace.folder / "own.py").read_text()
    (workspace.folder / "own.py").write_text(source + "\nfrom frostline import download\ndownload.PAUSE = 0.01\n")
    done = workspace.run("results/small/ingest/quality.json", check=False)
    assert done.returncode == 1
    assert "frostline: error: own.zip could not be downloaded: the server cannot be reached (" in done.stderr
    assert f"put it at {tmp_path / 'cache/frostline/own.zip'}, or set FROSTLINE_DATA" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "cache").rglob("*.*"))
