"""A catalogue of the user's own: links in a column or in a file, judgements, and what is refused (A1, A3, A4, A9, P5)."""

import io

import pytest

from frostline.adapters.linked_items import LinkedItems
from frostline.errors import ConfigError, InputError
from frostline.ingest import clean
from frostline.schema import read as read_options

ITEMS = """sku,text,brand,see
a,first text,x,b|c|a
b,second text,y,
c,third text,x,a|zz
a,a longer first text,x,b|d
d,fourth,y,-
"""
CONTENT = {"text": {"as": "text"}, "brand": {"as": "categories"}}


def read(items=ITEMS, links=None, judgements=None, content=CONTENT, **columns):
    files = {"items": items, "links": links, "judgements": judgements}
    adapter = LinkedItems(
        "items.csv",
        links="links.csv" if links else None,
        judgements="judged.csv" if judgements else None,
        columns={"item": "sku", "links": "see", **columns},
    )
    assert set(adapter.files()) == {name for name, text in files.items() if text}
    return adapter.read({name: io.BytesIO(text.encode()) for name, text in files.items() if text}, content)


def cleaned(dataset):
    interactions, items, quality = clean(dataset, {name: options["as"] for name, options in CONTENT.items()})
    return list(zip(*(interactions[n].to_pylist() for n in ("user", "item")), strict=True)), items.to_pylist(), quality


def test_A1_A3_a_column_of_links():
    links, items, quality = cleaned(read())
    assert links == [("a", "b"), ("a", "c"), ("a", "d"), ("c", "a")]
    assert [item["item_id"] for item in items] == ["a", "b", "c", "d"] and items[0]["text"] == "a longer first text"
    assert quality["interactions"] == {
        "read": 7,
        "kept": 4,
        "dropped": {"outside_reference": 1, "repeated_link": 1, "self_reference": 1},
    }
    assert quality["items"]["dropped"] == {"repeated_key": 1} and quality["links"]["repeated_keys"] == {"a": [2, 5]}
    assert quality["links"]["unresolved"][1] == {
        "item": "c", "reference": "zz", "reason": "outside_reference", "file": "items.csv", "row": 4,
    }  # fmt: skip


def test_A4_permuting_the_links_changes_no_item():
    turned = ITEMS.replace("b|c|a", "?").replace("a|zz", "b|c|a").replace("?", "a|zz")
    assert cleaned(read(turned))[1] == cleaned(read())[1]
    assert cleaned(read(turned))[0] != cleaned(read())[0]


def test_A4_the_column_of_links_cannot_be_content():
    with pytest.raises(InputError, match=r"items\.csv, field 'see': is the column of links, which must not be content"):
        read(content={"see": {"as": "categories"}})


def test_a_file_of_links():
    links, _, quality = cleaned(read(links="from,to\na,b\nb,a\nc,zz\n", source="from", target="to"))
    assert links == [("a", "b"), ("b", "a")] and quality["links"]["dropped"] == {"outside_reference": 1}


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("source,target\nzz,a\n", r"links\.csv, row 2, field 'source': 'zz' is no item of items\.csv"),
        ("source,target\na,\n", r"links\.csv, row 2, field 'target': .* is not an id"),
        ("source,target\na,zz\n", r"none of 1 references names another item"),
        ("source,goal\na,b\n", r"field 'target': there is no such column"),
    ],
)
def test_P5_broken_links_are_named(links, message):
    with pytest.raises(InputError, match=message):
        read(links=links)


def test_a_wrong_role_is_named():
    with pytest.raises(ConfigError, match=r"unknown key 'sku', .*Allowed: item, links, source, target"):
        read_options(LinkedItems, {"items": "i.csv", "columns": {"sku": "x"}}, "experiments.e.data")


JUDGED = "query,item,relevance\nred shoes,a,2\nred shoes,b,0\nred shoes,a,2\nblue hat,c,1\ngreen,d,0\n"


def test_A9_judgements_take_the_place_of_links_and_their_gaps_are_flagged():
    dataset = read(judgements=JUDGED)
    pairs, _, quality = cleaned(dataset)
    assert pairs == [("blue hat", "c"), ("red shoes", "a")] and "links" not in quality
    assert quality["interactions"] == {
        "read": 5,
        "kept": 2,
        "dropped": {"judged_not_relevant": 2, "repeated_judgement": 1},
    }
    found = quality["judgements"]
    assert (found["queries"], found["judged"], found["relevant"], found["queries_without_relevant"]) == (3, 4, 2, 1)
    reasons = {entry["query"]: entry["reason"] for entry in found["incomplete"]}
    assert reasons["red shoes"] == "only 2 items are judged"
    assert "no item is judged relevant" in reasons["green"] and "judged not relevant" in reasons["blue hat"]


def test_A9_a_query_with_ten_judgements_on_both_sides_is_complete():
    items = "sku,text,brand\n" + "".join(f"i{n},t,x\n" for n in range(10))
    judged = "query,item,relevance\n" + "".join(f"q,i{n},{n % 2}\n" for n in range(10))
    assert read(items, judgements=judged).judgements["incomplete"] == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,zz,1", r"judged\.csv, row 2, field 'item': no item 'zz' in the catalogue"),
        (" ,a,1", r"judged\.csv, row 2, field 'query': the query is empty"),
        ("x,a,0.5", r"judged\.csv, row 2, field 'relevance': 0\.5 is no relevance"),
        ("x,a,-1", r"judged\.csv, row 2, field 'relevance': -1 is no relevance"),
        ("x,a,1\nx,a,2", r"judged\.csv, row 3, field 'relevance': 'a' is judged 2 for 'x' here and 1 in row 2"),
        ("x,a,0", r"judged\.csv: judges no item relevant"),
    ],
)
def test_A9_broken_judgements_are_named(row, message):
    with pytest.raises(InputError, match=message):
        read(judgements=f"query,item,relevance\n{row}\n")
