"""Cells that cannot be used, told all at once: how many of each kind, and the first few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from frostline.errors import InputError, shown_rows

EXAMPLES = 4


@dataclass
class _Kind:
    remedy: str
    value: object
    count: int = 0
    rows: list[int] = field(default_factory=list)


class Faults:
    """Collects the wrong cells of the tables that are read together."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str], _Kind] = {}

    def add(self, file: str, column: str, problem: str, remedy: str, rows: Sequence[int], value: object) -> None:
        """Note cells of a column that have the same problem, in the order of their rows; `value` is the first one's."""
        if len(rows):
            kind = self._kinds.setdefault((file, column, problem), _Kind(remedy, value))
            kind.count += len(rows)
            kind.rows += map(int, rows[: EXAMPLES - len(kind.rows)])

    def raise_if_any(self, line: Callable[[str, int], int] = lambda file, row: row) -> None:
        """One error for all, a line for each kind; `line` turns a row of a file into the one that a person counts.

        Raises
        ------
        InputError
        """
        errors = []
        for (file, column, problem), kind in self._kinds.items():
            rows = [line(file, row) for row in kind.rows]
            more = shown_rows(rows, kind.count)
            errors.append(
                InputError(f"{kind.value!r} {problem}{more}", kind.remedy, file=file, row=rows[0], field=column)
            )
        if errors:
            raise InputError.together(errors)
