"""Items that are listed twice."""

import pyarrow as pa

from frostline.twins import identities

CATALOGUE = pa.table({
    "item_id": ["a", "b", "c", "d", "e", "f", "g"],
    "tags": [["x"], ["x"], ["x"], ["y"], ["x"], ["x"], ["y"]],
    "title": ["Heat", "Heat", "Alien", "Heat", "", "", "Heat"],
    "year": [1995.0, 1995.0, 1979.0, 1986.0, None, None, 1986.0],
})  # fmt: skip


def test_items_are_the_same_where_all_content_is_and_a_text_among_it():
    assert identities(CATALOGUE).tolist() == [0, 0, -1, 1, -1, -1, 1]


def test_a_text_that_is_the_same_is_not_enough():
    tags = pa.array([["x"], ["z"], ["x"], ["y"], ["x"], ["x"], ["q"]])
    assert (identities(CATALOGUE.set_column(1, "tags", tags)) == -1).all()


def test_without_a_text_nothing_tells_items_apart():
    assert (identities(CATALOGUE.select(["item_id", "tags", "year"])) == -1).all()


def test_of_two_texts_both_must_agree():
    lead = pa.array(["p", "q", "", "r", "", "", "r"])
    assert identities(CATALOGUE.append_column("lead", lead)).tolist() == [-1, -1, -1, 0, -1, -1, 0]
