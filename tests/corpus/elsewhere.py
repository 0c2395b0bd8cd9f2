"""What is wrong beside the content of a table: paths, archives, sizes. Each kind gets an empty folder and does it."""

import gzip
import io
import os
import stat
import zipfile

import numpy as np
import pyarrow as pa
import pytest

from frostline import plan, split
from frostline.archive import member_of, opened
from frostline.artifacts import Job
from frostline.dataset import DataFile
from frostline.drawing import draw_items
from frostline.split_options import Split
from frostline.tablefile import inflate

from . import GOOD, ingest


def placed(folder, path: str, many: bool = True):
    """What the workflow makes of a path in the config."""
    file = DataFile(str(folder / path), path, many=many)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FROSTLINE_DATA", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return plan.parts(file, plan.find(file, "mine"), "mine")


def path_does_not_exist(folder):
    placed(folder, "clicks.csv")


def path_is_a_folder_without_files(folder):
    (folder / "clicks").mkdir()
    placed(folder, "clicks")


def path_is_a_folder_where_one_file_is_needed(folder):
    (folder / "ml-1m.zip").mkdir()
    placed(folder, "ml-1m.zip", many=False)


def pattern_that_matches_nothing(folder):
    placed(folder, "clicks-*.parquet")


def path_is_not_readable(folder):
    path = folder / "clicks.csv"
    path.write_bytes(GOOD)
    path.chmod(0)
    # Root may read everything.
    user, nobody = os.geteuid(), 65_534
    if user == 0:
        os.seteuid(nobody)
    try:
        Job("ingest", {"interactions": str(path)}, {}).open_input("interactions")
    finally:
        if user == 0:
            os.seteuid(user)


def _archive(name: str, content: bytes = b"1,2", mode: int = 0) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        archive.writestr(member, content)
    return file


def zip_with_a_member_outside(folder):
    opened(_archive("../../ratings.dat"), "data.zip")


def zip_with_an_absolute_member(folder):
    opened(_archive("/etc/ratings.dat"), "data.zip")


def zip_with_a_link(folder):
    opened(_archive("ratings.dat", b"/etc/passwd", stat.S_IFLNK | 0o777), "data.zip")


def zip_with_a_member_that_claims_to_be_huge(folder):
    data = bytearray(_archive("ratings.dat").getvalue())
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")
    member_of(opened(io.BytesIO(data), "data.zip"), "ratings.dat", "data.zip")


def zip_with_a_member_that_inflates_beyond_its_claim(folder):
    data = bytearray(_archive("ratings.dat", b"1" * 10**6).getvalue())
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    member_of(opened(io.BytesIO(data), "data.zip"), "ratings.dat", "data.zip")


def zip_cut_short(folder):
    opened(io.BytesIO(_archive("ratings.dat").getvalue()[:-30]), "data.zip")


def gz_that_inflates_without_bound(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inflate, "FREE", 2**16)
        ingest(gzip.compress(GOOD + b"u,i1\n" * 10**6, mtime=0))


def _draw(items: int, interactions: int = 9, **options):
    draw_items(np.full(items, interactions), [["x"]] * items, Split(**options), seed=1)


def split_without_a_warm_item(folder):
    _draw(10, test=0.6, val=0.399, val_folds=2)


def split_without_a_val_item(folder):
    _draw(4)


def split_of_items_that_are_all_rare(folder):
    _draw(100, interactions=2)


def split_without_a_query(folder):
    items = [f"i{number:02}" for number in range(60)]
    tables = {
        "interactions": pa.table({"user": [f"u{item}" for item in items], "item": items, "weight": [1.0] * 60}),
        "catalogue": pa.table({"item_id": items}),
    }
    paths = {name: str(folder / f"{name}.parquet") for name in tables}
    for name, table in tables.items():
        Job("ingest", {}, paths).write_table(name, table)
    outputs = {name: str(folder / name) for name in ("items", "queries", "train", "val", "test", "strata", "summary")}
    options = {"strata": ("popularity",), "min_interactions": 1}
    split.run(Job("split", paths, outputs, {"protocol": "cold-items", "split": options, "category": None, "seed": 1}))


def more_folds_than_val_items(folder):
    _draw(30)


KINDS = {
    function.__name__.replace("_", " "): function
    for function in (
        path_does_not_exist,
        path_is_a_folder_without_files,
        path_is_a_folder_where_one_file_is_needed,
        pattern_that_matches_nothing,
        path_is_not_readable,
        zip_with_a_member_outside,
        zip_with_an_absolute_member,
        zip_with_a_link,
        zip_with_a_member_that_claims_to_be_huge,
        zip_with_a_member_that_inflates_beyond_its_claim,
        zip_cut_short,
        gz_that_inflates_without_bound,
        split_without_a_warm_item,
        split_without_a_val_item,
        split_of_items_that_are_all_rare,
        split_without_a_query,
        more_folds_than_val_items,
    )
}
