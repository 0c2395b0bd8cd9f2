"""Stage `new_items`: read a file of items that nobody could touch yet, to be ranked by the stage `recommend`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from frostline.artifacts import Job
from frostline.catalogue import clean_items
from frostline.dataset import Dataset
from frostline.errors import InputError
from frostline.mapping import read_items
from frostline.tablefile import open_file, require


def run(job: Job) -> None:
    """Read `file`, a table as the adapter `table` reads it, and `interactions`; write `items` as ingest writes them.

    Raises
    ------
    InputError
        When the id or a content field is missing or cannot be read, or an item has interactions.
    """
    name, content = job.params["name"], job.params["content"]
    known = pc.unique(job.read_table("interactions", columns=["item"])["item"])
    with job.open_input("file") as stream:
        source = open_file(stream, name)
        called = next((column for column in job.params["id_columns"] if column in source.columns), "item_id")
        require(source, called, "Call the column of ids 'item_id'")
        for column in content:
            require(source, column, "Give new items every field that `content` names")
        raw = read_items([source], called, content, [])
        lines = source.line
    if not raw.num_rows:
        raise InputError("holds no item", "Give a row for each new item", file=name)
    dataset = Dataset(
        pa.table({}), raw, {"items": name}, columns={"item_id": called}, line_of=lambda _, row: lines(row)
    )
    items, _ = clean_items(dataset, {field: options["as"] for field, options in content.items()})
    touched = np.flatnonzero(pc.is_in(raw["item_id"], known).to_numpy(zero_copy_only=False))
    if len(touched):
        more = f" (and {len(touched) - 1} more rows)" if len(touched) > 1 else ""
        raise InputError(
            f"'{raw['item_id'][int(touched[0])].as_py()}' has interactions, so it is no new item{more}",
            "Remove the row; what has interactions is ranked by your recommender itself",
            file=name,
            row=lines(raw["row"][int(touched[0])].as_py()),
            field=called,
        )
    job.write_table("items", items)
