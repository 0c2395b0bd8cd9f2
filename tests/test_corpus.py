"""P5: every kind of wrong input has its stated outcome, and docs/bad-input.md says which."""

import pytest

from .corpus import accepted, elsewhere, refused
from .corpus.__main__ import PAGE, START, line, message


def documented() -> list[str]:
    return PAGE.read_text(encoding="utf-8").partition(START)[2].splitlines(keepends=True)[2:]


@pytest.mark.parametrize("kind", refused.TABLES)
def test_p5_bad_input_has_one_message_that_says_where_and_what_to_do(kind, tmp_path):
    fragments = refused.TABLES[kind][2:]
    said = message(kind, tmp_path)
    assert " ".join(fragments) in said
    assert line(kind, "refused", said) in documented(), "run `python -m tests.corpus`"


@pytest.mark.parametrize("kind", elsewhere.KINDS)
def test_p5_what_is_wrong_beside_the_table_is_refused_too(kind, tmp_path):
    assert line(kind, "refused", message(kind, tmp_path)) in documented(), "run `python -m tests.corpus`"


@pytest.mark.parametrize("kind", accepted.TABLES)
def test_p5_what_can_be_repaired_is_by_a_stated_rule_and_counted(kind):
    rule, found, expected = accepted.outcome(kind)
    assert found == expected
    assert line(kind, "read", rule) in documented(), "run `python -m tests.corpus`"


def test_the_page_lists_every_kind_once_and_no_other():
    kinds = [*accepted.TABLES, *refused.TABLES, *elsewhere.KINDS]
    assert [row.split(" | ")[0].removeprefix("| ") for row in documented()] == kinds
