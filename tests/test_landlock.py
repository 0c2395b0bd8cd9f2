"""Rulings 20: what the audit hook cannot see, native code and child processes, the kernel refuses."""

import subprocess
import sys

import pytest

ATTEMPTS = """
pq.read_table("results/test.parquet")
pa.memory_map("results/test.parquet")
pa.OSFile("results/test.parquet")
pd.read_parquet("results/test.parquet")
subprocess.run(["cat", "results/test.parquet"], check=True, capture_output=True)
pa.fs.LocalFileSystem().get_file_info(pa.fs.FileSelector("results"))
""".strip().splitlines()

SCRIPT = """
import subprocess, sys
import pandas as pd, pyarrow as pa, pyarrow.fs, pyarrow.parquet as pq
from frostline.artifacts import Job, guard
from frostline.landlock import confine_reading
pq.write_table(pa.table({"a": [1]}), "results/declared.parquet")
pq.write_table(pa.table({"a": [1]}), "results/test.parquet")
guard(Job("score", {"declared": "results/declared.parquet"}, {"out": "results/out.json"}))
print(pq.read_table("results/declared.parquet").num_rows)
try:
    exec(sys.argv[1])
    print("read")
except (OSError, subprocess.CalledProcessError) as error:
    print("refused")
"""


@pytest.fixture(scope="module")
def kernel_has_landlock(tmp_path_factory):
    probe = "from frostline.landlock import confine_reading; print(confine_reading(()))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    if done.stdout.strip() != "True":
        pytest.skip("this kernel has no Landlock (Linux 5.13 and later); the audit hook stands alone here")


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_native_code_and_children_cannot_read_what_was_not_declared(attempt, tmp_path, kernel_has_landlock):
    (tmp_path / "results").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, attempt], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "refused"]
