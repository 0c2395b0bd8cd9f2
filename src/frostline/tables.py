"""Write rows as a table, in Parquet for programs and as CSV for everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import pyarrow as pa

from frostline.artifacts import Job


def write_rows(job: Job, prefix: str, rows: Sequence[Mapping], columns: Sequence[str]) -> None:
    """Write the outputs `{prefix}parquet` and `{prefix}csv`; None is null in the one and empty in the other."""
    job.write_table(f"{prefix}parquet", pa.table({name: pa.array([row[name] for row in rows]) for name in columns}))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    job.write_text(f"{prefix}csv", stream.getvalue())
