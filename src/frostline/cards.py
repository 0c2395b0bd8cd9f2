"""All data cards: for the command `frostline data`, and docs/data.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frostline import registry
from frostline.errors import ConfigError, suggest


def cards() -> Iterator[tuple[str, type]]:
    """Name and class of every built-in adapter that has a card."""
    for name in registry.BUILT_IN["adapters"]:
        adapter = registry.load("adapters", name)
        if adapter.CARD is not None:
            yield name, adapter


def listing() -> str:
    """One line a data set: name, title and size."""
    rows = [(name, adapter.CARD.title, _counts(adapter.CARD.expected)) for name, adapter in cards()]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"{name:{widths[0]}}  {title:{widths[1]}}  {counts}".rstrip() for name, title, counts in rows)


def card(name: str) -> str:
    """The card of one data set.

    Raises
    ------
    ConfigError
        When no data set of that name has a card.
    """
    found = dict(cards())
    if name not in found:
        raise ConfigError(f"no data card '{name}', {suggest(name, found)}")
    return markdown(name, found[name])


def markdown(name: str, adapter: type) -> str:
    """One card as a section of docs/data.md."""
    card, files = adapter.CARD, adapter().files().values()
    fields = ", ".join(f"`{field}` ({kind})" for field, kind in adapter().kinds().items())
    told = {
        "source": card.source,
        "licence": card.licence,
        "interaction": card.interaction,
        "content": fields,
        "left out on purpose": card.left_out,
        "expected": _counts(card.expected),
        "checked": card.checked,
        "files": "; ".join(
            f"`{file.name}`, {f'downloaded from {file.url}' if file.url else 'to be fetched by hand'}"
            f"{f', {file.checksum}' if file.checksum else ', no checksum known' if file.url else ''}"
            for file in files
        ),
    }
    return "\n".join(
        [f"## {card.title}: `{name}`", "", *(f"- **{what}**: {text}" for what, text in told.items() if text)]
    )


def page() -> str:
    """All of docs/data.md."""
    lead = (
        "# Data sets\n\n"
        "One adapter each: `data: {adapter: NAME}` in a config, `frostline data NAME` for a card, `frostline download NAME` "
        "to fetch it into the cache ahead of a run. This page is `frostline data --markdown`.\n\n"
        "A card says whether the adapter was run on the publisher's real file. Of MovieLens, MovieTweetings and IFDB a "
        "count that differs from the expected one is a loud note in the quality report, no error: editions grow. A "
        "checksum is compared when a file is downloaded, not when you bring it."
    )
    return "\n\n".join([lead, *(markdown(name, adapter) for name, adapter in cards())]) + "\n"


def _counts(expected: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in expected.items())
