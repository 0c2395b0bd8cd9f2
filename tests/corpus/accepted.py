"""Tables that are read all the same: interactions, options, the rule, and what it makes of them."""

import gzip
from decimal import Decimal

import pyarrow as pa

from . import GOOD, ingest, parquet

TIMES = b"user,item,time\n"
PRICES = {"content": {"price": {"as": "number"}}}
TITLES = {"content": {"title": {"as": "text"}}}


def one(user: str, item: str = "i1") -> dict:
    return {"interactions": [{"user": user, "item": item, "weight": 1.0}]}


TABLES = {
    "byte order mark": (
        b"\xef\xbb\xbf" + GOOD, {}, "the mark is no part of the first column's name", one("u"),
    ),
    "CRLF": (b"user,item\r\nu,i1\r\n", {}, "a line ends by LF, CRLF or CR", one("u")),
    "CR alone": (b"user,item\ru,i1\r", {}, "a line ends by LF, CRLF or CR", one("u")),
    "blank lines": (b"\nuser,item\n\nu,i1\n\n\n", {}, "they are no rows", one("u")),
    "another separator": (
        b"user;item\nu;i1\n", {}, "recognised among comma, semicolon, tab and bar, and noted",
        one("u") | {"notes": ["clicks.csv: the separator was recognised as ';'"]},
    ),
    "quoted line feeds": (b'user,item\n"a\nb",i1\n', {}, "they are part of the value", one("a\nb")),
    "header in the middle": (
        b"user,item\nu,i1\nuser,item\n", {}, "dropped and counted as `repeated_header`",
        one("u") | {"dropped": {"repeated_header": 1}, "example": {"file": "clicks.csv", "row": 3, "value": "user, item"}},
    ),
    "id 007": (b"user,item\n007,i1\n", {}, "ids are text, as written", one("007")),
    "id 1e5": (b"user,item\n1e5,i1\n", {}, "ids are text, as written", one("1e5")),
    "id 10.0": (b"user,item\n10.0,i1\n", {}, "ids are text, as written", one("10.0")),
    "id with spaces around": (
        b"user,item\n a ,i1\n", {}, "kept as written, counted and reported as suspicious",
        one(" a ") | {"suspicious": ["1 users have spaces around their id, such as ' a '; ids stay as they are"]},
    ),
    "id of emoji": ("user,item\n☃️,i1\n".encode(), {}, "ids are text, as written", one("☃️")),
    "id of 300 characters": (b"user,item\n" + b"x" * 300 + b",i1\n", {}, "ids are text, as written", one("x" * 300)),
    "numbers that are missing": (
        GOOD,
        {"items": b"item,price\ni1,NaN\ni2,null\ni3,None\ni4,-\ni5,\\N\ni6,\ni7,2\n"} | PRICES,
        "content may be missing: NaN, null, None, -, \\N, NA and nothing; the coverage is reported",
        one("u") | {"coverage": {"price": 1}},
    ),
    "negative weight": (
        b"user,item,weight\nu,i1,1\nv,i1,-2\nw,i1,0\n", {}, "dropped and counted as `weight_not_positive`",
        one("u") | {"dropped": {"weight_not_positive": 2}},
    ),
    "rating below the minimum": (
        b"user,item,weight\nu,i1,1\nv,i1,4\n", {"min_weight": 4.0},
        "`min_weight`: dropped and counted as `weight_below_minimum`",
        {"interactions": [{"user": "v", "item": "i1", "weight": 4.0}], "dropped": {"weight_below_minimum": 1}},
    ),
    "time in milliseconds": (
        TIMES + b"u,i1,1577836800123\n", {}, "recognised by its size (micro- and nanoseconds too), and noted",
        {"times": [1577836800], "notes": ["clicks.csv, field 'time': times were read as milliseconds"]},
    ),
    "time without a zone": (
        TIMES + b"u,i1,2020-01-01 00:00\n", {}, "taken as UTC, and noted",
        {"times": [1577836800], "notes": ["clicks.csv, field 'time': times without a zone were taken as UTC"]},
    ),
    "time in another zone": (TIMES + b"u,i1,2020-01-01T02:00:00+02:00\n", {}, "turned into UTC", {"times": [1577836800]}),
    "time that is negative": (
        TIMES + b"u,i1,-5\n", {}, "kept, counted and reported as suspicious",
        {"times": [-5], "suspicious": ["1 times are before 1970 or after 2099; they were kept"]},
    ),
    "time in the future": (
        TIMES + b"u,i1,4102444800\n", {},
        "from 2100 on: kept, counted and reported; no clock is asked, so that the same file gives the same bytes",
        {"times": [4102444800], "suspicious": ["1 times are before 1970 or after 2099; they were kept"]},
    ),
    "times all equal": (
        TIMES + b"u,i1,5\nv,i1,5\n", {}, "kept and reported as suspicious; a temporal split refuses them",
        {"times": [5, 5], "suspicious": ["'time' is 1970-01-01T00:00:05 in all rows: it orders nothing"]},
    ),
    "times all missing": (
        TIMES + b"u,i1,\nv,i1,NaN\n", {}, "kept and reported as suspicious",
        {"times": [None, None], "suspicious": ["'time' is missing in all rows"]},
    ),
    "duplicate row": (
        b"user,item\nu,i1\nu,i1\n", {}, "one row by `repeats` (default: the sum), counted as `repeated_pair`",
        {"interactions": [{"user": "u", "item": "i1", "weight": 2.0}], "dropped": {"repeated_pair": 1}},
    ),
    "pair with different weights": (
        b"user,item,weight,time\nu,i1,1,9\nu,i1,3,8\n", {"repeats": "last"},
        "one row by `repeats`: sum, first, last or count; counted as `repeated_pair`",
        {"times": [9], "dropped": {"repeated_pair": 1}},
    ),
    "users and items with one interaction": (
        b"user,item\nu,i1\nu,i2\nv,i1\n", {}, "kept and counted; `split.min_interactions` keeps such items warm",
        {"counts": {"users_with_one_interaction": 1}},
    ),
    "one user": (
        b"user,item\nu,i1\nu,i2\n", {}, "kept and reported as suspicious; the split refuses what it cannot divide",
        {"suspicious": ["there is one user only"]},
    ),
    "one item": (
        b"user,item\nu,i1\nv,i1\n", {}, "kept and reported as suspicious; the split refuses what it cannot divide",
        {"suspicious": ["there are interactions with one item only"]},
    ),
    "every item in the same category": (
        GOOD, {"items": b"item,tags\ni1,x\ni2,x\n"}, "kept and reported as suspicious",
        one("u") | {"suspicious": ["'tags' is 'x' for every item: it tells items apart no further"]},
    ),
    "a single category": (
        GOOD, {"items": b"item,tags\ni1,x\ni2,\n"}, "kept and reported as suspicious",
        one("u") | {"suspicious": ["'tags' is 'x' for every item that has a value (1): it tells items apart no further"]},
    ),
    "content that is empty everywhere": (
        GOOD, {"items": b"item,tags\ni1,\ni2,\n"}, "kept and reported as suspicious",
        one("u") | {"suspicious": ["no item has a value of 'tags'"]},
    ),
    "item twice with the same content": (
        GOOD, {"items": b"item,tags\ni1,x|y\ni1,y|x\n"}, "one row, counted as `repeated_item`",
        one("u") | {"dropped_items": {"repeated_item": 1}},
    ),
    "content of unknown items": (
        GOOD, {}, "kept and counted as `without_interactions`: these are what `new_items` ranks",
        one("u") | {"counts": {"items": {"without_interactions": 1}}},
    ),
    "items without content, to be dropped": (
        b"user,item\nu,i1\nu,i9\n", {"missing_content": "drop"}, "`missing_content: drop`: counted as `no_content`",
        one("u") | {"dropped": {"no_content": 1}},
    ),
    "parquet with dictionaries": (
        parquet(user=pa.array(["u"]).dictionary_encode(), item=["i1"]), {}, "read as what they stand for", one("u"),
    ),
    "parquet with decimals": (
        parquet(user=[Decimal("7")], item=["i1"], weight=[Decimal("1.0")]), {},
        "numbers; as ids if they have no decimals", one("7"),
    ),
    "parquet with lists": (
        GOOD, {"items": parquet(item=["i1"], tags=[["x", "y"]])}, "a list is categories; as an id it is refused", one("u"),
    ),
    "parquet that is a CSV": (
        GOOD, {"name": "clicks.parquet"}, "what a file is follows from how it begins; noted",
        one("u") | {"notes": ["clicks.parquet: is no Parquet file in spite of its name and was read as separated text"]},
    ),
    "gz": (gzip.compress(GOOD, mtime=0), {}, "inflated, and zstd likewise", one("u")),
    "JSON lines": (
        b'{"user": 7, "item": "i1"}\n\n{"item": "i1", "user": "7.0"}\n', {}, "numbers are ids as written",
        {"interactions": [{"user": "7", "item": "i1", "weight": 1.0}, {"user": "7.0", "item": "i1", "weight": 1.0}]},
    ),
    "title with markup": (
        GOOD, {"items": b"item,title\ni1,<script>alert(1)</script>\n"} | TITLES,
        "text as any other; the report escapes what it shows", one("u") | {"titles": ["<script>alert(1)</script>"]},
    ),
}  # fmt: skip


def outcome(kind: str) -> tuple[str, dict, dict]:
    """The rule, what was found of what is expected, and that. Nothing was dropped without being expected."""
    events, options, rule, expected = TABLES[kind]
    interactions, items, quality = ingest(events, **options)
    everything = {
        "interactions": interactions.select(["user", "item", "weight"]).to_pylist(),
        "times": interactions["time"].to_pylist() if "time" in interactions.column_names else None,
        "titles": items["title"].to_pylist() if "title" in items.column_names else None,
        "dropped": quality["interactions"]["dropped"],
        "dropped_items": quality["items"]["dropped"],
        "example": next((example for found in quality["examples"].values() for example in found), None),
        "coverage": {name: field["present"] for name, field in quality["content"].items()},
        "notes": quality["notes"],
        "suspicious": quality["suspicious"],
    }
    expected = {"dropped": {}, "dropped_items": {}} | expected
    counts = expected.pop("counts", {})
    found = {name: everything[name] for name in expected}
    for name in {"notes", "suspicious"} & set(expected):
        # A table of one row is suspicious in more ways than the one that it is here for.
        found[name] = [note for note in everything[name] if note in expected[name]]
    for name, value in counts.items():
        whole = quality[name]
        found[name] = {key: whole[key] for key in value} if isinstance(value, dict) else whole
    return rule, found, expected | counts
