"""Numbers as people read them: `.2300`, `−.0120`, `1,204`, `41.2 %`, and a dash for what is undefined."""

from __future__ import annotations

from collections.abc import Iterable

MINUS, DASH, NARROW_SPACE = "\u2212", "\u2013", "\u202f"
TABLE, PROSE = 4, 3
"""Decimals in tables, and in sentences and plots."""


def decimal(value: float | None, digits: int = TABLE, signed: bool = False) -> str:
    """A figure with fixed decimals and without a leading zero.

    >>> decimal(0.22996), decimal(-0.012, 3), decimal(-0.00001), decimal(1.5, 1, signed=True), decimal(None)
    ('.2300', '−.012', '.0000', '+1.5', '–')
    """
    if value is None:
        return DASH
    text = f"{abs(value):.{digits}f}"
    is_zero = not text.strip("0.")
    sign = "" if is_zero else MINUS if value < 0 else "+" if signed else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def count(value: int | None) -> str:
    """A whole number with thousands separated."""
    return DASH if value is None else f"{value:,}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in per cent; what is not quite all or nothing never reads as all or nothing.

    >>> [percent(value) for value in (0.4123, 1.0, 0.99996, 0.0, 0.0001, -0.05)]
    ['41.2\u202f%', '100\u202f%', '> 99.9\u202f%', '0\u202f%', '< 0.1\u202f%', '−5.0\u202f%']
    """
    if value is None:
        return DASH
    smallest = 10.0**-digits
    if value in (0, 1):
        text = f"{value * 100:.0f}"
    elif 0 < value < smallest / 200:
        text = f"< {smallest:.{digits}f}"
    elif 1 - smallest / 200 < value < 1:
        text = f"> {100 - smallest:.{digits}f}"
    else:
        text = f"{abs(value) * 100:.{digits}f}"
        text = MINUS + text if value < 0 and text.strip("0.") else text
    return f"{text}{NARROW_SPACE}%"


def probability(value: float | None) -> str:
    """A p-value; one too small to be written is below the smallest that could be.

    >>> [probability(value) for value in (0.04321, 1.0, 0.00004, None)]
    ['.0432', '1.0000', '< .0001', '–']
    """
    smallest = 10.0**-TABLE
    return f"< {decimal(smallest)}" if value is not None and value < smallest else decimal(value)


def span(values: Iterable[int]) -> str:
    """One number where all are equal, else from the smallest to the largest."""
    low, high = min(values := list(values)), max(values)
    return count(low) if low == high else f"{count(low)}{DASH}{count(high)}"
