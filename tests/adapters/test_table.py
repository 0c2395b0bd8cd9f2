"""The user's own files: good ones come through as they are, each kind of bad one gives one message that says what to do."""

import dataclasses
import io
import json

import numpy as np
import pyarrow as pa
import pytest

from frostline.adapters.table import Table
from frostline.errors import InputError
from tests.corpus import ingest, parquet

ITEMS = b'item,tags,price,title\ni1,a|b,1.5,"first\nline"\ni2,,,second\n'
FIELDS = {"tags": {"as": "categories"}, "price": {"as": "number"}, "title": {"as": "text"}}


def load(events: bytes, items: bytes = ITEMS, content=FIELDS, **options):
    """The data set as one table, with rows as a person counts them."""
    files = {"interactions": io.BytesIO(events), "items": io.BytesIO(items)}
    dataset = Table("clicks.csv", "products.csv", **options).read(files, content)
    table = pa.concat_tables(dataset.interactions).unify_dictionaries()
    row = pa.array([dataset.line_of("clicks.csv", row) for row in table["row"].to_pylist()], pa.int64())
    table = table.set_column(table.column_names.index("row"), "row", row)
    return dataclasses.replace(dataset, interactions=table, items=dataset.items.drop("file"))


def test_reads_both_files_with_rows_as_an_editor_counts_them():
    dataset = load(b"user,item,time,weight\nu,i1,100,2\n\nv,i2,200,0.5\n")
    assert dataset.interactions.to_pydict() == {
        "user": ["u", "v"], "item": ["i1", "i2"], "time": [100, 200], "weight": [2, 0.5], "row": [2, 4]
    }  # fmt: skip
    assert dataset.items.to_pydict() == {
        "item_id": ["i1", "i2"], "tags": [["a", "b"], [""]], "price": [1.5, None],
        "title": ["first\nline", "second"], "row": [2, 4],
    }  # fmt: skip
    assert not dataset.notes


def test_columns_are_mapped_and_time_and_weight_may_be_absent():
    columns = {"user": "customer", "item": "sku"}
    items = b"sku,tags\n1,x\n"
    dataset = load(b"sku,other,customer\n1,?,c\n", items, {"tags": {"as": "categories"}}, columns=columns)
    assert dataset.interactions.to_pydict() == {"user": ["c"], "item": ["1"], "row": [2]}
    assert dataset.columns == {"user": "customer", "item": "sku", "time": "time", "weight": "weight", "item_id": "sku"}


def test_items_file_may_call_its_ids_item_id():
    assert load(b"user,item\nu,i1\n", b"item_id,tags\ni1,x\n", {}).items["item_id"].to_pylist() == ["i1"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("given", [True, False])
def test_separator_is_given_or_recognised(separator, given):
    events = "user,item,time\nu,i1,5\n".replace(",", separator).encode()
    items = "item,price\ni1,2\n".replace(",", separator).encode()
    dataset = load(events, items, {"price": {"as": "number"}}, separator=separator if given else None)
    assert dataset.interactions["time"].to_pylist() == [5] and dataset.items["price"].to_pylist() == [2]
    assert len(dataset.notes) == (0 if given or separator == "," else 2)


@pytest.mark.parametrize("identifier", ["007", "10.0", "1e5", " a ", "☃️", "x" * 300, "True", "a\nb", "-1", "nano", '"'])
def test_c10_ids_are_text_as_written(identifier):
    quoted = '"' + identifier.replace('"', '""') + '"'
    interactions, items, _ = ingest(f"user,item\n{quoted},{quoted}\n".encode(), f"item,tags\n{quoted},x\n".encode())
    assert (
        interactions["user"].to_pylist()
        == interactions["item"].to_pylist()
        == items["item_id"].to_pylist()
        == [identifier]
    )


@pytest.mark.parametrize(
    "text", ["\ufeffuser,item\nu,i1\n", "user,item\r\nu,i1\r\n", "user,item\ru,i1\r", "user,item\nu,i1"]
)
def test_byte_order_mark_and_line_ends_make_no_difference(text):
    assert load(text.encode()).interactions.to_pydict() == {"user": ["u"], "item": ["i1"], "row": [2]}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_other_encodings_are_read_when_named(encoding):
    dataset = load("user,item\nZoë,i1\n".encode(encoding), ITEMS.decode().encode(encoding), encoding=encoding)
    assert dataset.interactions["user"].to_pylist() == ["Zoë"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1577836800", 1577836800), ("1577836800.9", 1577836800), ("-1", -1), ("1.5778368e9", 1577836800),
        ("1577836800123", 1577836800), ("1577836800123456", 1577836800), ("1577836800123456789", 1577836800),
        ("2020-01-01", 1577836800), ("2020-01-01T00:00", 1577836800), ("2020-01-01 00:00:01.5", 1577836801),
        ("2020-01-01T00:00:00Z", 1577836800), ("2020-01-01T02:00:00+02:00", 1577836800),
        ("2020-01-01 00:00:00.1234567Z", 1577836800), ("2020-01-01 00:00:00 UTC", 1577836800),
        ("2020-01-01 02:30:00+0230", 1577836800), ("1969-12-31 23:59:59.5", -1), ("", None), ("null", None),
    ],
)  # fmt: skip
def test_times_are_unix_seconds_in_the_end(text, seconds):
    assert load(f"user,item,time\nu,i1,{text}\nv,i1,\n".encode()).interactions["time"].to_pylist() == [seconds, None]


def test_times_with_and_without_zone_and_of_day_precision_mix():
    times = ["2020-01-01", "2020-01-01T01:00:00+01:00", "2020-01-01 00:00", "2020-01-01T00:00:00.5"]
    events = "user,item,time\n" + "".join(f"u,i1,{time}\n" for time in times)
    assert load(events.encode()).interactions["time"].to_pylist() == [1577836800] * 4


def test_milliseconds_are_noted():
    (note,) = load(b"user,item,time\nu,i1,1577836800123\n").notes
    assert note == "clicks.csv, field 'time': times were read as milliseconds"


@pytest.mark.parametrize(
    "dtype", [pa.int64(), pa.int16(), pa.uint8(), pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_parquet_ids_become_text(dtype):
    values = pa.array([1, 7] if pa.types.is_integer(dtype) else ["1", "7"]).cast(dtype)
    interactions, items, _ = ingest(parquet(user=values, item=values), parquet(item=values, tags=["x|y", None]))
    assert interactions["user"].to_pylist() == ["1", "7"] and items["tags"].to_pylist() == [["x", "y"], []]


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        (pa.array([1577836800, None], pa.timestamp("s")), [1577836800, None]),
        (pa.array([-1, None], pa.timestamp("ms")), [-1, None]),
        (pa.array([1577836800 * 10**9 + 5, None], pa.timestamp("ns", "Europe/Berlin")), [1577836800, None]),
        (pa.array([18262, None], pa.date32()), [1577836800, None]),
        (pa.array([1577836800000, None]), [1577836800, None]),
        (pa.array([1577836800.5, float("nan")]), [1577836800, None]),
        (pa.array(["2020-01-01", None]), [1577836800, None]),
    ],
)
def test_parquet_times(values, seconds):
    events = parquet(user=["u", "v"], item=["i1", "i1"], time=values)
    assert load(events).interactions["time"].to_pylist() == seconds


def test_parquet_numbers_and_lists():
    from decimal import Decimal

    items = parquet(
        item=["i1", "i2"],
        tags=[["b", "a"], None],
        codes=[[1], [2, 3]],
        year=[2000, None],
        price=[Decimal("1.50"), None],
    )
    content = {
        "tags": {"as": "categories"},
        "codes": {"as": "categories"},
        "year": {"as": "number"},
        "price": {"as": "number"},
    }
    assert load(b"user,item\nu,i1\n", items, content).items.drop(["row", "item_id"]).to_pydict() == {
        "tags": [["b", "a"], None], "codes": [["1"], ["2", "3"]], "year": [2000, None], "price": [1.5, None]
    }  # fmt: skip


def test_content_is_what_makes_the_file_not_its_name():
    assert load(parquet(user=["u"], item=["i1"])).interactions["row"].to_pylist() == [1]


def test_categories_of_another_separator_are_noted_unless_it_is_given():
    items = b'item,tags\ni1,"a, b"\n'
    assert "no value contains '|'" in load(b"user,item\nu,i1\n", items, {"tags": {"as": "categories"}}).notes[0]
    dataset = load(b"user,item\nu,i1\n", items, {"tags": {"as": "categories", "separator": ","}})
    assert dataset.items["tags"].to_pylist() == [["a", " b"]] and not dataset.notes


GOOD = b"user,item\nu,i1\n"


@pytest.mark.parametrize("spelling", ["", " ", "NaN", "nan", "null", "NULL", "None", "-", r"\N", "NA", "<NA>"])
def test_p5_no_spelling_of_nothing_is_an_id(spelling):
    with pytest.raises(InputError, match=r"clicks\.csv, row 3, field 'item': .* is not an id\. Fill in"):
        ingest(f"user,item\nu,i1\nu,{spelling}\n".encode())


def test_p5_items_without_content_are_dropped_and_counted_when_asked():
    interactions, _, quality = ingest(b"user,item\nu,i1\nu,i8\nv,i9\n", missing_content="drop")
    assert interactions.num_rows == 1
    assert quality["interactions"] == {"read": 3, "kept": 1, "dropped": {"no_content": 2}}
    assert quality["examples"]["no_content"] == [
        {"file": "clicks.csv", "row": 3, "value": "i8"},
        {"file": "clicks.csv", "row": 4, "value": "i9"},
    ]
    json.dumps(quality, allow_nan=False)


def test_p5_an_identical_repeat_of_an_item_is_collapsed_and_counted():
    _, items, quality = ingest(GOOD, b"item,tags\ni1,x|y\ni2,\ni1, y|x|x\n")
    assert items["item_id"].to_pylist() == ["i1", "i2"]
    assert quality["items"] == {
        "read": 3,
        "kept": 2,
        "dropped": {"repeated_item": 1},
        "without_interactions": 1,
        "with_one_interaction": 1,
    }
    assert quality["examples"]["repeated_item"] == [{"file": "products.csv", "row": 4, "value": "i1"}]


def test_p5_script_in_a_title_stays_text():
    title = "<script>alert(1)</script>"
    assert load(GOOD, f"item,title\ni1,{title}\n".encode(), {"title": {"as": "text"}}).items["title"].to_pylist() == [
        title
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"usr": "u"}}, "columns has the unknown key 'usr', did you mean 'user'"),
        ({"separator": "::"}, "separator must be one character"),
        ({"encoding": "utf8000"}, "encoding 'utf8000' is not known"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Table("a", "b", **options)


def test_the_first_bad_value_is_named_among_many():
    rng = np.random.default_rng(0)
    for _ in range(20):
        bad = np.sort(rng.choice(1000, 3, replace=False))
        weights = ["x" if i in bad else "1" for i in range(1000)]
        with pytest.raises(InputError, match=f"row {bad[0] + 2},"):
            load(("user,item,weight\n" + "".join(f"u,i1,{weight}\n" for weight in weights)).encode())
