"""Rulings 20: a stage reaches the files that were declared to it and no other. Enforced at run time, and no module tries."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import frostline
from frostline.api import Content

SOURCE = Path(frostline.__file__).parent

# Each line tries to reach a file; run in a process of its own, because an audit hook cannot be taken off again.
UNDECLARED = """
    open("results/test.json")
    open(b"results/test.json", "rb")
    open("results/seed-1/../test.json")
    open("results/link.json")
    io.open(os.path.abspath("results/test.json"))
    os.open("results/test.json", os.O_RDONLY)
    Path("results/test.json").read_text()
    Path("results/test.json").read_bytes()
    open("results/test.json.prov.json")
    open("results/missing.json")
    np.load("results/test.npy")
    np.load("results/test.npy", mmap_mode="r", allow_pickle=False)
    np.load("results/test.npz")
    np.fromfile("results/test.npy")
    np.memmap("results/test.npy")
    np.save("results/seed-1/other.npy", np.zeros(1))
    pq.read_table(open("results/test.parquet", "rb"))
    pq.read_table(pa.PythonFile(open("results/test.parquet", "rb")))
    pq.ParquetFile(Path("results/test.parquet").open("rb"))
    os.listdir("results")
    os.listdir()
    os.listdir(".")
    os.listdir(b"results")
    list(os.scandir("results"))
    list(os.scandir())
    list(Path("results").iterdir())
    list(os.walk("results"))
    shutil.copyfile("results/test.json", "results/seed-1/out.json")
    open("results/new.json", "w")
    open("results/seed-1/out.json", "w")
    open("results/in.json", "w")
    Path("results/in.json").write_text("")
    open("config.yaml")
    open(other_place)
"""
DECLARED = """
    job.read_json("json")
    job.read_array("npy")[:]
    job.read_arrays("npz")
    job.read_table("parquet")
    open("results/in.json").read()
    open(Path("results").resolve() / "in.json").read()
    Path("results/in.json.prov.json").read_text()
    pq.read_table(open("results/in.parquet", "rb"))
    job.write_json("out", 1)
    job.write_json("out", 2)
    open("log.txt", "a").write("still working")
    open("/proc/self/status").read()
    __import__("colorsys")
    __import__("fresh")
    __import__("scipy.linalg")
"""
PROGRAM = """
import io, json, os, shutil, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from frostline.artifacts import IsolationError, Job, guard

other_place = sys.argv[1]
inputs = {kind: f"results/in.{kind}" for kind in ("json", "npy", "npz", "parquet")}
job = Job("score", inputs, {"out": "results/seed-1/out.json"})
guard(job, also=("log.txt",))
for line in json.loads(sys.argv[2]):
    try:
        exec(line)
        print("done")
    except IsolationError as error:
        print(error)
    except Exception as error:
        print(repr(error))
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory, request):
    """What each of the lines above came to, in a working folder with the files that they name."""
    workplace = tmp_path_factory.mktemp("workplace")
    (workplace / "results" / "seed-1").mkdir(parents=True)
    (workplace / "config.yaml").write_text("secret: true")
    (workplace / "log.txt").write_text("")
    (workplace / "modules").mkdir()
    (workplace / "modules" / "fresh.py").write_text("import csv")
    files = request.getfixturevalue("folder")()
    files.folder = workplace / "results"
    for name in ("in", "test"):
        files.put(f"{name}.json", 1)
        files.put(f"{name}.npy", np.zeros((1, 2)))
        files.put(f"{name}.npz", {"a": np.zeros(2)})
        files.put(f"{name}.parquet", pa.table({"a": [1]}))
    (files.folder / "link.json").symlink_to("test.json")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "labels.csv"
    elsewhere.write_text("secret")
    lines = [line.strip() for line in (UNDECLARED + DECLARED).splitlines() if line.strip()]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(elsewhere), json.dumps(lines)],
        cwd=workplace,
        env=os.environ
        | {
            "PYTHONPATH": f"{workplace / 'modules'}:{SOURCE.parent}",
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert (workplace / "modules" / "__pycache__").exists(), "a module is compiled the first time it is imported"
    return dict(zip(lines, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("line", [line.strip() for line in UNDECLARED.splitlines() if line.strip()])
def test_what_was_not_declared_cannot_be_opened_or_listed(line, outcome):
    assert outcome[line].startswith("stage 'score' tried to open /"), outcome[line]
    assert outcome[line].endswith("add the file to the rule's input if it belongs there")


@pytest.mark.parametrize("line", [line.strip() for line in DECLARED.splitlines() if line.strip()])
def test_what_was_declared_and_what_python_needs_can_be_opened(line, outcome):
    assert outcome[line] == "done"


def test_a_method_that_opens_the_test_labels_fails_its_job(files):
    """The planted leak of the issue, through the command line as the workflow runs it."""
    (files.folder / "planted.py").write_text(
        "from dataclasses import dataclass\n"
        "from frostline.api import Method\n"
        "@dataclass(frozen=True)\n"
        "class Peeking(Method):\n"
        "    needs = ()\n"
        "    def score(self, model, warm, cold):\n"
        "        return open('split/test.parquet', 'rb')\n"
    )
    (files.folder / "split").mkdir()
    files.put("split/test.parquet", pa.table({"query": [0], "item": [0]}))
    files.put("queries.parquet", pa.table({"query": ["u"]}))
    content = Content(csr_array(np.ones((2, 1), np.float32)), ("tags",), ("categories",), np.array([0, 1]))
    files.put("cold.npz", content.to_arrays())
    params = {"method": "planted:Peeking", "points": [{"donor": 0, "options": {}}], "seed": 1}
    files_of_it = "--input queries=queries.parquet cold_test=cold.npz --output scores_test=scores.npy"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "frostline",
            "score",
            *files_of_it.split(),
            "--log",
            "log.txt",
            "--params",
            json.dumps(params),
        ],
        cwd=files.folder,
        env=os.environ | {"PYTHONPATH": f"{files.folder}:{SOURCE.parent}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    for text in (done.stderr, (files.folder / "log.txt").read_text()):
        assert "stage 'score' tried to open" in text and "split/test.parquet, which was not declared" in text
        assert "Traceback" not in text
    assert not (files.folder / "scores.npy").exists()


THE_DOOR = {"artifacts.py", "landlock.py"}
# The log; what runs while the workflow is laid out; and the download, which is no stage.
BEFORE_ANY_JOB = {"cli.py", "codeversion.py", "download.py", "plan.py"}


def words(text):
    return set(text.split())


BANNED_MODULES = words("""
    os shutil glob tempfile pickle cloudpickle dill joblib marshal shelve sqlite3 mmap subprocess socket urllib requests
    fileinput fsspec scipy.io pyarrow.parquet pyarrow.feather pyarrow.dataset pyarrow.fs pyarrow.ipc
""")
BANNED_CALLS = words("""
    open exec eval read_text read_bytes write_text write_bytes iterdir rglob glob unlink mkdir touch rmdir stat exists
    is_file is_dir rename symlink_to hardlink_to load save savez savez_compressed savetxt loadtxt genfromtxt fromfile
    tofile memmap open_memmap save_npz load_npz read_csv read_parquet read_feather read_pickle read_json read_excel
    read_table to_csv to_parquet to_pickle to_json to_feather OSFile memory_map open_csv save_model dump urlopen
""")
OWN_METHODS = {"job", "registry"}
"""Names whose methods may be called like that: a job's are the door itself."""


def own_io(source, allowed=frozenset()):
    """Places in a module's source that reach for files without the one door; `importlib.resources.files` is code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if not {name, name.partition(".")[0]}.isdisjoint(BANNED_MODULES - allowed):
                found.append(f"line {node.lineno}: import {name}")
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            packaged = any(isinstance(part, ast.Name) and part.id == "files" for part in ast.walk(node.func))
            if name in BANNED_CALLS - allowed and owner not in OWN_METHODS and not packaged:
                found.append(f"line {node.lineno}: {name}(")
    return found


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "import os\nos.listdir('.')",
        "from os import path",
        "import os.path",
        "from pathlib import Path\nPath('x').read_text()",
        "(folder / 'x').write_bytes(b'')",
        "list(folder.iterdir())",
        "np.load('x')",
        "np.save('x', a)",
        "np.lib.format.open_memmap('x')",
        "np.memmap('x')",
        "import pyarrow.parquet as pq",
        "from pyarrow import parquet",
        "pa.memory_map('x')",
        "def f():\n    import pickle",
        "from joblib import dump",
        "frame.to_parquet('x')",
        "booster.save_model('x')",
        "from urllib.request import urlopen",
    ],
)
def test_the_static_check_sees_what_it_should(source):
    assert own_io(source)


def modules():
    return [str(path.relative_to(SOURCE)) for path in sorted(SOURCE.rglob("*.py"))]


@pytest.mark.parametrize("module", [name for name in modules() if name not in THE_DOOR | BEFORE_ANY_JOB])
def test_no_stage_donor_or_method_does_its_own_io(module):
    # An adapter is given open files, and parses them; `tablefile` does that for several.
    allowed = {"pyarrow.parquet", "read_csv", "open_csv"} if module.startswith(("adapters", "tablefile")) else set()
    assert own_io((SOURCE / module).read_text(), allowed) == []


def test_no_pickle_is_written_or_read_anywhere():
    for module in modules():
        for node in ast.walk(ast.parse((SOURCE / module).read_text())):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant) and node.value.value is False, module
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert names.isdisjoint({"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}), module
            if isinstance(node, ast.Attribute) and node.attr == "load" and getattr(node.value, "id", "") == "np":
                assert module in THE_DOOR
    loads = [line for line in (SOURCE / "artifacts.py").read_text().splitlines() if "np.load(" in line]
    assert loads and all("allow_pickle=False" in line for line in loads)
