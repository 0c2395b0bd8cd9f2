"""Data cards: every public data set has one, docs/data.md is made of them, and the command shows them (issue 5, point 1)."""

from pathlib import Path

import pytest

from frostline import registry
from frostline.cards import card, cards, listing, page
from frostline.cli import main
from frostline.dataset import KINDS
from frostline.errors import ConfigError

CARDS = dict(cards())


def test_the_page_is_made_of_the_cards():
    text = (Path(__file__).parents[1] / "docs/data.md").read_text(encoding="utf-8")
    assert text == page(), "write it anew: frostline data --markdown > docs/data.md"


def test_every_edition_that_was_promised_has_a_card():
    editions = ("100k", "1m", "latest-small", "10m", "20m", "25m", "32m")
    others = ("movietweetings-100k", "kion", "goodbooks-10k", "amazon-2014", "amazon-2023", "mind", "ifdb")
    assert {*(f"movielens-{edition}" for edition in editions), *others} <= set(CARDS)


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_what_it_must(name):
    adapter = CARDS[name]
    told = adapter.CARD
    assert all((told.title, told.source, told.licence, told.interaction, told.checked))
    assert "https://" in told.source and adapter().kinds() and set(adapter().kinds().values()) <= set(KINDS)
    for file in adapter().files().values():
        assert (file.licence == told.licence and file.source == told.source) or name == "ifdb"
        assert not file.url or file.url.startswith("https://")
        assert not file.checksum or (file.checksum.startswith("md5:") and len(file.checksum) == 36)


def test_the_command_lists_and_shows_them(capsys):
    assert main(["data"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CARDS) and lines == listing().splitlines()
    assert any(line.startswith("movielens-1m ") and "1,000,209 ratings" in line for line in lines)
    assert main(["data", "kion"]) == 0
    assert "## KION" in capsys.readouterr().out
    assert main(["data", "kino"]) == 1
    assert "no data card 'kino', did you mean 'kion'?" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        card("table")


def test_adapters_without_a_card_are_of_no_one_data_set():
    assert {"synthetic", "table"} <= set(registry.BUILT_IN["adapters"]) - set(CARDS)
