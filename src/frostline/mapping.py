"""From columns of a user's, whatever they are called, to a `Dataset`: what the adapters `table` and `sql` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from frostline.dataset import Dataset
from frostline.drops import EXAMPLES
from frostline.errors import suggest
from frostline.faults import Faults
from frostline.tablefile import Column, Source, require
from frostline.tablefile.times import Times

ROLES = ("user", "item", "time", "weight")


def check_columns(columns: Mapping[str, str]) -> None:
    """Refuse roles that there are not, by ValueError, and one column in two of them."""
    for role in columns:
        if role not in ROLES:
            raise ValueError(f"columns has the unknown key '{role}', {suggest(role, ROLES)}")
    if len(set(columns.values())) < len(columns):
        raise ValueError(f"columns gives one column two roles: {columns}")


def dataset_of(
    interactions: Sequence[Source],
    items: Sequence[Source] | pa.Table,
    columns: Mapping[str, str],
    content: Mapping[str, Mapping[str, str]],
    names: Mapping[str, str],
) -> Dataset:
    """Items at once, interactions batch by batch.

    Parameters
    ----------
    interactions, items : sequences of Source
        Parts of one table each, of the same columns. Items may also be a table already, as `Dataset` has it.
    columns : mapping
        What the interactions call the roles (`ROLES`) that have other names; one that is named must be there.
    content : mapping
        As an adapter gets it.
    names : mapping
        What `interactions` and `items` are called in messages about the whole.

    Raises
    ------
    InputError
        When a column is missing or cannot be read as what it should be; of the interactions when they are read.
    """
    called = {role: columns.get(role, role) for role in ROLES}
    wanted = {
        role: column
        for role, column in called.items()
        if role in ("user", "item") or role in columns or column in interactions[0].columns
    }
    for source in interactions:
        for role, column in wanted.items():
            require(source, column, f"Name the column that holds it as `columns: {{{role}: …}}`")
    notes = [note for source in interactions for note in source.notes]
    if isinstance(items, pa.Table):
        catalogue = items
    else:
        called["item_id"] = called["item"] if called["item"] in items[0].columns else "item_id"
        for source in items:
            require(source, called["item_id"], f"Call the column of ids '{called['item']}' or 'item_id'")
            for column in content:
                require(source, column, "Name the field in `content` as the file does")
            notes += source.notes
        catalogue = read_items(items, called["item_id"], content, notes)
    dropped: dict[str, int] = {}
    examples: dict[str, list[dict]] = {}
    lines = {source.name: source.line for source in interactions}
    return Dataset(
        interactions=_batches(interactions, wanted, notes, dropped, examples),
        items=catalogue,
        sources=names,
        columns=called,
        dropped=dropped,
        examples=examples,
        notes=notes,
        line_of=lambda file, row: lines[file](row) if file in lines else row,
    )


def _batches(
    sources: Sequence[Source],
    wanted: Mapping[str, str],
    notes: list[str],
    dropped: dict[str, int],
    examples: dict[str, list[dict]],
) -> Iterator[pa.Table]:
    faults, times = Faults(), Times()
    for source in sources:
        for raw, row in source.batches(list(wanted.values())):
            parts = {role: Column(raw[name], row, source.name, name, faults) for role, name in wanted.items()}
            table = {"user": parts["user"].ids(), "item": parts["item"].ids()}
            if "time" in parts:
                table["time"] = times.seconds(parts["time"])
            if "weight" in parts:
                table["weight"] = parts["weight"].numbers(missing=False)
            if len(sources) > 1:
                table["file"] = pa.repeat(source.name, len(row)).dictionary_encode()
            yield pa.table(table | {"row": row})
        if source.repeated_headers:
            dropped["repeated_header"] = dropped.get("repeated_header", 0) + len(source.repeated_headers)
            value = ", ".join(wanted.values())
            found = examples.setdefault("repeated_header", [])
            for row in source.repeated_headers[: EXAMPLES - len(found)]:
                found.append({"file": source.name, "row": row, "value": value})
    lines = {source.name: source.line for source in sources}
    faults.raise_if_any(lambda file, row: lines[file](row))
    notes += times.notes


def read_items(
    sources: Sequence[Source], item_id: str, content: Mapping[str, Mapping[str, str]], notes: list[str]
) -> pa.Table:
    """Items as a `Dataset` has them, from columns that are there; what is odd is added to `notes`.

    Raises
    ------
    InputError
        When a value cannot be read as what it should be.
    """
    faults, tables = Faults(), []
    for source in sources:
        raw, row = source.read(list(dict.fromkeys([item_id, *content])))
        table = {"item_id": Column(raw[item_id], row, source.name, item_id, faults).ids()}
        for name, options in content.items():
            column = Column(raw[name], row, source.name, name, faults)
            table[name] = column.content(options["as"], options.get("separator", "|"))
            if options["as"] == "categories" and "separator" not in options and column.lacks("|"):
                notes.append(
                    f"{source.name}, field '{name}': no value contains '|', so each is one category; "
                    "give `separator` if they are lists"
                )
        if source.repeated_headers:
            notes.append(
                f"{source.name}: the header occurs again in {len(source.repeated_headers)} rows, "
                f"first in row {source.repeated_headers[0]}; they were left out"
            )
        tables.append(pa.table(table | {"row": row, "file": pa.repeat(source.name, len(row))}))
    faults.raise_if_any()
    return pa.concat_tables(tables)
