"""A file of new items: read as ingest reads a catalogue, and what is wrong has its row and field (P5)."""

from pathlib import Path

import pyarrow as pa
import pytest

from frostline import new_items
from frostline.errors import InputError

CONTENT = {"tags": {"as": "categories"}, "year": {"as": "number"}}


def run(files, text):
    files.put("interactions.parquet", pa.table({"user": ["u"], "item": ["old"]}))
    Path(files.path("launch.csv")).write_text(text)
    inputs = {"file": "launch.csv", "interactions": "interactions.parquet"}
    params = {"name": "launch.csv", "content": CONTENT, "id_columns": ["sku", "item_id"]}
    files.run(new_items.run, inputs, {"items": "items.parquet"}, **params)
    return files.get("items.parquet").to_pylist()


def test_items_are_typed_and_sorted_as_a_catalogue_is(files):
    found = run(files, "year,item_id,tags\n1999,b,y|x|y\n,a,\n")
    assert found == [{"item_id": "a", "tags": [], "year": None}, {"item_id": "b", "tags": ["x", "y"], "year": 1999.0}]
    assert run(files, "sku,year,tags\n007,1,x\n")[0]["item_id"] == "007"


@pytest.mark.parametrize(
    "text, message",
    [
        ("item_id,year\na,1\n", "launch.csv, field 'tags'"),
        ("item_id,year,tags\na,soon,x\n", "launch.csv, row 2, field 'year'"),
        ("item_id,year,tags\na,1,x\nold,1,x\n", "launch.csv, row 3, field 'item_id': 'old' has interactions"),
        ("item_id,year,tags\na,1,x\na,2,x\n", "launch.csv, row 3, field 'year'"),
        ("item_id,year,tags\n,1,x\n", "launch.csv, row 2, field 'item_id'"),
        ("item_id,year,tags\n", "launch.csv: "),
        ("name,year,tags\na,1,x\n", "launch.csv, field 'item_id'"),
    ],
)
def test_P5_what_is_wrong_has_its_row_and_field(text, message, files):
    with pytest.raises(InputError) as caught:
        run(files, text)
    assert str(caught.value).startswith(message)
    assert not Path(files.path("items.parquet")).exists()
