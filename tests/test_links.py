"""References to links: one lookup by the leading token, everything that leads nowhere counted (A1, A2, A3)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frostline.links import AMBIGUOUS, OUTSIDE, SELF, Reference, leading_token, longest, resolve, without_spaces


def catalogue(references, keys):
    return resolve([Reference(*pair) for pair in references], keys, without_spaces, leading_token)


def test_A2_a_reference_is_its_leading_token_without_spaces():
    found = catalogue([("ENGIN 117", "MATSCIC135 MATS EXTRM ENVRMTS")], ["ENGIN 117", "MATSCI C135", "MATSCI 135"])
    assert found.pairs == [("ENGIN 117", "MATSCI C135")]


def test_A3_self_outside_and_repeated_references_are_dropped_and_counted():
    references = [
        ("A 1", "A1 ITSELF"),
        ("A 1", "B2 OTHER"),
        ("A 1", "B2 SAME, CUT"),
        ("A 1", "C3 GONE"),
        ("B 2", "A1 X"),
    ]
    found = catalogue(references, ["A 1", "B 2"])
    assert found.pairs == [("A 1", "B 2"), ("B 2", "A 1")]
    assert found.dropped == {SELF: 1, OUTSIDE: 1, "repeated_link": 1}
    assert len(found.pairs) + sum(found.dropped.values()) == len(references)
    report = found.report
    assert report["resolved"] == 3 and report["resolution_rate"] == 3 / 5
    assert report["directed"] == {"links": 2, "queries": 2} and report["symmetric"] == {"links": 2, "queries": 2}
    assert [(entry["reference"], entry["reason"]) for entry in report["unresolved"]] == [
        ("A1 ITSELF", SELF),
        ("C3 GONE", OUTSIDE),
    ]


def test_A2_colliding_keys_are_reported_and_a_reference_to_them_is_no_guess():
    found = catalogue([("X 1", "AB12 T"), ("X 1", "Y2 T")], ["A B12", "AB 12", "X 1", "Y 2"])
    assert found.pairs == [("X 1", "Y 2")] and found.dropped == {AMBIGUOUS: 1}
    assert found.report["collisions"] == [["A B12", "AB 12"]]


def test_A3_one_direction_counts_once_directed_and_twice_symmetric():
    report = catalogue([("A 1", "B2"), ("C 3", "B2"), ("B 2", "A1")], ["A 1", "B 2", "C 3"]).report
    assert report["directed"] == {"links": 3, "queries": 3} and report["undirected"] == 2
    assert report["symmetric"] == {"links": 4, "queries": 3}


_KEYS = st.lists(st.tuples(st.text("ABC ", min_size=1), st.text("C12", min_size=1)), min_size=1, max_size=8)


@given(_KEYS, st.data())
def test_A2_links_are_what_a_search_by_hand_finds(parts, data):
    keys = sorted({" ".join(pair) for pair in parts} - {""})
    references = data.draw(st.lists(st.tuples(st.sampled_from(keys), st.text("ABC12 ", max_size=5)), max_size=12))
    found = catalogue(references, keys)
    expected = set()
    for source, text in references:
        tokens = text.split()
        matches = [key for key in keys if tokens and key.replace(" ", "") == tokens[0]]
        if len(matches) == 1 and matches[0] != source:
            expected.add((source, matches[0]))
    assert found.pairs == sorted(expected)
    assert len(found.pairs) + sum(found.dropped.values()) == len(references)
    assert catalogue(references[::-1], keys[::-1]).pairs == found.pairs


@pytest.mark.parametrize("turn", [1, -1])
def test_A1_the_longest_text_stays_whatever_the_order_of_the_rows(turn):
    rows = [("a", "xx"), ("b", "only"), ("a", "xxx"), ("a", "aab")][::turn]
    kept, repeated = longest([key for key, _ in rows], [[text] for _, text in rows])
    assert [rows[row] for row in kept] == [("a", "xxx"), ("b", "only")]
    assert Counter(rows[row][0] for row in repeated["a"]) == {"a": 3} and list(repeated) == ["a"]
