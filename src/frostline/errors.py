"""Errors that a user can mend: the command line prints their text without a traceback and exits with 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class FrostlineError(Exception):
    """Something that the user can put right: its text says what was wrong, where, and what to do."""


class ConfigError(FrostlineError):
    """A config key, component name or value that is not allowed."""


class InputError(FrostlineError):
    """A data file that cannot be used as it is.

    Parameters
    ----------
    problem : str
        What was wrong, with the offending value.
    remedy : str
        What the user can do about it.
    file, row, field : optional
        Where: the file's name as the user gave it, the row as counted in an editor (the first line is 1), the column.
    """

    def __init__(
        self,
        problem: str,
        remedy: str,
        *,
        file: object | None = None,
        row: int | None = None,
        field: str | None = None,
    ) -> None:
        places = [
            text
            for text in (
                None if file is None else str(file),
                None if row is None else f"row {row}",
                None if field is None else f"field '{field}'",
            )
            if text
        ]
        where = f"{', '.join(places)}: " if places else ""
        super().__init__(f"{where}{problem}. {remedy}")

    @classmethod
    def together(cls, errors: Sequence[InputError]) -> InputError:
        """One error with the text of all, a line each."""
        error = cls.__new__(cls)
        FrostlineError.__init__(error, "\n".join(map(str, errors)))
        return error


def suggest(wrong: str, allowed: Iterable[str]) -> str:
    """Say what is allowed and, where one is close, which spelling was probably meant.

    >>> suggest("lapha", ["alpha", "k"])
    "did you mean 'alpha'? Allowed: alpha, k"
    """
    names = sorted(map(str, allowed))
    close = get_close_matches(str(wrong), names, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}Allowed: {', '.join(names) or 'nothing'}"


def shown_rows(rows: Sequence[int], count: int | None = None) -> str:
    """What a message about the first of some rows says of the others; `count` is their number if `rows` are but the first.

    >>> shown_rows([3, 7, 9, 12, 20])
    ' (and 4 more: rows 7, 9, 12 …)'
    """
    others = (count or len(rows)) - 1
    if not others:
        return ""
    shown = rows[1:4]
    rest = " …" if others > len(shown) else ""
    return f" (and {others:,} more: row{'s' if others > 1 else ''} {', '.join(map(str, shown))}{rest})"
