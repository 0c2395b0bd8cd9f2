"""The course catalogue of UC Berkeley: CSV files in one zip, a row a course, with references to cross-listed twins.

Data card
---------
source
    https://undergraduate.catalog.berkeley.edu and https://graduate.catalog.berkeley.edu, exported as two CSV files.
licence
    Catalogue text UC Berkeley's; research use.
item
    A course, by the key `"{Subject} {Course Number}"`.
link
    A course names another one as its cross-listed twin. References are written like `MATSCIC135 MATS EXTRM ENVRMTS`:
    key without spaces and a title, cut off. The title may hold commas, which also part the references.
checked
    Against the real files: rows, subjects, repeated keys and references as in `EXPECTED`.
left out on purpose
    The course number: its leading C marks a cross-listed course, and most twins share the rest of it. The terms, which
    nobody filled in.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, ClassVar

import pyarrow as pa

from frostline.archive import REMEDY, member_of, opened
from frostline.dataset import MISSING, Adapter, DataFile, Dataset
from frostline.errors import InputError
from frostline.judgements import with_judgements
from frostline.links import OUTSIDE, Links, Reference, leading_token, longest, resolve, without_spaces
from frostline.tablefile import open_file, require

FRAGMENT, REPEATED_KEY = "title_fragment", "repeated_key"
_KEY = ("Subject", "Course Number")
_LINKS = "Cross-Listed Course(s)"
_UNITS = ("Credits - Units - Minimum Units", "Credits - Units - Maximum Units")
_TEXTS = {"title": "Course Title", "description": "Course Description"}
_CATEGORIES = {
    "subject": "Subject",
    "department": "Department(s)",
    "repeat_rules": "Repeat Rules",
    "repeat_circumstances": "Repeat Rule: Special Circumstances",
    "offering": "Offering Information",
    "offering_details": "Additional Offering Information",
}


@dataclass(frozen=True)
class BerkeleyCatalog(Adapter):
    """Fields `title`, `description`, `units` (as "3" or "1 to 4"), `subject`, `department`, and what is said of repeating
    and offering a course.

    Parameters
    ----------
    path : str, optional
        The zip file. All its CSV files are read.
    judgements : str, optional
        A file of text queries with judged courses (see `frostline.judgements`): the truth of the lens `judged`, in place
        of links.
    """

    path: str | None = None
    judgements: str | None = None

    ARCHIVE: ClassVar = "berkeley-catalog.zip"
    EXPECTED: ClassVar = {"rows": 11_169, "subjects": 240, "repeated keys": 13, "references": 1_517, "resolved": 1_480}

    def kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(_TEXTS, "text") | dict.fromkeys(("units", *_CATEGORIES), "categories")

    def files(self) -> Mapping[str, DataFile]:
        named = {"archive": DataFile(self.path, self.ARCHIVE, "https://undergraduate.catalog.berkeley.edu")}
        if self.judgements:
            named["judgements"] = DataFile(self.judgements, PurePath(self.judgements).name)
        return named

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read all CSV files; a link is an interaction, its `user` the course that refers.

        Raises
        ------
        InputError
            When the file is no zip, holds no CSV file, one lacks a column, or a row lacks its key.
        """
        name = self.path or self.ARCHIVE
        with opened(files["archive"], name) as archive:
            rows = _rows(archive, name)
        keys = [" ".join(row[column] for column in _KEY) for row in rows]
        references = [
            Reference(key, part, row["file"], row["row"])
            for key, row in zip(keys, rows, strict=True)
            for part in row[_LINKS].split(", ")
            if part.strip()
        ]
        kept, repeated = longest(keys, [[row[column] for column in _TEXTS.values()] for row in rows])
        links = resolve(references, [keys[row] for row in kept], without_spaces, leading_token, _why_unresolved)
        places = {key: [f"{rows[i]['file']}, row {rows[i]['row']}" for i in found] for key, found in repeated.items()}
        found = {
            "rows": len(rows),
            "subjects": len({row["Subject"] for row in rows}),
            "repeated keys": len(repeated),
            "references": links.report["references"],
            "resolved": links.report["resolved"],
        }
        dataset = Dataset(
            interactions=links.table(),
            items=_items([keys[row] for row in kept], [rows[row] for row in kept]),
            sources={"interactions": name, "items": name},
            dropped=links.dropped,
            dropped_items={REPEATED_KEY: len(rows) - len(kept)} if repeated else {},
            links=links.report | {"repeated_keys": places},
            notes=_notes(name, found, links, self.EXPECTED),
        )
        return with_judgements(dataset, files["judgements"], self.judgements) if self.judgements else dataset


def _notes(name: str, found: Mapping[str, int], links: Links, expected: Mapping[str, int]) -> list[str]:
    return [
        f"UNEXPECTED COUNT: {name} has {count:,} {what}, not the {expected[what]:,} of the snapshot"
        for what, count in found.items()
        if count != expected[what]
    ] + [f"{name}: {', '.join(group)} are alike without spaces" for group in links.report["collisions"]]


def _rows(archive: zipfile.ZipFile, name: str) -> list[dict]:
    """Every row of every CSV file, what is missing as the empty text, with the file and the row where it stands."""
    members = sorted(base for path in archive.namelist() if (base := path.rpartition("/")[2]).lower().endswith(".csv"))
    if not members:
        raise InputError("holds no CSV file", REMEDY, file=name)
    wanted = list(dict.fromkeys([*_KEY, _LINKS, *_UNITS, *_TEXTS.values(), *_CATEGORIES.values()]))
    rows: list[dict] = []
    for member in members:
        file = f"{name}:{member}"
        source = open_file(io.BytesIO(member_of(archive, member, name)), file)
        for column in wanted:
            require(source, column, REMEDY)
        table, numbers = source.read(wanted)
        for row, number in zip(table.to_pylist(), numbers.tolist(), strict=True):
            cells = {column: (row[column] or "").strip() for column in wanted}
            cells = {column: "" if value in MISSING else value for column, value in cells.items()}
            for column in _KEY:
                if not cells[column]:
                    raise InputError("is empty", "Fill it in or remove the row", file=file, row=number, field=column)
            rows.append(cells | {"file": file, "row": number})
    return rows


def _items(keys: list[str], rows: list[dict]) -> pa.Table:
    def units(row: dict) -> list[str]:
        low, high = (row[column] for column in _UNITS)
        return [low if low == high else f"{low} to {high}"] if low else []

    columns = {"item_id": pa.array(keys, pa.string())}
    columns |= {field: pa.array([row[column] for row in rows], pa.string()) for field, column in _TEXTS.items()}
    lists = {field: [[row[column]] if row[column] else [] for row in rows] for field, column in _CATEGORIES.items()}
    lists["units"] = [units(row) for row in rows]
    columns |= {field: pa.array(values, pa.list_(pa.string())) for field, values in lists.items()}
    return pa.table(columns | {"row": pa.array([row["row"] for row in rows], pa.int64())})


def _why_unresolved(reference: str) -> str:
    """A course number holds a digit; what has none is the rest of a title that had a comma in it."""
    return OUTSIDE if any(map(str.isdigit, leading_token(reference))) else FRAGMENT
