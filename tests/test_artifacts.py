"""The one door: what is written is whole, says where it came from, and is the same bytes each time (C10, Rulings 1)."""

import hashlib
import io
import json
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array

from frostline.artifacts import FORMAT, SIDECAR, ArtifactError, IsolationError, Job, digest_file, expand_family

VALUES = {
    "table.parquet": pa.table({"id": ["b", "a"], "n": pa.array([1, None], pa.int32()), "c": [["x"], []]}),
    "arrays.npz": {"m": csr_array(np.eye(3, dtype=np.float32)), "names": np.array(["é", "z"]), "x": np.arange(4.0)},
    "array.npy": np.arange(6, dtype=np.float32).reshape(2, 3),
    "value.json": {"é": [1, 0.1, None], "a": {}},
}
every_kind = pytest.mark.parametrize("name", VALUES)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@every_kind
def test_C10_same_inputs_same_bytes_whatever_the_clock_and_the_threads(name, files, monkeypatch):
    seen = []
    for now in (1e9, 1.7e9):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        monkeypatch.setattr(time, "localtime", lambda *_, now=now: time.gmtime(now))
        files.put(name, VALUES[name])
        seen.append(files.bytes(name, name + SIDECAR))
    assert seen[0] == seen[1]
    with_threads = Job("test", {}, {"it": files.path(name)}, threads=8)
    payload = files.bytes(name)
    if name == "value.json":
        with_threads.write_json("it", VALUES[name])
        assert files.bytes(name) == payload and json.loads(files.bytes(name + SIDECAR)[0])["threads"] == 8


@every_kind
def test_what_was_written_is_what_is_read(name, files):
    files.put(name, VALUES[name])
    found = files.get(name)
    if name == "table.parquet":
        assert found.equals(VALUES[name])
    elif name == "arrays.npz":
        assert found["names"].tolist() == ["é", "z"] and found["x"].tolist() == [0, 1, 2, 3]
        assert isinstance(found["m"], csr_array) and (found["m"].toarray() == np.eye(3)).all()
    elif name == "array.npy":
        assert found.dtype == np.float32 and (found == VALUES[name]).all()
    else:
        assert found == VALUES[name]


def test_only_the_wanted_columns_are_read(files):
    files.put("table.parquet", VALUES["table.parquet"])
    job = Job("test", {"it": files.path("table.parquet")}, {})
    assert job.read_table("it", columns=["n"]).column_names == ["n"]


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), max_size=5),
    st.sampled_from([(), (1,), (7,), (2, 3)]),
    st.sampled_from(["<f4", "<f8", "<i4", "?", "<U3"]),
)
def test_C10_an_array_written_in_blocks_has_the_bytes_of_np_save(folder, lengths, rest, dtype):
    rng = np.random.default_rng(0)
    blocks = [rng.integers(0, 100, (length, *rest)).astype(dtype) for length in lengths]
    whole = np.concatenate([np.empty((0, *rest), dtype), *blocks])
    files = folder()
    job = Job("test", {}, {"it": files.path("array.npy")})
    with job.array_writer("it", whole.shape, dtype) as write:
        for block in blocks:
            write(np.asfortranarray(block))
    expected = io.BytesIO()
    np.save(expected, whole)
    assert files.bytes("array.npy") == [expected.getvalue()]


@pytest.mark.parametrize("blocks", [[(2, 3)], [(2, 3), (2, 3)], [(3, 4)], [(4, 3)], [(3,)], [(1, 9)]])
def test_P1_blocks_that_do_not_fill_the_array_are_refused(blocks, files):
    """A plug-in that scores too few, too many or transposed cells would otherwise shift all that follow."""
    job = Job("score", {}, {"scores": files.path("scores.npy")})
    refused = pytest.raises(ArtifactError, match=r"'score'.*'scores'.*\(3, 3\)")
    with refused, job.array_writer("scores", (3, 3), np.float32) as write:
        for shape in blocks:
            write(np.zeros(shape))
    assert names(files.folder) == []


@st.composite
def matrices(draw):
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    cell = st.tuples(st.integers(0, max(rows - 1, 0)), st.integers(0, max(columns - 1, 0)))
    cells = draw(st.lists(cell, unique=True, max_size=10 if rows and columns else 0))
    at = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    kind = draw(st.sampled_from([csr_array, csc_array, coo_array]))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int64]))
    return kind((np.arange(1, at.shape[1] + 1).astype(dtype), tuple(at)), shape=(rows, columns))


@settings(max_examples=60)
@given(matrices(), matrices())
def test_sparse_matrices_come_back_as_they_were_and_as_csr(folder, one, other):
    files = folder()
    files.put("arrays.npz", {"one": one, "other": other, "plain": np.arange(2)})
    found = files.get("arrays.npz")
    assert set(found) == {"one", "other", "plain"}
    for name, matrix in (("one", one), ("other", other)):
        assert isinstance(found[name], csr_array) and found[name].dtype == matrix.dtype
        assert found[name].shape == matrix.shape and (found[name].toarray() == matrix.toarray()).all()


def test_C10_the_order_of_a_matrix_in_memory_does_not_reach_the_file(files):
    sorted_ = csr_array((np.array([1.0, 2, 3]), np.array([0, 2, 1]), np.array([0, 2, 3])), shape=(2, 3))
    unsorted = csr_array((np.array([2.0, 1, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    files.put("a.npz", {"m": sorted_})
    files.put("b.npz", {"m": unsorted})
    assert len(set(files.bytes("a.npz", "b.npz"))) == 1


@pytest.mark.parametrize("value", [np.array([{}], object), [None, "x"], np.zeros(2, [("a", object)])])
def test_python_objects_are_not_written(value, files):
    with pytest.raises(ArtifactError, match=r"'test'.*objects.*'it'"):
        files.put("arrays.npz", {"fine": np.arange(2), "bad": value})
    assert names(files.folder) == []


@pytest.mark.parametrize("name", ["arrays.npz", "array.npy"])
def test_pickles_are_not_read_even_with_a_proper_sidecar(name, files):
    files.put(name, VALUES[name])
    planted = np.array([[{"code": "anything"}]], object)
    with open(files.path(name), "wb") as stream:
        (np.savez if name == "arrays.npz" else np.save)(stream, planted, allow_pickle=True)
    sidecar = files.folder / (name + SIDECAR)
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"digest": digest_file(files.path(name))}))
    with pytest.raises(
        (ValueError, ArtifactError), match=r"allow_pickle=False|Python objects|one-dimensional or holds objects"
    ):
        files.get(name)


@given(st.integers(0, 7) | st.none(), st.integers(-2, 9) | st.none())
def test_an_array_is_read_by_rows(folder, start, stop):
    files = folder()
    values = np.arange(21, dtype=np.int16).reshape(7, 3)
    files.put("array.npy", values)
    opened = Job("test", {"it": files.path("array.npy")}, {}).read_array("it")
    found = opened[start:stop]
    assert opened.shape == (7, 3) and found.dtype == np.int16
    if len(range(7)[start:stop]):
        assert (found == values[start:stop]).all()


@every_kind
def test_another_format_version_is_refused_with_both_numbers(name, files):
    files.put(name, VALUES[name])
    sidecar = files.folder / (name + SIDECAR)
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"format": FORMAT + 1}))
    with pytest.raises(ArtifactError, match=rf"{name}.*format {FORMAT + 1}.*reads format {FORMAT}\b.*run again"):
        files.get(name)


@every_kind
@pytest.mark.parametrize("record", [None, "", "{}", "[1]", "not json", b"\xff"])
def test_a_file_without_a_proper_sidecar_is_refused(name, record, files):
    files.put(name, VALUES[name])
    sidecar = files.folder / (name + SIDECAR)
    sidecar.unlink()
    if record is not None:
        sidecar.write_bytes(record if isinstance(record, bytes) else record.encode())
    with pytest.raises(ArtifactError, match="did not write it" if record is None else "not a provenance record"):
        files.get(name)


def test_a_raw_data_file_that_cannot_be_opened_is_named(files):
    with pytest.raises(ArtifactError, match=r"nowhere\.zip: cannot be read \(No such file"):
        Job("ingest", {"zip": files.path("nowhere.zip")}, {}).open_input("zip")


def failing_writers(job):
    def half(job):
        with job.array_writer("it", (2, 2), np.float32) as write:
            write(np.zeros((1, 2)))
            raise KeyError("in the middle")

    return {
        "block": lambda: half(job),
        "json": lambda: job.write_json("it", {"x": {1, 2}}),
        "nan": lambda: job.write_json("it", float("nan")),
        "table": lambda: job.write_table("it", "no table"),
        "text": lambda: job.write_text("it", "\ud800"),
    }


@pytest.mark.parametrize("failure", list(failing_writers(None)))
def test_a_failing_writer_leaves_neither_file_nor_sidecar_and_an_old_file_as_it_was(failure, files):
    job = Job("test", {}, {"it": files.path("new/out")})
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        failing_writers(job)[failure]()
    assert names(files.folder / "new") == []
    job.write_text("it", "old")
    before = files.bytes("new/out", "new/out" + SIDECAR)
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        failing_writers(job)[failure]()
    assert names(files.folder / "new") == ["out", "out" + SIDECAR]
    assert files.bytes("new/out", "new/out" + SIDECAR) == before


def test_an_old_file_stays_until_the_new_one_is_whole(files):
    files.put("array.npy", np.zeros((2, 2)))
    before = files.bytes("array.npy", "array.npy" + SIDECAR)
    job = Job("test", {}, {"it": files.path("array.npy")})
    with job.array_writer("it", (1, 2), np.float64) as write:
        write(np.ones((1, 2)))
        assert files.bytes("array.npy", "array.npy" + SIDECAR) == before
    assert (files.get("array.npy") == 1).all() and names(files.folder) == ["array.npy", "array.npy" + SIDECAR]


def test_a_job_whose_input_is_gone_writes_nothing(files):
    job = Job("test", {"gone": files.path("gone.csv")}, {"it": files.path("out.json")})
    with pytest.raises(FileNotFoundError):
        job.write_json("it", 1)
    assert names(files.folder) == []


def test_provenance_holds_what_was_done_with_what(files):
    files.put("in.json", [1])
    files.folder.joinpath("raw.csv").write_bytes(b"a,b\n")
    inputs = {"made": files.path("in.json"), "raw": files.path("raw.csv")}
    job = Job("split", inputs, {"it": files.path("out.json")}, {"test": 0.2}, code="c0de", threads=3)
    job.write_json("it", "é")
    record = json.loads(files.folder.joinpath("out.json" + SIDECAR).read_text())
    sha = {
        name: f"sha256:{hashlib.sha256(files.bytes(name)[0]).hexdigest()}"
        for name in ("in.json", "raw.csv", "out.json")
    }
    assert {name: record[name] for name in ("format", "artifact", "stage", "params", "code", "threads", "digest")} == {
        "format": FORMAT,
        "artifact": "it",
        "stage": "split",
        "params": {"test": 0.2},
        "code": "c0de",
        "threads": 3,
        "digest": sha["out.json"],
    }
    assert record["inputs"] == {
        "made": {"file": files.path("in.json"), "digest": sha["in.json"]},
        "raw": {"file": files.path("raw.csv"), "digest": sha["raw.csv"]},
    }
    assert record["packages"]["numpy"] == np.__version__ and record["packages"]["pyarrow"] == pa.__version__
    assert digest_file(files.path("out.json")) == record["digest"]
    assert set(record) == {
        "format",
        "artifact",
        "digest",
        "stage",
        "params",
        "inputs",
        "ancestors",
        "code",
        "packages",
        "threads",
    }


@every_kind
def test_the_digest_is_that_of_the_payload(name, files):
    files.put(name, VALUES[name])
    record = json.loads(files.folder.joinpath(name + SIDECAR).read_text())
    assert (
        record["digest"]
        == digest_file(files.path(name))
        == f"sha256:{hashlib.sha256(files.bytes(name)[0]).hexdigest()}"
    )


def test_one_sidecar_tells_the_whole_ancestry(files):
    files.folder.joinpath("raw.csv").write_bytes(b"a,b\n")
    files.put("a.json", "a", "ingest", ["raw.csv"])
    files.put("b.json", "b", "split", ["a.json"])
    files.put("c.json", "c", "content", ["a.json", "b.json"])
    files.put("d.json", "d", "score", ["c.json"])
    ancestors = json.loads(files.folder.joinpath("d.json" + SIDECAR).read_text())["ancestors"]
    descent = {
        "raw.csv": ("data", []),
        "a.json": ("ingest", ["raw.csv"]),
        "b.json": ("split", ["a.json"]),
        "c.json": ("content", ["a.json", "b.json"]),
    }
    assert ancestors == {
        files.path(name): {
            "stage": stage,
            "digest": digest_file(files.path(name)),
            "inputs": [files.path(parent) for parent in parents],
        }
        for name, (stage, parents) in descent.items()
    }


@pytest.mark.parametrize(
    "use",
    [
        lambda job: job.read_table("labels"),
        lambda job: job.read_array("labels"),
        lambda job: job.read_arrays("labels"),
        lambda job: job.read_json("labels"),
        lambda job: job.open_input("labels"),
        lambda job: job.write_json("labels", 1),
        lambda job: job.write_text("labels", ""),
        lambda job: job.write_table("labels", VALUES["table.parquet"]),
        lambda job: job.write_arrays("labels", {}),
        lambda job: job.array_writer("labels", (1,), np.float32).__enter__(),
    ],
)
def test_a_name_that_was_not_declared_is_refused(use, files):
    job = Job("score", {"model": files.path("m")}, {"scores": files.path("s")})
    with pytest.raises(IsolationError, match=r"stage 'score' asked for (in|out)put 'labels'.*Declared: (model|scores)"):
        use(job)


def test_an_input_is_no_output_and_an_output_no_input(files):
    files.put("a.json", 1)
    job = Job("score", {"a": files.path("a.json")}, {"b": files.path("b.json")})
    with pytest.raises(IsolationError, match="output 'a'"):
        job.write_json("a", 1)
    job.write_json("b", 1)
    with pytest.raises(IsolationError, match="input 'b'"):
        job.read_json("b")


def test_a_family_is_every_combination_of_the_axes_that_occur():
    axes = {"seed": ["1", "2"], "system": ["als+knn", "random"], "fold": ["val", "test"]}
    pattern = "r/seed-{seed}/{system}/scores.npy"
    declared = expand_family("scores", pattern, axes)
    assert declared == {
        f"scores[{seed},{system}]": f"r/seed-{seed}/{system}/scores.npy" for seed in "12" for system in axes["system"]
    }
    job = Job("audit", declared | expand_family("scores_of", "{fold}", axes) | {"scores": "x"}, {})
    assert job.family("scores") == {
        (seed, system): f"scores[{seed},{system}]" for seed in "12" for system in axes["system"]
    }
    assert job.family("score") == {}


@every_kind
def test_C2_a_file_that_was_changed_by_hand_is_not_read(name, files):
    """And so no result can come of it; the audit alone reads on, and reports it."""
    files.put(name, VALUES[name])
    path = files.folder / name
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ArtifactError, match=rf"{name}: was changed after Frostline wrote it"):
        files.get(name)
