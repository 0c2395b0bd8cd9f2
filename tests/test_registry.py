"""Row P1: components by name, of an installed package, or `module:Class`; a name that is wrong is told so."""

import dataclasses
import importlib
from importlib.metadata import EntryPoint

import pytest

from frostline import registry
from frostline.errors import ConfigError

EVERY = [(group, name) for group, names in registry.BUILT_IN.items() for name in names]


@pytest.fixture
def installed(monkeypatch):
    """As if another package had registered a method and a donor."""
    points = [EntryPoint("theirs", "their_package.methods:Theirs", "frostline.methods")]
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [point for point in points if point.group == group]
    )


@pytest.mark.parametrize("group, name", EVERY)
def test_everything_built_in_can_be_loaded_and_is_a_frozen_dataclass(group, name):
    component = registry.load(group, name)
    assert dataclasses.is_dataclass(component) and component.__dataclass_params__.frozen
    assert f"{component.__module__}:{component.__qualname__}" == registry.locate(group, name)


def test_built_in_components_are_found_without_a_look_at_the_installed_packages(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: pytest.fail("every job would pay for it"))
    for group, name in EVERY:
        registry.locate(group, name)
    registry.locate("methods", "my_module:Mine")


def test_P1_a_component_of_an_installed_package_is_found_by_its_name(installed):
    assert registry.locate("methods", "theirs") == "their_package.methods:Theirs"
    with pytest.raises(ConfigError, match="unknown donor 'theirs'"):
        registry.locate("donors", "theirs")
    with pytest.raises(
        ConfigError, match="method 'theirs' cannot be imported: ModuleNotFoundError: No module named 'their_package'"
    ):
        registry.load("methods", "theirs")


@pytest.mark.parametrize(
    "group, name, says",
    [
        (
            "methods",
            "lnmap",
            r"unknown method 'lnmap': did you mean 'linmap'\? Allowed: .*, constant, .*, theirs, or the",
        ),
        ("methods", "their", r"unknown method 'their': did you mean 'theirs'\? Allowed: "),
        (
            "donors",
            "asl",
            r"unknown donor 'asl': did you mean 'als'\? Allowed: als, .*, or the 'module:Class' of your own",
        ),
        (
            "adapters",
            "movielens-11m",
            r"unknown adapter 'movielens-11m': did you mean 'movielens-1.*'\? Allowed: .*, ifdb, ",
        ),
        ("methods", "???", r"unknown method '\?\?\?': Allowed: .*, constant, "),
        ("methods", "a:", r"unknown method 'a:': "),
        ("methods", ":b", r"unknown method ':b': "),
        ("methods", "a..b:c", r"unknown method 'a\.\.b:c': "),
        ("methods", "a/b:c", r"unknown method 'a/b:c': "),
    ],
)
def test_an_unknown_name_is_told_what_is_allowed(group, name, says, installed):
    with pytest.raises(ConfigError, match=f"^{says}"):
        registry.load(group, name)


def test_P1_a_class_of_ones_own_is_named_by_its_module(tmp_path, monkeypatch):
    (tmp_path / "own_registry_part.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Mine:\n"
        "    x: int = 1\n"
        "class Plain:\n"
        "    pass\n"
        "mine = Mine()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert registry.load("methods", "own_registry_part:Mine")().x == 1
    for name, says in (
        ("own_registry_part:Other", "has no attribute 'Other'. A module of your own must be importable"),
        ("no_such_part:Mine", "No module named 'no_such_part'. A module of your own must be importable"),
        ("own_registry_part:Plain", "is not a dataclass"),
        ("own_registry_part:mine", "is not a dataclass"),
    ):
        with pytest.raises(ConfigError) as caught:
            registry.load("methods", name)
        assert f"method '{name}'" in str(caught.value) and says in str(caught.value)
