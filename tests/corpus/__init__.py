"""Input that is wrong, one tiny file a kind (row P5): `refused` and `accepted` tables, and what is wrong `elsewhere`.

`python -m tests.corpus` writes the table of docs/bad-input.md, which a test compares with what happens.
"""

import io

import pyarrow as pa
import pyarrow.parquet as pq

from frostline.adapters.table import Table
from frostline.ingest import POLICIES, clean

GOOD = b"user,item\nu,i1\n"
ITEMS = b'item,tags,price,title\ni1,a|b,1.5,"first\nline"\ni2,,,second\n'


def parquet(**columns) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def ingest(events: bytes, items: bytes = ITEMS, content=None, name: str = "clicks.csv", **options):
    """Interactions, items and quality of two files in memory."""
    content = {"tags": {"as": "categories"}} if content is None else content
    files = {"interactions": io.BytesIO(events), "items": io.BytesIO(items)}
    dataset = Table(name, "products.csv", **options).read(files, content)
    policy = {name: options[name] for name in POLICIES if name in options}
    return clean(dataset, {name: field["as"] for name, field in content.items()}, **policy)
