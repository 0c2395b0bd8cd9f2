"""The config: read once, checked whole before any job starts, and handed on in typed pieces.

Every message names the key by its full path, says what is allowed and suggests the nearest spelling. Components are
dataclasses, so a method's parameters are checked here against the fields of its class.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from frostline import registry
from frostline.dataset import KINDS, DataFile
from frostline.errors import ConfigError, suggest
from frostline.meta import MetaMethod
from frostline.ranking import metrics_at
from frostline.split_options import Split, TemporalSplit, split_class, with_folds

CONTROLS = ("random", "constant")
BASELINES = ("grouped_popularity", "grouped_popularity_personal")
ORACLE = "oracle"
FLOORS = ("coherence",)
"""Measures that a system must not fall below and that no choice may aim at."""
FOLDS = ("val", "test")
_EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d{1,2}")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Metrics:
    """Which measures are computed; `primary` decides the choice and the order of the table."""

    k: tuple[int, ...] = (1, 5, 10)
    primary: str = "ndcg@10"
    ties: Literal["expected", "item_id"] = "expected"

    def __post_init__(self) -> None:
        if not self.k or min(self.k) < 1 or len(set(self.k)) != len(self.k):
            raise ValueError(f"k must list different positive whole numbers, not {list(self.k)}")
        if self.primary.partition("@")[0] in FLOORS:
            raise ValueError(
                f"primary '{self.primary}' is a floor: it is measured beside the others, and nothing may be chosen by it"
            )
        measured = [str(metric) for metric in metrics_at(self.k)]
        if self.primary not in measured:
            raise ValueError(
                f"primary '{self.primary}' is not measured at k {list(self.k)}, {suggest(self.primary, measured)}"
            )


@dataclass(frozen=True)
class Data:
    """An adapter, its options, and the content fields to keep: `{name: {as: kind, …}}`."""

    adapter: str
    options: dict[str, Any]
    content: dict[str, dict[str, str]]

    def files(self) -> dict[str, DataFile]:
        return dict(registry.load("adapters", self.adapter)(**self.options).files())


@dataclass(frozen=True)
class Component:
    """A donor or a method under its label, with the points of its grid: one where no parameter is a list.

    `restart` numbers a donor's random start: with another number all that is random in its training is drawn anew.
    """

    label: str
    name: str
    points: tuple[dict[str, Any], ...]
    restart: int = 0


@dataclass(frozen=True)
class System:
    """One row of the tables. A meta-method's has no donor of its own; `signals` names the systems that it combines."""

    name: str
    kind: Literal["system", "baseline", "control", "oracle"]
    method: Component | None
    donor: Component | None
    signals: tuple[str, ...] = ()

    @property
    def points(self) -> list[dict[str, Any]]:
        """The system's grid: every point of the donor, by number, with every point of the method."""
        donors = range(len(self.donor.points) if self.donor else 1)
        return [{"donor": donor, "options": options} for donor in donors for options in self.method.points]

    @property
    def learning(self) -> Literal["free", "tuned", "meta"]:
        """What its scores owe to val labels: nothing, the point of its grid, or a meta-model as well."""
        if self.signals:
            return "meta"
        return "tuned" if self.method is not None and len(self.points) > 1 else "free"

    @property
    def pseudo_folds(self) -> list[int]:
        """The numbers of folds that a meta-method tries to divide the warm items into, to learn from them."""
        tried = {point["folds"] for point in self.method.points} if self.signals else set()
        return sorted(tried - {0})


@dataclass(frozen=True)
class Experiment:
    """One protocol on one data set with its systems and seeds."""

    name: str
    protocol: str
    data: Data
    split: Split | TemporalSplit
    seeds: tuple[int, ...]
    donors: dict[str, Component]
    systems: dict[str, System]
    baseline: str
    metrics: Metrics
    keep_scores: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Systems that cannot be, each with the reason."""
    recommend: int = 10
    """Length of the lists of new items."""
    new_items: str | None = None
    """A file of them, where they are not those of the catalogue that have no interactions."""
    calibration: tuple[str, ...] = ()
    """Ways in which scores become probabilities."""


@dataclass(frozen=True)
class _Top:
    experiments: dict[str, dict] = field(default_factory=dict)
    keep_scores: bool = False


@dataclass(frozen=True)
class _Entry:
    protocol: Literal["cold-items"]
    data: dict[str, Any]
    content: list
    split: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (42, 43, 44, 45, 46)
    donors: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, Any] = field(default_factory=dict)
    baseline: str = "grouped_popularity_personal"
    metrics: dict[str, Any] = field(default_factory=dict)
    recommend: int = 10
    new_items: str | None = None
    calibration: tuple[Literal["platt", "isotonic"], ...] = ("platt", "isotonic")


def load(config: Mapping[str, Any]) -> dict[str, Experiment]:
    """Check a config and return its experiments by name.

    Raises
    ------
    ConfigError
        On the first thing that is wrong, naming the key by its full path.
    """
    top = read(_Top, config, "config")
    if not top.experiments:
        raise ConfigError("config: 'experiments' is missing or empty. Give at least one experiment under it")
    return {
        name: _experiment(name, entry, f"experiments.{name}", top.keep_scores)
        for name, entry in top.experiments.items()
    }


def _experiment(name: str, raw: Any, where: str, keep_scores: bool) -> Experiment:
    _check_label(name, where)
    entry = read(_Entry, raw, where)
    if not entry.seeds or len(set(entry.seeds)) != len(entry.seeds) or min(entry.seeds) < 0:
        raise ConfigError(f"{where}.seeds: give different whole numbers from 0 up, not {list(entry.seeds)}")
    if entry.recommend < 1:
        raise ConfigError(f"{where}.recommend: must be at least 1, not {entry.recommend}")
    data = _data(entry.data, entry.content, where)
    split = read(split_class(entry.split, f"{where}.split"), entry.split, f"{where}.split")
    split = with_folds(split, entry.split.get("test") is not None, len(entry.seeds), where)
    if "category" in split.strata and not any(options["as"] == "categories" for options in data.content.values()):
        raise ConfigError(
            f"{where}.split.strata: 'category' needs a content field of kind 'categories'. "
            "Add one to 'content', or stratify by [popularity] alone"
        )
    donors = _components("donors", entry.donors, f"{where}.donors")
    methods = _components("methods", entry.methods, f"{where}.methods")
    systems, left_out = _systems(donors, methods, data, where)
    competitors = [system.name for system in systems.values() if system.kind in ("system", "baseline")]
    if entry.baseline in left_out:
        raise ConfigError(
            f"{where}.baseline: '{entry.baseline}' cannot be computed: {left_out[entry.baseline]}. Name another system, "
            f"one of {', '.join(competitors) or 'the methods that you add'}"
        )
    if entry.baseline not in competitors:
        raise ConfigError(f"{where}.baseline: no system '{entry.baseline}', {suggest(entry.baseline, competitors)}")
    return Experiment(
        name=name,
        protocol=entry.protocol,
        data=data,
        split=split,
        seeds=entry.seeds,
        donors=donors,
        systems=systems,
        baseline=entry.baseline,
        metrics=read(Metrics, entry.metrics, f"{where}.metrics"),
        keep_scores=keep_scores,
        left_out=left_out,
        recommend=entry.recommend,
        new_items=entry.new_items,
        calibration=tuple(dict.fromkeys(entry.calibration)),
    )


def _data(raw: Mapping[str, Any], content: list, where: str) -> Data:
    options = dict(raw)
    if "adapter" not in options:
        raise ConfigError(f"{where}.data: 'adapter' is missing. Allowed: {', '.join(registry.BUILT_IN['adapters'])}")
    name = options.pop("adapter")
    adapter_class = _located("adapters", name, f"{where}.data.adapter")
    adapter = read(adapter_class, options, f"{where}.data")
    kinds = dict(adapter.kinds())
    fields: dict[str, dict[str, str]] = {}
    for position, item in enumerate(content):
        place = f"{where}.content[{position}]"
        spec = {"field": item} if isinstance(item, str) else item
        if not isinstance(spec, Mapping) or not isinstance(spec.get("field"), str):
            raise ConfigError(f"{place}: give a field's name, or {{field: name, as: kind}}, not {item!r}")
        unknown = sorted(map(str, set(spec) - {"field", "as", "separator"}))
        if unknown:
            raise ConfigError(
                f"{place}: unknown key '{unknown[0]}', {suggest(unknown[0], ['field', 'as', 'separator'])}"
            )
        spec = {key: value for key, value in spec.items() if value is not None}
        field_name, kind = spec["field"], spec.get("as", kinds.get(spec["field"]))
        if kinds and field_name not in kinds:
            raise ConfigError(f"{place}: {name} has no field '{field_name}', {suggest(field_name, kinds)}")
        if not isinstance(kind, str) or kind not in KINDS:
            problem = "its kind is not known, give 'as'" if kind is None else f"unknown kind '{kind}'"
            raise ConfigError(f"{place}: field '{field_name}': {problem}. {suggest(str(kind), KINDS)}")
        if not isinstance(spec.get("separator", ""), str):
            raise ConfigError(f"{place}.separator: expected text, not {spec['separator']!r}")
        if field_name in ("item_id", "row"):
            raise ConfigError(f"{place}: '{field_name}' is the name of a column that Frostline adds. Rename the field")
        if field_name in fields:
            raise ConfigError(f"{place}: field '{field_name}' is listed twice. Remove one")
        fields[field_name] = {"as": kind, **{key: spec[key] for key in ("separator",) if key in spec}}
    if not fields:
        raise ConfigError(f"{where}.content: is empty. Cold items are scored by their content; name at least one field")
    return Data(name, options, fields)


def _components(group: str, raw: Mapping[str, Any], where: str) -> dict[str, Component]:
    found: dict[str, Component] = {}
    selector = group.removesuffix("s")
    for key, params in raw.items():
        place = f"{where}.{key}"
        if params is not None and not isinstance(params, Mapping):
            raise ConfigError(f"{place}: give its parameters as a mapping, {{}} for the defaults, not {params!r}")
        params = dict(params or {})
        label, name = params.pop("label", key), params.pop(selector, key)
        _check_label(label, place)
        if label in found:
            raise ConfigError(f"{place}: the label '{label}' is used twice. Give each {selector} its own")
        component_class = _located(group, name, place)
        restart = params.pop("restart", 0) if group == "donors" else 0
        if not isinstance(restart, int) or isinstance(restart, bool) or restart < 0:
            raise ConfigError(f"{place}.restart: numbers a random start, a whole number from 0 up, not {restart!r}")
        if restart and hasattr(component_class, "files"):
            raise ConfigError(f"{place}.restart: '{name}' is trained elsewhere, so it has no other start. Remove it")
        found[label] = Component(label, name, _points(component_class, params, place), restart)
    return found


def _points(component_class: type, params: Mapping[str, Any], where: str) -> tuple[dict[str, Any], ...]:
    """All combinations of the lists that stand where one value is expected."""
    hints = typing.get_type_hints(component_class)
    axes = {
        name: value
        for name, value in params.items()
        if isinstance(value, list) and typing.get_origin(hints.get(name)) not in (tuple, list)
    }
    for name, values in axes.items():
        if not values or len({repr(value) for value in values}) < len(values):
            raise ConfigError(f"{where}.{name}: a grid lists different values, at least one, not {values!r}")
    points = []
    for values in itertools.product(*axes.values()):
        instance = read(component_class, {**params, **dict(zip(axes, values, strict=True))}, where)
        points.append({f.name: getattr(instance, f.name) for f in dataclasses.fields(instance)})
    return tuple(points)


def _systems(
    donors: dict[str, Component], methods: dict[str, Component], data: Data, where: str
) -> tuple[dict[str, System], dict[str, str]]:
    """The rows of the tables, and what cannot be one, each with its reason."""
    mandatory = {name: {} for name in (*CONTROLS, *BASELINES) if name not in {m.name for m in methods.values()}}
    for name in mandatory:
        if name in methods:
            raise ConfigError(
                f"{where}.methods.{name}: is a '{methods[name].name}' under the name of the '{name}' that every experiment "
                "has. Give it another label"
            )
    methods = _components("methods", mandatory, where) | methods
    methods = _with_signals(methods, where)
    kinds = {options["as"] for options in data.content.values()}
    systems: list[System] = []
    left_out: dict[str, str] = {}
    for method in methods.values():
        kind = "control" if method.name in CONTROLS else "baseline" if method.name in BASELINES else "system"
        method_class = registry.load("methods", method.name)
        if issubclass(method_class, MetaMethod):
            continue
        with_donors = donors.values() if "donor" in method_class.needs else [None]
        if not with_donors:
            left_out[method.label] = "transfers a donor's scores, and there is no donor"
        for donor in with_donors:
            name = f"{donor.label}+{method.label}" if donor else method.label
            if method_class.content_kind and method_class.content_kind not in kinds:
                left_out[name] = f"needs a content field of kind '{method_class.content_kind}', and there is none"
            elif donor and method_class.needs_factors and not registry.load("donors", donor.name).has_factors:
                left_out[name] = f"needs latent factors, and '{donor.label}' has scores alone"
            else:
                systems.append(System(name, kind, method, donor))
    combined = [system for system in systems if system.kind != "control"]
    for method in methods.values():
        if issubclass(registry.load("methods", method.name), MetaMethod):
            for name, found in _meta_systems(method, combined, donors, where).items():
                if isinstance(found, str):
                    left_out[name] = found
                elif brought := _brought(found, systems):
                    left_out[name] = f"refits its donors for pseudo-cold folds, and '{brought}' was trained elsewhere"
                else:
                    systems.append(found)
    if registry.load("adapters", data.adapter).has_truth:
        systems.append(System(ORACLE, "oracle", None, None))
    return {system.name: system for system in systems}, left_out


def _with_signals(methods: dict[str, Component], where: str) -> dict[str, Component]:
    """The methods, and with their defaults those that a meta-method combines and the config does not name."""
    named = {method.name for method in methods.values()}
    wanted = {
        name: {}
        for method in methods.values()
        for name in getattr(registry.load("methods", method.name), "combines", None) or ()
        if name not in named
    }
    return methods | _components("methods", wanted, where)


def _meta_systems(
    method: Component, systems: list[System], donors: dict[str, Component], where: str
) -> dict[str, System | str]:
    """The rows of a meta-method, or why there is none: one, or one a donor where it combines what needs a donor."""
    combines = registry.load("methods", method.name).combines
    if combines is None:
        names = [system.name for system in systems]
        signals = method.points[0]["signals"] or tuple(names)
        for position, name in enumerate(signals):
            if name not in names or name in signals[:position]:
                what = "is named twice" if name in names else "is no system of this experiment that it could combine"
                raise ConfigError(
                    f"{where}.methods.{method.label}.signals[{position}]: '{name}' {what}, {suggest(name, names)}"
                )
        return {method.label: System(method.label, "system", method, None, signals)}
    first = {(s.method.name, s.donor and s.donor.label): s.name for s in reversed(systems)}
    needs_donor = {name for name in combines if "donor" in registry.load("methods", name).needs}
    found: dict[str, System | str] = {}
    for donor in donors if needs_donor else [None]:
        name = f"{donor}+{method.label}" if donor else method.label
        signals = {other: first.get((other, donor if other in needs_donor else None)) for other in combines}
        missing = [other for other, signal in signals.items() if signal is None]
        found[name] = (
            f"combines '{missing[0]}', which is left out"
            if missing
            else System(name, "system", method, None, tuple(signals.values()))
        )
    return found or {method.label: "combines a donor's scores, and there is no donor"}


def _brought(meta: System, systems: list[System]) -> str | None:
    """The donor that stands in the way of a meta-method's pseudo-cold folds, if there is one."""
    donors = (system.donor for system in systems if system.name in meta.signals and system.donor)
    brought = [donor.label for donor in donors if hasattr(registry.load("donors", donor.name), "files")]
    return brought[0] if meta.pseudo_folds and brought else None


def _located(group: str, name: Any, where: str) -> type:
    try:
        return registry.load(group, name if isinstance(name, str) else repr(name))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _check_label(label: Any, where: str) -> None:
    if not isinstance(label, str) or not _LABEL.fullmatch(label) or label == ORACLE:
        raise ConfigError(
            f"{where}: {label!r} cannot name a folder. Use letters, digits, '_', '-' and '.', and not '{ORACLE}'"
        )


def read(cls: type, raw: Any, where: str) -> Any:
    """Build a dataclass from a mapping, checking keys and types against its fields.

    Whole numbers are accepted where a float is expected, lists where a tuple is; a null takes the field's default.

    Raises
    ------
    ConfigError
        On an unknown, missing or wrongly typed key, or when the class itself refuses a value by ValueError.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where}: expected a mapping, not {raw!r}")
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    hints = typing.get_type_hints(cls)
    for key in raw:
        if key not in fields:
            raise ConfigError(f"{where}: unknown key '{key}', {suggest(key, fields)}")
    values = {
        key: _convert(value, hints[key], f"{where}.{key}")
        for key, value in raw.items()
        if value is not None or not _has_default(fields[key])
    }
    for key, spec in fields.items():
        if key not in values and not _has_default(spec):
            raise ConfigError(f"{where}: '{key}' is missing ({_describe(hints[key])}). Add it")
    try:
        return cls(**values)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def _has_default(spec: dataclasses.Field) -> bool:
    return spec.default is not dataclasses.MISSING or spec.default_factory is not dataclasses.MISSING


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        # Neither infinite nor NaN, which compares as false.
        if abs(value) <= sys.float_info.max:
            return float(value)
    elif hint is Any or (
        isinstance(hint, type) and isinstance(value, hint) and not (hint is int and isinstance(value, bool))
    ):
        return value
    if origin is Literal:
        if value in arguments:
            return value
        raise ConfigError(f"{where}: unknown value {value!r}, {suggest(value, arguments)}")
    if origin in (typing.Union, types.UnionType):
        choices = [choice for choice in arguments if choice is not type(None)]
        return None if value is None else _convert(value, choices[0], where)
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_convert(part, arguments[0], f"{where}[{position}]") for position, part in enumerate(value))
    if origin in (dict, list) and isinstance(value, origin):
        if origin is dict and len(arguments) == 2 and arguments[1] is not Any:
            return {key: _convert(part, arguments[1], f"{where}.{key}") for key, part in value.items()}
        return value
    if hint is float and isinstance(value, str) and _EXPONENT.fullmatch(value):
        return float(value)  # YAML 1.1 takes 1e-3 for text: only 1.0e-3 is a number to it
    extra = " (write it without quotes)" if hint is float and isinstance(value, str) and _is_number(value) else ""
    raise ConfigError(f"{where}: expected {_describe(hint)}, not {value!r}{extra}")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _describe(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin in (tuple, list):
        return f"a list of {_describe(arguments[0])}" if arguments else "a list"
    if origin in (typing.Union, types.UnionType):
        return _describe(arguments[0])
    names = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
        dict: "a mapping",
        list: "a list",
    }
    return names.get(origin or hint, str(hint))
