"""Tables that are refused: interactions, options, and what the message says."""

import gzip

import pyarrow as pa

from . import GOOD, parquet

FLOATS = parquet(user=[1.0, 2.0], item=["i1", "i1"])

TABLES = {
    "missing column": (
        b"usr,item\nu,i1\n",
        {},
        "clicks.csv, field 'user': there is no such column. Name the column that holds it as `columns:",
        "{user: …}`: did you mean 'usr'? Allowed: item, usr",
    ),
    "column in another case": (
        b"USER,item\nu,i1\n",
        {},
        "did you mean 'USER'? Allowed: USER, item",
    ),
    "column with spaces": (
        b" user , item\nu,i1\n",
        {},
        "did you mean ' user '?",
    ),
    "named column missing": (
        GOOD,
        {"columns": {"time": "ts"}},
        "clicks.csv, field 'ts': there is no such column",
    ),
    "no column of item ids": (
        GOOD,
        {"items": b"id,tags\ni1,x\n"},
        "products.csv, field 'item_id': there is no such column.",
        "Call the column of ids 'item' or 'item_id': Allowed: id, tags",
    ),
    "missing content column": (
        GOOD,
        {"items": b"item,tag\ni1,x\n"},
        "products.csv, field 'tags': there is no such column.",
        "Name the field in `content` as the file does: did you mean 'tag'?",
    ),
    "missing column in parquet": (
        parquet(users=["u"], item=["i1"]),
        {},
        "clicks.csv, field 'user': there is no such column. Name the column that holds it as `columns:",
        "{user: …}`: did you mean 'users'?",
    ),
    "column twice": (
        b"user,item,user\nu,i1,v\n",
        {},
        "clicks.csv, row 1, field 'user': the header has this column more than once. Rename one",
    ),
    "wrong separator": (
        b"user;item\nu;i1\n",
        {"separator": ","},
        "clicks.csv, row 1: the header 'user;item' has no column 'user' when divided by ','.",
        "It seems to be divided by ';'; set `separator: ';'`",
    ),
    "wrong separator tab": (
        b"user\titem\nu\ti1\n",
        {"separator": ";"},
        r"It seems to be divided by tab; set `separator: '\t'`",
    ),
    "unusual separator": (
        b"user#item\nu#i1\n",
        {},
        "clicks.csv, row 1: the header 'user#item' has no column 'user' when divided by ','.",
        "Set `separator` to the character that divides it",
    ),
    "two-character separator": (
        b"user::item\nu::i1\n",
        {},
        "It seems to be divided by '::', and a separator is one character; replace it, for example by a tab",
    ),
    "mixed separators": (
        b"user,item\nu,i1\nv;i1\n",
        {},
        "clicks.csv, row 3: found 1 fields, expected 2 as in the header",
    ),
    "empty file": (
        b"",
        {},
        "clicks.csv: is empty. Give a file with a header and rows",
    ),
    "empty items file": (
        GOOD,
        {"items": b""},
        "products.csv: is empty",
    ),
    "only blank lines": (
        b"\n\n\n",
        {},
        "clicks.csv: is empty",
    ),
    "header only": (
        b"user,item\n",
        {},
        "clicks.csv: has a header but no rows. Export it again with its rows",
    ),
    "parquet without rows": (
        parquet(user=pa.array([], pa.string()), item=pa.array([], pa.string())),
        {},
        "clicks.csv: has no rows",
    ),
    "missing field": (
        b"user,item,time\nu,i1,5\n\nu,i2\n",
        {},
        "clicks.csv, row 4: found 2 fields, expected 3 as in the header. Complete or remove it",
    ),
    "extra field": (
        b"user,item\nu,i1\nu,i1,i2\n",
        {},
        "clicks.csv, row 3: found 3 fields, expected 2",
    ),
    "extra field after a quoted newline": (
        GOOD,
        {"items": b'item,tags\ni1,"a\nb"\ni2,x,y\n'},
        "products.csv, row 4: found 3 fields",
    ),
    "quote not closed": (
        b'user,item\nu,i1\nv,"i1\nw,i1\nx,i2\n',
        {},
        "clicks.csv, row 3: quotes are not balanced from here on",
    ),
    "quote not closed before another": (
        b'user,item\nu,i1\nv,"i1\nw,"i2"\nx,i2\n',
        {},
        "clicks.csv, row 3: quotes are not balanced from here on",
    ),
    "latin-1": (
        "user,item\nu,i1\nZoë,i1\n".encode("latin-1"),
        {},
        r"clicks.csv, row 3: the bytes b'\xeb,i1\n' are not utf-8.",
        r"Set `encoding` to what the file is written in, for example utf-8, cp1252 or cp1251",
    ),
    "latin-1 far down": (
        b"user,item\n" + b"u,i1\n" * 300_000 + b"\xeb,i1\n",
        {},
        r"clicks.csv, row 300002: the bytes b'\xeb,i1\n' are not utf-8",
    ),
    "utf-16": (
        "user,item\nu,i1\n".encode("utf-16"),
        {},
        "for example utf-16",
    ),
    "utf-8 read as utf-16": (
        GOOD,
        {"encoding": "utf-16"},
        "clicks.csv: is not utf-16 (UTF-16 stream does not start with BOM). Set `encoding` to what the file is",
        "written in, for example utf-8, cp1252 or cp1251",
    ),
    "empty id": (
        b"user,item\nu,i1\n,i2\n,i1\n",
        {},
        "clicks.csv, row 3, field 'user': '' is not an id (and 1 more: row 4).",
        "Fill in the id or remove the row",
    ),
    "null id in parquet": (
        parquet(user=["u", None], item=["i1", "i1"]),
        {},
        "clicks.csv, row 2, field 'user': None is not an id. Fill in",
    ),
    "empty item id": (
        GOOD,
        {"items": b"item,tags\n,x\ni1,y\n"},
        "products.csv, row 2, field 'item': '' is not an id",
    ),
    "float ids": (
        FLOATS,
        {},
        "clicks.csv, field 'user': the column's type double cannot hold ids.",
        "Store ids as text or whole numbers",
    ),
    "list ids": (
        parquet(user=[["u"]], item=["i1"]),
        {},
        "field 'user': the column's type list<element: string> cannot hold ids",
    ),
    "decimal comma": (
        b"user;item;weight\nu;i1;1\nv;i1;4,5\n",
        {},
        "clicks.csv, row 3, field 'weight': '4,5' is not a number. Write decimals with a point",
    ),
    "weight is no number": (
        b"user,item,weight\nu,i1,\xe2\x80\x94\n",
        {},
        "clicks.csv, row 2, field 'weight': '—' is not a number. Mend or remove the row",
    ),
    "infinite weight": (
        b"user,item,weight\nu,i1,1\nu,i2,inf\n",
        {},
        "clicks.csv, row 3, field 'weight': 'inf' is not a finite number",
    ),
    "NaN weight": (
        b"user,item,weight\nu,i1,NaN\n",
        {},
        "clicks.csv, row 2, field 'weight': 'NaN' is not a finite number",
    ),
    "empty weight": (
        b"user,item,weight\nu,i1,\n",
        {},
        "clicks.csv, row 2, field 'weight': '' is not a finite number",
    ),
    "NaN weight in parquet": (
        parquet(user=["u"], item=["i1"], weight=[float("nan")]),
        {},
        "clicks.csv, row 1, field 'weight': nan is not a finite number",
    ),
    "unparsable time": (
        b"user,item,time\nu,i1,2020-01-01\nu,i2,yesterday\n",
        {},
        "clicks.csv, row 3, field 'time': 'yesterday' cannot be read as a time stamp.",
        "Write unix seconds or ISO 8601, the same in all rows",
    ),
    "first time unparsable": (
        b"user,item,time\nu,i1,soon\n",
        {},
        "clicks.csv, row 2, field 'time': 'soon' cannot be read",
    ),
    "no such day": (
        b"user,item,time\nu,i1,2020-02-30\n",
        {},
        "row 2, field 'time': '2020-02-30' cannot be read",
    ),
    "mixed forms of time": (
        b"user,item,time\nu,i1,1577836800\nu,i2,2020-01-01\n",
        {},
        "clicks.csv, row 3, field 'time': '2020-01-01' cannot be read",
    ),
    "mixed units of time": (
        b"user,item,time\nu,i1,1577836800\nu,i2,1577836800\nv,i1,1577836800000\n",
        {},
        "clicks.csv, row 4, field 'time':",
        "'1577836800000' does not fit the other times, which are seconds. Write all times in one unit",
    ),
    "infinite time": (
        b"user,item,time\nu,i1,inf\n",
        {},
        "clicks.csv, row 2, field 'time': 'inf' is no time in any unit",
    ),
    "content is no number": (
        GOOD,
        {"items": b"item,price\ni1,2\ni2,cheap\n", "content": {"price": {"as": "number"}}},
        "products.csv, row 3, field 'price': 'cheap' is not a number",
    ),
    "content is infinite": (
        GOOD,
        {"items": b"item,price\ni1,-inf\n", "content": {"price": {"as": "number"}}},
        "products.csv, row 2, field 'price': '-inf' is not a finite number",
    ),
    "content of a nested type": (
        GOOD,
        {"items": parquet(item=["i1"], tags=[{"a": 1}])},
        "products.csv, field 'tags': the column's type struct<a: int64> cannot hold categories",
    ),
    "items without content": (
        b"user,item\nu,i1\nu,i8\nu,i9\nv,i9\n",
        {},
        "clicks.csv, row 3, field 'item':",
        "2 items of 3 interactions are not in products.csv, such as 'i8', 'i9'.",
        "Add their rows there, or leave these interactions out by `data: {missing_content: drop}`",
    ),
    "no overlap": (
        b"item,user\nu,i1\nv,i2\n",
        {},
        "clicks.csv, field 'item': none of its items is in products.csv:",
        "it has 'u', 'v', there is 'i1', 'i2'. Users are among the items: it seems that the two columns are swapped",
    ),
    "ids joined across types": (
        parquet(user=["u"], item=[7]),
        {"items": b"item,tags\n007,x\n"},
        "it has '7', there is '007'. Write ids alike: '7' here seems to be '007' there",
    ),
    "item twice with different content": (
        GOOD,
        {"items": b"item,tags\ni1,x\ni2,x\ni1,y\n"},
        "products.csv, row 4, field 'tags': item 'i1' has ['y'] here but ['x'] in row 2.",
        "Keep one row for each item",
    ),
    "nothing left": (
        b"user,item,weight\nu,i1,0\n",
        {},
        "clicks.csv: no interaction is left after cleaning",
    ),
    "last without times": (
        GOOD,
        {"repeats": "last"},
        "clicks.csv: has no times, and `repeats: last` needs them.",
        "Name the column of times, or use sum or count",
    ),
    "parquet cut short": (
        FLOATS[:-20],
        {},
        "clicks.csv: is not a readable Parquet file",
    ),
    "cp1251": (
        "user,item\nu,i1\nИван,i1\n".encode("cp1251"),
        {},
        "clicks.csv, row 3: the bytes",
    ),
    "header missing": (
        b"17,i1,978300760\n18,i2,978300761\n",
        {},
        "clicks.csv, row 1: the first line '17,i1,978300760' looks like data, and column",
        "'user' is looked for there. Add a line with the columns' names at the top",
    ),
    "several malformed rows": (
        b"user,item\nu,i1\nv\nw,i1\nx\ny\nz,i1,i2\n",
        {},
        "clicks.csv, row 3: found 1 fields, expected 2 as in the header (and 3 more: rows 5, 6, 7). Complete or remove it",
    ),
    "several broken cells in several columns": (
        b"user,item,weight,time\nu,i1,x,now\nv,i1,1,5\nw,i1,y,then\n,i1,1,6\n",
        {},
        "clicks.csv, row 2, field 'time': 'now' cannot be read as a time stamp (and 3 more: rows 3, 4, 5)",
    ),
    "NUL character": (
        b"user,item\nu,i1\nv\0w,i1\n",
        {},
        "clicks.csv, row 3: the line holds a NUL character",
    ),
    "utf-16 without a mark": (
        "user,item\nu,i1\n".encode("utf-16-le"),
        {},
        "clicks.csv, row 1: the line holds a NUL character",
    ),
    "quote not closed at the end": (
        b'user,item\nu,i1\nv,"i1\n',
        {},
        "clicks.csv, row 3: quotes are not balanced from here on",
    ),
    "ids written as another type": (
        parquet(user=["u"], item=["10.0"]),
        {"items": b"item,tags\n10,x\n"},
        "Write ids alike: '10.0' here seems to be '10' there",
    ),
    "weight is missing": (
        b"user,item,weight\nu,i1,1\nv,i1,-\nw,i1,null\n",
        {},
        "clicks.csv, row 3, field 'weight': '-' is not a finite number (and 1 more: row 4)",
    ),
    "all weights below the minimum": (
        b"user,item,weight\nu,i1,2\n",
        {"min_weight": 4.0},
        "clicks.csv: no interaction is left after cleaning",
    ),
    "minimum of weights that there are not": (
        GOOD,
        {"min_weight": 4.0},
        "clicks.csv: has no weights, and `min_weight: 4` needs them. Name the column of weights",
    ),
    "parquet with a struct of ids": (
        parquet(user=[{"id": "u"}], item=["i1"]),
        {},
        "field 'user': the column's type struct<id: string> cannot hold ids",
    ),
    "JSON lines with a broken line": (
        b'{"user": "u", "item": "i1"}\n{"user": "v", "item": \n{"user": "w", "item": "i1"}\n',
        {},
        "clicks.csv, row 2: is not a JSON object (Expecting value at character 24)",
    ),
    "JSON lines with a nested id": (
        b'{"user": {"id": 1}, "item": "i1"}\n',
        {},
        'clicks.csv, row 1, field \'user\': {"id": "1"} is nested',
    ),
    "JSON list": (
        b'[{"user": "u", "item": "i1"}]',
        {},
        "clicks.csv: is one JSON list. Write JSON lines: one object a line",
    ),
    "gz cut short": (
        gzip.compress(b"user,item\n" + b"u,i1\n" * 999, mtime=0)[:-9],
        {},
        "clicks.csv: is damaged or cut short (Truncated compressed stream). Get it again from where it came from",
    ),
    "parquet inside gz": (
        gzip.compress(FLOATS, mtime=0),
        {},
        "clicks.csv: is Parquet inside gzip. Unpack it",
    ),
    "zip or Excel": (
        b"PK\x03\x04" + bytes(30),
        {},
        "clicks.csv: is a zip archive or an Excel file, not a table",
    ),
    "first line without end": (
        b"x" * 2_000_000,
        {},
        "clicks.csv: its first line is longer than a million characters",
    ),
}
