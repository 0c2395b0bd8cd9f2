"""P5: whatever a table holds, it gives a message, or every row is accounted for and every number is finite."""

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from frostline.errors import FrostlineError

from .corpus import ingest, parquet

users = st.sampled_from(["u", "v", "u", " u ", "007", "é", "user", 'q"q', "x,y", "a;b", "l\nl", "", "-", "NaN", "c\rd"])
items = st.sampled_from(["i1", "i2", "i1", "i9", "item", "", "i1 "])
times = st.sampled_from(
    ["5", "7", "", "1.5", "-3", "1577836800123", "2020-01-01", "2020-01-01T00:00:00+01:00", "time", "x", "nan"]
)
weights = st.sampled_from(["1", "2.5", "0", "-1", "1e3", "", "inf", "nan", "4,5", "1e400", "—", "weight"])
COLUMNS = {"user": users, "item": items, "time": times, "weight": weights}
tidy = {
    "user": st.sampled_from(["u", "v", " u ", "007", "é", 'q"q', "x,y", "l\nl"]),
    "item": st.sampled_from(["i1", "i2", "i9"]),
    "time": st.sampled_from(["5", "7", "", "1.5", "-3"]),
    "weight": st.sampled_from(["1", "2.5", "0", "-1", "1e3"]),
}
options = st.fixed_dictionaries(
    {
        "repeats": st.sampled_from(["sum", "first", "last", "count"]),
        "missing_content": st.sampled_from(["drop", "error"]),
        "min_weight": st.sampled_from([None, 2.0]),
    }
)


@st.composite
def tables(draw):
    """Names of columns and rows of text: in half of the tables every cell is usable."""
    kinds = draw(st.sampled_from([COLUMNS, tidy]))
    names = ["user", "item", *draw(st.sampled_from([[], ["time"], ["weight"], ["weight", "time"]]))]
    return names, draw(st.lists(st.tuples(*(kinds[name] for name in names)), min_size=1, max_size=12))


def as_csv(names, rows, separator=",", end="\n") -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=end)
    writer.writerow(names)
    writer.writerows(rows)
    return file.getvalue().encode()


FORMS = {
    "csv": as_csv,
    "semicolon, CRLF": lambda names, rows: as_csv(names, rows, ";", "\r\n"),
    "gz": lambda names, rows: gzip.compress(as_csv(names, rows, "\t")),
    "zst": lambda names, rows: pa.compress(as_csv(names, rows), "zstd", asbytes=True),
    "JSON lines": lambda names, rows: "\n".join(
        json.dumps(dict(zip(names, row, strict=True))) for row in rows
    ).encode(),
    "Parquet": lambda names, rows: parquet(**{name: [row[i] for row in rows] for i, name in enumerate(names)}),
}


def account(data: bytes, policy: dict) -> int | None:
    """Rows that were read, None if the table was refused. Anything but a message fails."""
    try:
        interactions, kept_items, quality = ingest(data, **policy)
    except FrostlineError as error:
        assert "clicks.csv" in str(error) or "products.csv" in str(error), "the message names the file"
        return None
    counts = quality["interactions"]
    assert counts["read"] == counts["kept"] + sum(counts["dropped"].values())
    assert counts["kept"] == interactions.num_rows
    assert np.isfinite(interactions["weight"].to_numpy()).all() and interactions["weight"].null_count == 0
    assert set(interactions["item"].to_pylist()) <= set(kept_items["item_id"].to_pylist())
    assert all(len(found) == min(5, counts["dropped"][reason]) for reason, found in quality["examples"].items())
    json.dumps(quality, allow_nan=False)
    return counts["read"]


@settings(max_examples=150)
@given(tables(), st.sampled_from(list(FORMS)), options)
def test_p5_a_random_table_is_refused_by_a_message_or_read_to_the_last_row(table, form, policy):
    names, rows = table
    read = account(FORMS[form](names, rows), policy)
    assert read in (None, len(rows))


@settings(max_examples=150)
@given(tables(), st.sampled_from(list(FORMS)), st.data())
def test_p5_a_damaged_table_never_gives_a_traceback(table, form, data):
    whole = bytearray(FORMS[form](*table))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        match data.draw(st.sampled_from(["change", "insert", "cut"])):
            case "change":
                whole[at] = data.draw(st.integers(0, 255))
            case "insert":
                whole[at:at] = data.draw(st.sampled_from([b'"', b"\n", b"\r", b"\0", b",", b"\xff", b"{", b"::"]))
            case "cut":
                del whole[at + 1 :]
    account(bytes(whole), {"missing_content": "drop"})


@settings(max_examples=50)
@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"user,item\n", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"{", b"PK\x03\x04"]),
)
def test_p5_bytes_of_no_meaning_never_give_a_traceback(noise, start):
    account(start + noise, {})
