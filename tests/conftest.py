"""Shared by all tests: quick and repeatable property tests, and artifacts on disk, written and read by the one door."""

import os
import tempfile
from pathlib import Path

# Before numpy is loaded, as the workflow does it: implicit warns of more.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pytest
from hypothesis import settings
from scipy.sparse import csr_array

from frostline.api import Bilinear, Content, Warm
from frostline.artifacts import Job

settings.register_profile("frostline", deadline=None, derandomize=True, database=None)
settings.load_profile("frostline")


class Files:
    """A folder of artifacts; the ending of a name says what is in it."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, name):
        return str(self.folder / name)

    def put(self, name, value, stage="test", inputs=()):
        """Write one artifact, as if `stage` had made it from `inputs`."""
        job = Job(stage, {file: self.path(file) for file in inputs}, {"it": self.path(name)})
        write = {".parquet": job.write_table, ".npz": job.write_arrays, ".json": job.write_json}
        if Path(name).suffix == ".npy":
            with job.array_writer("it", value.shape, value.dtype) as block:
                block(value)
        else:
            write[Path(name).suffix]("it", value)

    def get(self, name):
        job = Job("test", {"it": self.path(name)}, {})
        if Path(name).suffix == ".npy":
            return job.read_array("it")[:]
        return {".parquet": job.read_table, ".npz": job.read_arrays, ".json": job.read_json}[Path(name).suffix]("it")

    def bytes(self, *names):
        return [(self.folder / name).read_bytes() for name in names]

    def run(self, run, inputs, outputs, **params):
        """Run a stage on files of this folder. Inputs and outputs are called as their files are, unless it is a dict."""
        named = [
            {name: self.path(file) for name, file in files.items()}
            if isinstance(files, dict)
            else {Path(file).stem: self.path(file) for file in files}
            for files in (inputs, outputs)
        ]
        stage = run.__module__.rpartition(".")[2]
        if stage in ("split", "rewire", "relabel", "audit"):
            params = {"protocol": "cold-items", "split": {}} | params
        elif stage in ("evaluate", "beyond"):
            params = {"candidates": "fold"} | params
            # As cold-items has it: what is known of a query is its part of train.
            known = {
                name.replace("train", "history"): path for name, path in named[0].items() if name.startswith("train")
            }
            named[0] = known | named[0]
        elif stage == "significance":
            params = {"drawn": "items"} | params
        run(Job(stage, *named, params))


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Makes a new folder of artifacts, for property tests: one an example."""
    return lambda: Files(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))


def make_world(seed, n_queries=9, n_warm=14, n_cold=7, d=3):
    """What a method may be given, at random: few categories, so that many items are alike, a number and a text."""
    rng = np.random.default_rng(seed)
    n_items = n_warm + n_cold
    categories = rng.random((n_items, 4)) < 0.35
    number = rng.integers(0, 3, (n_items, 1)) * [[0.5, 0.25]]
    text = rng.random((n_items, 3)) * (rng.random((n_items, 3)) < 0.4)
    matrix = csr_array(np.hstack([categories, number, text]).astype(np.float32))
    content = Content(matrix, ("tags", "year", "title"), ("categories", "number", "text"), np.array([0, 4, 6, 9]))
    train = csr_array((rng.random((n_queries, n_warm)) * (rng.random((n_queries, n_warm)) < 0.4)).astype(np.float32))
    donor = Bilinear(*(rng.standard_normal((n, d)).astype(np.float32) for n in (n_queries, n_warm)))
    warm = Warm(n_queries, seed, train, content.take(np.arange(n_warm)), donor)
    return warm, content.take(np.arange(n_warm, n_items))


@pytest.fixture(scope="session")
def world():
    return make_world
