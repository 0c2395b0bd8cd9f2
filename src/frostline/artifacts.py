"""The one door: every byte that a stage reads or writes passes through a `Job`.

A job knows the files that were declared to the stage and refuses any other, by its own methods and, because a module
could forget them, by an audit hook on `open` in the stage's process (`guard`). What it writes appears under its name
only when complete, beside a sidecar `FILE.prov.json` that says where it came from. Payloads hold no clock, no path and
no thread count, so the same inputs give the same bytes. Artifacts are data, never code: Parquet, npy/npz without
pickle, JSON, text.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from frostline.errors import FrostlineError
from frostline.landlock import confine_reading

FORMAT = 1
"""Version of every artifact's layout; a reader refuses another one."""

SIDECAR = ".prov.json"
_RECORDED_PACKAGES = ("numpy", "scipy", "pyarrow", "pandas", "sklearn", "implicit", "lightgbm", "statsmodels")


class IsolationError(FrostlineError):
    """A stage tried to reach a file that was not declared to it."""


class ArtifactError(FrostlineError):
    """A file that is not the artifact it should be."""


@dataclass
class Job:
    """One run of one stage: its parameters and the only files that it may touch.

    Parameters
    ----------
    stage : str
    inputs, outputs : dict of str to str
        Declared files by name. A name such as `per_query[42,als+knn,test]` belongs to a family, see `family`.
    params : dict
        The stage's part of the config, and nothing else of it.
    code : str
        Digest of the source that the stage uses.
    threads : int
        Number of threads that the stage pins.
    """

    stage: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    params: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    threads: int = 1
    verify: bool = True
    """Whether an input whose bytes are no longer those of its sidecar is an error; the audit reports it instead."""
    _verified: set[str] = field(default_factory=set, repr=False)
    _origins: dict[str, dict] = field(default_factory=dict, repr=False)

    def _path(self, name: str, declared: Mapping[str, str], what: str) -> str:
        if name not in declared:
            raise IsolationError(
                f"stage '{self.stage}' asked for {what} '{name}', which was not declared to it. "
                f"Declared: {', '.join(sorted(declared)) or 'nothing'}"
            )
        return declared[name]

    def family(self, name: str) -> dict[tuple[str, ...], str]:
        """Names of all inputs `name[a,b,…]`, keyed by `(a, b, …)`."""
        prefix = f"{name}["
        return {tuple(key[len(prefix) : -1].split(",")): key for key in self.inputs if key.startswith(prefix)}

    def digest(self, name: str) -> str:
        """Digest of a declared input, as its sidecar has it."""
        return self._origin(self._path(name, self.inputs, "input"))["digest"]

    def open_input(self, name: str) -> BinaryIO:
        """Open a declared input for reading, unchecked: for files that Frostline did not write."""
        path = self._path(name, self.inputs, "input")
        try:
            return open(path, "rb")
        except OSError as error:
            raise ArtifactError(
                f"{path}: cannot be read ({error.strerror}). Check the path and its permissions"
            ) from error

    def _artifact(self, name: str) -> BinaryIO:
        path = self._path(name, self.inputs, "input")
        provenance = read_provenance(path)
        stream = self.open_input(name)
        if self.verify and path not in self._verified:
            if _digest(stream) != provenance["digest"]:
                stream.close()
                raise ArtifactError(f"{path}: was changed after Frostline wrote it. Delete it and run again")
            self._verified.add(path)
            stream.seek(0)
        return stream

    def read_table(self, name: str, columns: list[str] | None = None):
        """Read a Parquet input as a `pyarrow.Table`."""
        import pyarrow.parquet as pq

        with self._artifact(name) as stream:
            # `pq.read_table` would import pandas, which takes longer than most stages run.
            return pq.ParquetFile(stream).read(columns=columns, use_threads=False)

    def read_array(self, name: str) -> ArrayFile:
        """Open an npy input of two dimensions, to be read by rows: the whole may not fit into memory."""
        with self._artifact(name) as stream:
            return ArrayFile(self.inputs[name], stream)

    def read_arrays(self, name: str) -> dict[str, Any]:
        """Read an npz input as a dict of arrays; `matrix.*` entries come back as one CSR matrix (see `write_arrays`)."""
        import numpy as np

        with self._artifact(name) as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        for key in [key.removesuffix(".indptr") for key in arrays if key.endswith(".indptr")]:
            from scipy.sparse import csr_array

            parts = (arrays.pop(f"{key}.data"), arrays.pop(f"{key}.indices"), arrays.pop(f"{key}.indptr"))
            arrays[key] = csr_array(parts, shape=tuple(arrays.pop(f"{key}.shape")))
        return arrays

    def read_json(self, name: str) -> Any:
        with self._artifact(name) as stream:
            return json.load(stream)

    def write_table(self, name: str, table) -> None:
        """Write a `pyarrow.Table` as Parquet."""
        with self.table_writer(name) as write:
            write(table)

    @contextmanager
    def table_writer(self, name: str) -> Iterator[Callable]:
        """Write a Parquet output table by table, of one schema and at least one, so that it never has to fit into memory."""
        import pyarrow.parquet as pq

        writer = None

        def write(table) -> None:
            nonlocal writer
            if writer is None:
                writer = pq.ParquetWriter(stream, table.schema, compression="zstd", write_statistics=False)
            writer.write_table(table)

        with self._create(name) as stream:
            yield write
            writer.close()

    def write_arrays(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Write arrays and CSR matrices as one npz; a matrix is stored as its data, indices, indptr and shape."""
        import numpy as np

        flat: dict[str, Any] = {}
        for key, value in arrays.items():
            if hasattr(value, "tocsr"):
                value = value.tocsr()
                value.sort_indices()
                flat |= {f"{key}.{part}": getattr(value, part) for part in ("data", "indices", "indptr")}
                flat[f"{key}.shape"] = np.asarray(value.shape, dtype=np.int64)
            else:
                flat[key] = np.asarray(value)
        if any(value.dtype.hasobject for value in flat.values()):
            raise ArtifactError(
                f"stage '{self.stage}' tried to write Python objects into '{name}'; only numbers and text"
            )
        with self._create(name) as stream:
            np.savez(stream, **flat)

    def write_json(self, name: str, value: Any) -> None:
        with self._create(name) as stream:
            stream.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    def write_text(self, name: str, text: str) -> None:
        with self._create(name) as stream:
            stream.write(text.encode())

    def copy(self, source: str, target: str) -> None:
        """Write an input's bytes as an output."""
        with self._artifact(source) as given, self._create(target) as stream:
            while block := given.read(1 << 20):
                stream.write(block)

    @contextmanager
    def array_writer(self, name: str, shape: tuple[int, ...], dtype) -> Iterator[Callable]:
        """Write an npy output block by block along its first axis, so that it never has to fit into memory."""
        import numpy as np

        rows = 0

        def write(block) -> None:
            nonlocal rows
            block = np.ascontiguousarray(block, dtype=dtype)
            rows += len(block)
            if block.shape[1:] != shape[1:] or rows > shape[0]:
                refuse(f"a block of shape {block.shape} up to row {rows}")
            stream.write(block.reshape(-1).view(np.uint8))

        def refuse(what: str) -> None:
            raise ArtifactError(f"stage '{self.stage}' gave '{name}' {what}, but its shape is {shape}")

        with self._create(name) as stream:
            header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            yield write
            if rows != shape[0]:
                refuse(f"{rows} rows")

    @contextmanager
    def _create(self, name: str) -> Iterator[BinaryIO]:
        path = Path(self._path(name, self.outputs, "output"))
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            with open(unfinished, "wb") as raw:
                stream = _HashingStream(raw)
                yield stream
            _write_whole(f"{path}{SIDECAR}", json.dumps(self._provenance(name, stream.digest()), indent=2).encode())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _provenance(self, name: str, digest: str) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "artifact": name,
            "digest": digest,
            "stage": self.stage,
            "params": self.params,
            "inputs": {
                key: {"file": path, "digest": self._origin(path)["digest"]} for key, path in self.inputs.items()
            },
            "ancestors": self._ancestors(),
            "code": self.code,
            "packages": {
                package: sys.modules[package].__version__
                for package in _RECORDED_PACKAGES
                if hasattr(sys.modules.get(package), "__version__")
            },
            "threads": self.threads,
        }

    def _origin(self, path: str) -> dict[str, Any]:
        if path not in self._origins:
            known = os.path.exists(f"{path}{SIDECAR}")
            self._origins[path] = read_provenance(path) if known else {"digest": digest_file(path), "stage": "data"}
        return self._origins[path]

    def _ancestors(self) -> dict[str, Any]:
        """Everything that this job's outputs descend from, so that one sidecar tells the whole lineage."""
        found: dict[str, Any] = {}
        for path in self.inputs.values():
            origin = self._origin(path)
            found |= origin.get("ancestors", {})
            parents = [entry["file"] for entry in origin.get("inputs", {}).values()]
            found[path] = {"stage": origin["stage"], "digest": origin["digest"], "inputs": parents}
        return dict(sorted(found.items()))


class ArrayFile:
    """Rows of a two-dimensional npy file, read from the file when they are sliced.

    Not a memory map: its pages would count as this process's memory until the machine runs out of it.
    """

    def __init__(self, path: str, stream: BinaryIO) -> None:
        import numpy as np

        np.lib.format.read_magic(stream)
        self.shape, _, self.dtype = np.lib.format.read_array_header_1_0(stream)
        if len(self.shape) != 2 or self.dtype.hasobject:
            raise ArtifactError(
                f"{path}: is one-dimensional or holds objects, not a table of numbers. Delete it and run again"
            )
        self._path, self._start = path, stream.tell()

    def __getitem__(self, rows: slice):
        import numpy as np

        start, stop, _ = rows.indices(self.shape[0])
        width = self.shape[1]
        offset = self._start + start * width * self.dtype.itemsize
        return np.fromfile(self._path, self.dtype, (stop - start) * width, offset=offset).reshape(stop - start, width)


class _HashingStream(io.RawIOBase):
    """A write-only stream that hashes what passes; it cannot seek, so that what was hashed is what is on disk."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self._hash, self._position = raw, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        view = memoryview(data).cast("B")
        self._hash.update(view)
        self._raw.write(view)
        self._position += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        return self._position

    def digest(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"


def with_environment(text: str) -> str:
    """Put environment variables in the place of `${NAME}`: for what must not be written down, such as a password.

    Raises
    ------
    ArtifactError
        When one is not set.
    """

    def value(match: re.Match) -> str:
        if match[1] not in os.environ:
            raise ArtifactError(f"the environment variable {match[1]} is not set. Set it where Snakemake is started")
        return os.environ[match[1]]

    return re.sub(r"\$\{(\w+)\}", value, text)


def digest_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes, as `sha256:<hex>`."""
    with open(path, "rb") as stream:
        return _digest(stream)


def _digest(stream: BinaryIO) -> str:
    return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def read_provenance(path: str | Path) -> dict[str, Any]:
    """Read the sidecar of an artifact.

    Raises
    ------
    ArtifactError
        When there is none, it is not readable, or it was written in another format version.
    """
    sidecar = f"{path}{SIDECAR}"
    try:
        with open(sidecar, "rb") as stream:
            provenance = json.load(stream)
        version = provenance["format"]
    except FileNotFoundError as error:
        if not os.path.exists(path):
            raise ArtifactError(f"{path}: there is no such file") from error
        raise ArtifactError(f"{path}: has no {Path(sidecar).name} beside it, so Frostline did not write it") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{sidecar}: is not a provenance record. Delete {path} and run again") from error
    if version != FORMAT:
        raise ArtifactError(
            f"{path}: was written in artifact format {version}, this Frostline reads format {FORMAT}. "
            "Delete it and run again, or use the Frostline version that wrote it"
        )
    return provenance


def _write_whole(path: str, data: bytes) -> None:
    unfinished = f"{path}.unfinished"
    with open(unfinished, "wb") as stream:
        stream.write(data)
    os.replace(unfinished, path)


def expand_family(name: str, pattern: str, axes: Mapping[str, list[str]]) -> dict[str, str]:
    """Declare `name[a,b,…]` for every combination of the axes that occur in `pattern`.

    >>> expand_family("q", "s-{seed}/{fold}.parquet", {"seed": ["1"], "fold": ["val", "test"]})
    {'q[1,val]': 's-1/val.parquet', 'q[1,test]': 's-1/test.parquet'}
    """
    used = {axis: values for axis, values in axes.items() if f"{{{axis}}}" in pattern}
    return {
        f"{name}[{','.join(values)}]": pattern.format(**dict(zip(used, values, strict=True)))
        for values in itertools.product(*used.values())
    }


def guard(job: Job, also: tuple[str, ...] = ()) -> None:
    """From now on, refuse in this process to open or list any file that is neither declared to `job` nor part of the system.

    Parameters
    ----------
    job : Job
    also : tuple of str
        Further files that the process may write, such as its log.
    """
    readable = {os.path.realpath(path) for path in job.inputs.values()}
    readable |= {f"{path}{SIDECAR}" for path in readable}
    writable_folders = {os.path.dirname(os.path.realpath(path)) for path in job.outputs.values()}
    writable = {os.path.realpath(path) for path in also} | {
        os.path.join(folder, name)
        for path in map(os.path.realpath, job.outputs.values())
        for folder, base in [os.path.split(path)]
        for name in (f".{base}.unfinished", f"{base}{SIDECAR}.unfinished")
    }
    code = {os.path.realpath(folder) for folder in sys.path}
    workplace = os.path.realpath(os.getcwd()) + os.sep
    environment = tuple(os.path.realpath(prefix) + os.sep for prefix in {sys.prefix, sys.base_prefix})
    system = environment + tuple(
        f"/{top}/" for top in ("proc", "sys", "dev", "etc", "usr", "lib", "lib64", "bin", "run")
    )

    def refuse(event: str, arguments: tuple) -> None:
        if event not in ("open", "os.listdir", "os.scandir") or isinstance(arguments[0], int):
            return
        path = os.path.realpath(os.fsdecode(arguments[0] or "."))
        writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if path in writable or (path in readable and not writes):
            return
        # Code, wherever it is: modules may be compiled as they are imported, and libraries look for entry points.
        if path.endswith((".py", ".pyc", ".so")) or re.search(r"/__pycache__/|\.(egg|dist)-info(/|$)", path):
            return
        if path.startswith(environment):
            return
        if path.startswith(system) and not path.startswith(workplace):
            return
        if event != "open" and (path in writable_folders or path in code or not (path + os.sep).startswith(workplace)):
            return
        if event != "open" and os.path.exists(os.path.join(path, "__init__.py")):
            return
        raise IsolationError(
            f"stage '{job.stage}' tried to open {path}, which was not declared to it. "
            "A stage reads its declared inputs and nothing else; add the file to the rule's input if it belongs there"
        )

    confine_reading(readable)
    sys.addaudithook(refuse)
