"""A data card: what a data set is, whence, under what terms, and whether Frostline's reading of it was checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Card:
    """What one should know of a data set before using it.

    Attributes
    ----------
    title, source, licence : str
        Its name, where it comes from (a page and whom to cite), and the terms.
    interaction : str
        What counts as one, and what its weight and time are.
    checked : str
        Whether the adapter was run on the publisher's real file, or on small ones in the documented layout.
    expected : dict
        Published or counted numbers, by what they are of, see `unexpected`.
    left_out : str
        Fields that are no content on purpose, because they know how popular an item became.
    """

    title: str
    source: str
    licence: str
    interaction: str
    checked: str
    expected: Mapping[str, int] = field(default_factory=dict)
    left_out: str = ""


def unexpected(file: str, found: Mapping[str, int], expected: Mapping[str, int]) -> list[str]:
    """Notes on numbers that are not those of the card."""
    return [
        f"UNEXPECTED COUNT: {file} has {found[what]:,} {what}, the publisher's {number:,}"
        for what, number in expected.items()
        if what in found and found[what] != number
    ]
