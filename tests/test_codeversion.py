"""Rulings 19: editing a module makes out of date exactly the stages and components that use it."""

import importlib
import itertools
import subprocess
import sys
from importlib.metadata import version

import pytest

from frostline import codeversion, plan, registry
from frostline.cli import STAGES

numbers = itertools.count()


def forget():
    for function in vars(codeversion).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture(autouse=True)
def fresh():
    forget()
    yield
    forget()


class Tree:
    """A package on the import path, under a name that no other test has imported."""

    def __init__(self, folder, sources):
        self.name = f"workshop{next(numbers)}"
        self.folder = folder / self.name
        for module, source in sources.items():
            self.write(module, source)

    def write(self, module, source):
        path = self.folder / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.replace("PKG", self.name))

    def digest(self, *modules):
        forget()
        return codeversion.digest(*(f"{self.name}.{module}" for module in modules))

    def changed_by(self, module, roots, source="# another comment\n"):
        """Which roots' digests an edit of `module` changes."""
        before = {root: self.digest(root) for root in roots}
        path = self.folder / f"{module}.py"
        original = path.read_text()
        path.write_text(original + source)
        found = {root for root in roots if self.digest(root) != before[root]}
        path.write_text(original)
        assert {root: self.digest(root) for root in roots} == before, "an edit that is taken back changes nothing"
        return found


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def tree(place):
    return Tree(
        place,
        {
            "__init__": "",
            "core": "import json\ny = 1\n",
            "helper": "from PKG import core\nsomething = core.y\n",
            "stage_a": "from PKG.helper import something\nimport PKG.leaf\n",
            "stage_b": "def run():\n    from .deep.inner import x\n",
            "stage_c": "import csv\n",
            "leaf": "",
            "deep/__init__": "from . import side\n",
            "deep/inner": "from .. import leaf as renamed\nfrom ..core import y\nx = y\n",
            "deep/side": "",
        },
    )


@pytest.mark.parametrize(
    "module, users",
    [
        ("core", {"stage_a", "stage_b"}),
        ("helper", {"stage_a"}),
        ("leaf", {"stage_a", "stage_b"}),
        ("deep/inner", {"stage_b"}),
        ("deep/side", {"stage_b"}),
        ("deep/__init__", {"stage_b"}),
        ("stage_c", {"stage_c"}),
        ("__init__", {"stage_a", "stage_b", "stage_c"}),
    ],
)
def test_an_edit_changes_the_digest_of_exactly_the_users(module, users, tree):
    """Imports inside functions, relative, renamed, and the `__init__.py` that an import runs."""
    assert tree.changed_by(module, ["stage_a", "stage_b", "stage_c"]) == users


def test_the_digest_has_no_place_in_it(tmp_path, monkeypatch):
    """The same sources in another folder, listed in another order, are the same version."""
    found = []
    for folder in ("one", "two"):
        with monkeypatch.context() as patch:
            patch.syspath_prepend(tmp_path / folder)
            forget()
            (tmp_path / folder).mkdir()
            for name in ("samename_a", "samename_b"):
                (tmp_path / folder / f"{name}.py").write_text("import json\n")
            order = ("samename_a", "samename_b") if folder == "one" else ("samename_b", "samename_a")
            found.append(codeversion.digest(*order))
    assert found[0] == found[1] and len(found[0]) == 16


def test_circular_imports_end(place):
    tree = Tree(place, {"__init__": "", "a": "from PKG import b\n", "b": "from PKG import a\n"})
    assert tree.changed_by("b", ["a", "b"]) == {"a", "b"}


def test_versions_of_other_packages_count(tree, monkeypatch):
    tree.write("stage_d", "def run():\n    import numpy.linalg as la\n    from scipy.sparse import csr_array\n")
    before = {root: tree.digest(root) for root in ("stage_c", "stage_d")}
    real = codeversion.version
    for package, users in (("numpy", {"stage_d"}), ("scipy", {"stage_d"}), ("pandas", set())):
        with monkeypatch.context() as patch:
            patch.setattr(codeversion, "version", lambda name, p=package: "9.9" if name == p else real(name))
            assert {root for root in before if tree.digest(root) != before[root]} == users
    assert {root: tree.digest(root) for root in before} == before


def test_a_distribution_may_have_another_name_than_its_package():
    assert codeversion._version("sklearn") == version("scikit-learn")
    assert codeversion._version("no_such_package") == ""


def test_the_source_of_other_packages_does_not_count(tree, monkeypatch):
    tree.write("stage_d", "import hypothesis\n")
    read = []
    real = codeversion._source.__wrapped__
    monkeypatch.setattr(codeversion, "_source", lambda name: read.append(name) or real(name))
    tree.digest("stage_d")
    assert "hypothesis" in read and not [name for name in read if name.startswith("hypothesis.")]


@pytest.mark.parametrize("layout", ["module", "package", "folder"])
def test_a_plugin_outside_the_tree_counts_by_its_source(layout, place):
    name = f"outsider{next(numbers)}"
    folder = place if layout == "module" else place / name
    folder.mkdir(exist_ok=True)
    if layout == "package":
        (folder / "__init__.py").write_text("")
    module = name if layout == "module" else f"{name}.mine"
    (folder / f"{name}_help.py").write_text("")
    (folder / f"{module.rpartition('.')[2]}.py").write_text(
        f"import {'' if layout == 'module' else name + '.'}{name}_help\nfrom frostline.api import Method\n"
    )
    component = f"{module}:Mine"
    assert registry.locate("methods", component) == component
    found = [plan.code("score", "methods", component)]
    for file in (f"{module.rpartition('.')[2]}.py", f"{name}_help.py"):
        with open(folder / file, "a") as stream:
            stream.write("# edited\n")
        forget()
        found.append(plan.code("score", "methods", component))
    assert len(set(found)) == 3


def touched(monkeypatch, module):
    """Stages and built-in components whose digest an edit of one of Frostline's own modules changes."""
    jobs = {stage: (stage,) for stage in STAGES}
    jobs |= {name: ("fit_donor", "donors", name) for name in registry.BUILT_IN["donors"]}
    jobs |= {name: ("score", "methods", name) for name in registry.BUILT_IN["methods"]}
    jobs |= {name: ("ingest", "adapters", name) for name in registry.BUILT_IN["adapters"]}
    jobs |= {name: ("split", "protocols", name) for name in registry.BUILT_IN["protocols"]}
    jobs |= {f"system {name}": ("score_system", "systems", name) for name in registry.BUILT_IN["systems"]}
    before = {job: plan.code(*of) for job, of in jobs.items()}
    real = codeversion._source.__wrapped__
    with monkeypatch.context() as patch:
        codeversion.digest.cache_clear()
        patch.setattr(codeversion, "_source", lambda name: (real(name) or b"") + b"#" if name == module else real(name))
        after = {job: plan.code(*of) for job, of in jobs.items()}
    codeversion.digest.cache_clear()
    return {job for job in jobs if after[job] != before[job]}


def test_editing_frostlines_own_modules_touches_their_users_alone(monkeypatch):
    systems = {f"system {name}" for name in registry.BUILT_IN["systems"]}
    components = systems | {name for group, names in registry.BUILT_IN.items() if group != "systems" for name in names}
    assert touched(monkeypatch, "frostline.methods.linmap") == {"linmap"}
    assert touched(monkeypatch, "frostline.donors.als") == {"als"}
    assert touched(monkeypatch, "frostline.adapters.table") == {"table"}
    editions = {name for name in registry.BUILT_IN["adapters"] if name.startswith("movielens-")}
    assert touched(monkeypatch, "frostline.adapters.movielens") == editions | {"movietweetings-100k"}
    assert touched(monkeypatch, "frostline.content") == {"content"}
    users = {"aggregate", "strata", "beyond", "calibrate", "significance", "audit"}
    assert touched(monkeypatch, "frostline.bootstrap") - {"report", "export"} == users
    assert touched(monkeypatch, "frostline.artifacts") == set(STAGES) | components
    assert touched(monkeypatch, "frostline.cli") == set()


@pytest.mark.parametrize("stage", ["split", "score", "audit"])
def test_everything_that_a_stage_loads_is_in_its_digest(stage, monkeypatch):
    """The closure is static; here it is held against what Python really imports."""
    code = f"import sys, frostline.{stage}; print(*[m for m in sys.modules if m.partition('.')[0] == 'frostline'])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    read = set()
    real = codeversion._source.__wrapped__
    monkeypatch.setattr(codeversion, "_source", lambda name: read.add(name) or real(name))
    codeversion.digest(f"frostline.{stage}")
    assert f"frostline.{stage}" in loaded and set(loaded) <= read
