"""Queries give what files of the same data give, byte for byte after ingest."""

import json
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frostline import ingest
from frostline.adapters.sql import SQL
from frostline.artifacts import Job
from frostline.errors import FrostlineError, InputError

EVENTS = [
    ("007", "i1", "2020-01-01 00:00:00", 2.5), ("007", "i1", "2020-01-02 00:00:00", 1.0),
    ("b", "i2", "2021-06-01 12:30:00", 4.0),
    ("é'ß", "i2", "2019-01-01 00:00:00", 1.0), ("b", "i1", "2020-01-01 00:00:00", -1.0),
]  # fmt: skip
ITEMS = [("i1", "a|b", 2000), ("i2", "b", None)]
SCHEMA = """
    CREATE TABLE clicks (who text, item text, ts {time}, qty {number});
    CREATE TABLE films (item text, tags text, year integer);
"""
QUERIES = {"interactions": "SELECT who, item, ts, qty FROM clicks", "items": "SELECT item, tags, year FROM films"}
COLUMNS = {"user": "who", "time": "ts", "weight": "qty"}
CONTENT = {"tags": {"as": "categories"}, "year": {"as": "number"}}


def text(value) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def script(**types) -> str:
    rows = [f"INSERT INTO clicks VALUES ({', '.join(map(text, row))});" for row in EVENTS]
    rows += [f"INSERT INTO films VALUES ({', '.join(map(text, row))});" for row in ITEMS]
    return SCHEMA.format(**types) + "\n".join(rows)


def programs() -> Path | None:
    """The newest PostgreSQL server of the machine, as Debian installs it or on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    place = found[-1] if found else shutil.which("initdb")
    return Path(place).parent if place else None


@pytest.fixture(scope="module")
def postgres():
    """The address of a server of its own, on a socket in a new folder."""
    place = programs()
    if place is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")  # a socket's path must be short
    shutil.chown(folder, user)
    run = {"user": user if os.geteuid() == 0 else None, "check": True, "cwd": folder, "stdout": subprocess.DEVNULL}
    data = f"{folder}/data"
    try:
        subprocess.run([place / "initdb", "-D", data, "-U", "frost", "-A", "trust", "-N", "-E", "UTF8"], **run)
        options = f"-c listen_addresses= -k {folder} -c fsync=off"
        subprocess.run([place / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start"], **run)
        try:
            yield f"postgresql:///postgres?host={folder}&user=frost"
        finally:
            subprocess.run([place / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server(postgres):
    """The same with the tables."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(f"{postgres}&options=-c%20timezone%3DUTC") as connection, connection.cursor() as cursor:
        for statement in script(time="timestamptz", number="numeric").split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        connection.commit()
    return postgres


def ingested(folder: Path, adapter: str, options: dict, inputs: dict) -> list[bytes]:
    outputs = {name: str(folder / f"{adapter}-{name}") for name in ("interactions", "items", "quality")}
    options = {"columns": COLUMNS, **options}
    ingest.run(Job("ingest", inputs, outputs, {"adapter": adapter, "options": options, "content": CONTENT}))
    return [Path(outputs[name]).read_bytes() for name in ("interactions", "items")]


def as_parquet(folder: Path, fetch) -> dict[str, str]:
    """The results of the queries as files."""
    paths = {name: str(folder / f"{name}.parquet") for name in QUERIES}
    for name, query in QUERIES.items():
        pq.write_table(fetch(query), paths[name])
    return paths


def test_c10_postgresql_and_parquet_give_the_same_bytes(server, tmp_path):
    clicks = pa.table(
        {name: [row[n] for row in reversed(EVENTS)] for n, name in enumerate(("who", "item", "ts", "qty"))}
    )
    films = pa.table({name: [row[place] for row in ITEMS] for place, name in enumerate(("item", "tags", "year"))})
    paths = as_parquet(tmp_path, {QUERIES["interactions"]: clicks, QUERIES["items"]: films}.get)
    # The session's zone is that of the server or the user, and changes what is shown and nothing else.
    uri = f"{server}&options=-c%20timezone%3DAmerica/New_York"
    assert ingested(tmp_path, "sql", {"uri": uri, **QUERIES}, {}) == ingested(tmp_path, "table", paths, paths)


def test_c10_sqlite_and_parquet_give_the_same_bytes(tmp_path):
    database = sqlite3.connect(tmp_path / "my data?%41.db")
    database.executescript(script(time="text", number="real"))
    database.close()
    clicks = pa.table({name: [row[place] for row in EVENTS] for place, name in enumerate(("who", "item", "ts", "qty"))})
    films = pa.table({name: [row[place] for row in ITEMS] for place, name in enumerate(("item", "tags", "year"))})
    paths = as_parquet(tmp_path, {QUERIES["interactions"]: clicks, QUERIES["items"]: films}.get)
    path = str(tmp_path / "my data?%41.db")
    found = ingested(tmp_path, "sql", {"uri": f"sqlite:///{path}", **QUERIES}, {"database": path})
    assert found == ingested(tmp_path, "table", paths, paths)


def test_the_stage_reaches_the_server_from_its_confined_process(server, tmp_path):
    outputs = [f"{name}={tmp_path / name}" for name in ("interactions", "items", "quality")]
    options = {"uri": server.replace("frost", "${FROST_USER}"), "columns": COLUMNS, **QUERIES}
    params = json.dumps({"adapter": "sql", "options": options, "content": CONTENT})
    command = [sys.executable, "-m", "frostline", "ingest", "--input", "--output", *outputs, "--params", params]
    done = subprocess.run(command, env=os.environ | {"FROST_USER": "frost"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "frost" not in (tmp_path / "interactions.prov.json").read_text().replace("${FROST_USER}", "").replace(
        "frostline", ""
    )
    assert pq.read_table(tmp_path / "interactions")["user"].to_pylist() == ["007", "b", "é'ß"]


def read(uri: str, **queries):
    return SQL(uri, **(QUERIES | queries), columns=COLUMNS).read({}, CONTENT)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"items": "SELECT nothing FROM films"}, r"query of items: fails \(.*nothing.*\)\. Mend the query"),
        ({"items": "SELECT item FROM films"}, "query of items, field 'tags': there is no such column"),
        ({"items": "SELECT * FROM films WHERE false"}, "query of items: gives no rows"),
        ({"interactions": "DELETE FROM clicks RETURNING *"}, r"query of interactions: fails \(.*read-only"),
    ],
)
def test_p5_what_is_wrong_with_a_query_is_said(server, queries, message):
    with pytest.raises(InputError, match=message), closing(read(server, **queries)) as dataset:
        list(dataset.interactions)


def test_p5_a_server_that_is_not_there_and_a_variable_that_is_not_set():
    with pytest.raises(InputError, match="the database cannot be reached"):
        read("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(FrostlineError, match="variable FROST_NOWHERE is not set"):
        read("postgresql://nobody:${FROST_NOWHERE}@127.0.0.1:1/none")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("postgresql://me:secret@host/db", "uri holds a password"),
        ("mysql://host/db", "uri must start with postgresql://"),
    ],
)
def test_wrong_addresses_are_refused(uri, message):
    with pytest.raises(ValueError, match=message):
        SQL(uri, **QUERIES)
