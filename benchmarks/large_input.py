"""Reading, cleaning, sorting and encoding of a large CSV, against `pandas.read_csv` of the same file with text ids.

    python benchmarks/large_input.py            # 25,000,000 interactions; --rows for another number

Each runs in a process of its own, one after the other, on one thread; what counts are the ratios of their peak memory
(ru_maxrss) and of their time, of the clock and of the processor, which others on the machine slow down less. The file is
random in the shape of MovieLens 25M, in random order, which is the hardest one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PANDAS, FROSTLINE = "pandas.read_csv", "frostline ingest"
USERS, ITEMS = 162_541, 59_047


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=25_000_000)
    parser.add_argument("--measure", choices=[PANDAS, FROSTLINE], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), arguments.rows)
        found = {name: in_process(name, folder) for name in (PANDAS, FROSTLINE)}
    for name, (seconds, used, peak) in found.items():
        print(f"{name:<16} {seconds:7.1f} s  {used:7.1f} s of CPU  {peak:6.2f} GiB")
    ratios = [mine / theirs for mine, theirs in zip(found[FROSTLINE], found[PANDAS], strict=True)]
    print(
        f"{'ratio':<16} {ratios[0]:7.2f}    {ratios[1]:7.2f}           {ratios[2]:6.2f}      (to be at most 2, 2 and 0.33)"
    )


def write(folder: Path, rows: int) -> None:
    """The interactions and the items, as CSV."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    schema = pa.schema({"user": pa.int64(), "item": pa.int64(), "weight": pa.float64(), "time": pa.int64()})
    with csv.CSVWriter(folder / "clicks.csv", schema) as file:
        for start in range(0, rows, 1_000_000):
            n = min(1_000_000, rows - start)
            user = rng.integers(1, USERS + 1, n)
            item = (rng.random(n) ** 3 * ITEMS).astype(int) * 3
            file.write(pa.table([user, item, rng.integers(1, 11, n) / 2, rng.integers(8e8, 16e8, n)], schema=schema))
    items = pa.table({"item": np.arange(ITEMS) * 3, "genres": [f"genre {i % 20}" for i in range(ITEMS)]})
    csv.write_csv(items, folder / "films.csv")


def in_process(name: str, folder: str) -> tuple[float, float, float]:
    command = [sys.executable, __file__, "--measure", name]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return tuple(json.loads(done.stdout))


def measure(name: str) -> None:
    start = time.perf_counter()
    if name == PANDAS:
        import pandas as pd

        pd.read_csv("clicks.csv", dtype={"user": str, "item": str})
    else:
        from frostline import ingest
        from frostline.artifacts import Job

        params = {
            "adapter": "table",
            "options": {"interactions": "clicks.csv", "items": "films.csv"},
            "content": {"genres": {"as": "categories"}},
        }
        outputs = {name: f"{name}.out" for name in ("interactions", "items", "quality")}
        ingest.run(Job("ingest", {"interactions": "clicks.csv", "items": "films.csv"}, outputs, params))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20]))


if __name__ == "__main__":
    main()
