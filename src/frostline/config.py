"""The config: read once, checked whole before any job starts, and handed on in typed pieces.

Every message names the key by its full path, says what is allowed and suggests the nearest spelling. Components are
dataclasses, so a method's parameters are checked here against the fields of its class (`frostline.schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from frostline import registry
from frostline.dataset import KINDS, DataFile
from frostline.errors import ConfigError, suggest
from frostline.folds import TEST, VAL
from frostline.lineup import Component, System, check_label, lineup
from frostline.protocol import METHODS, Protocol
from frostline.ranking import metrics_at
from frostline.schema import located, read

FLOORS = ("coherence",)
"""Measures that a system must not fall below and that no choice may aim at."""


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
class Experiment:
    """One protocol on one data set with its systems and seeds."""

    name: str
    protocol: Protocol
    protocol_name: str
    data: Data
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
    primary: str | None = None
    """The system that is compared with the baseline where nothing is chosen."""

    @property
    def folds(self) -> tuple[str, ...]:
        return (VAL, TEST) if self.protocol.has_val else (TEST,)


@dataclass(frozen=True)
class _Top:
    experiments: dict[str, dict] = field(default_factory=dict)
    keep_scores: bool = False


@dataclass(frozen=True)
class _Entry:
    protocol: Any
    data: dict[str, Any]
    content: list = field(default_factory=list)
    split: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (42, 43, 44, 45, 46)
    donors: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, Any] = field(default_factory=dict)
    systems: dict[str, Any] = field(default_factory=dict)
    baseline: str | None = None
    primary: str | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    recommend: int | None = None
    new_items: str | None = None
    calibration: tuple[Literal["platt", "isotonic"], ...] | None = None


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
    check_label(name, where)
    entry = read(_Entry, raw, where)
    if not entry.seeds or len(set(entry.seeds)) != len(entry.seeds) or min(entry.seeds) < 0:
        raise ConfigError(f"{where}.seeds: give different whole numbers from 0 up, not {list(entry.seeds)}")
    protocol_name, protocol = _protocol(entry, where)
    if entry.recommend is not None and entry.recommend < 1:
        raise ConfigError(f"{where}.recommend: must be at least 1, not {entry.recommend}")
    data = _data(entry.data, entry.content, where)
    if protocol.needs_content and not data.content:
        raise ConfigError(f"{where}.content: is empty. Name at least one field: systems go by the items' content")
    protocol.check(data.content, where)
    donors, systems, left_out = lineup(protocol, entry, data, where)
    baseline = entry.baseline or protocol.baselines[-1]
    competitors = [system.name for system in systems.values() if system.kind in ("system", "baseline")]
    if baseline in left_out:
        raise ConfigError(
            f"{where}.baseline: '{baseline}' cannot be computed: {left_out[baseline]}. Name another system, "
            f"one of {', '.join(competitors) or 'the methods that you add'}"
        )
    if baseline not in competitors:
        raise ConfigError(f"{where}.baseline: no system '{baseline}', {suggest(baseline, competitors)}")
    primary = _primary(entry.primary, protocol, competitors, where)
    calibration = protocol.calibration if entry.calibration is None else entry.calibration
    if calibration and not protocol.has_val:
        raise ConfigError(f"{where}.calibration: is fitted on val, and {protocol_name} has no val fold. Remove it")
    return Experiment(
        name=name,
        protocol=protocol,
        protocol_name=protocol_name,
        data=data,
        seeds=entry.seeds,
        donors=donors,
        systems=systems,
        baseline=baseline,
        metrics=read(Metrics, {"k": protocol.default_k, **entry.metrics}, f"{where}.metrics"),
        keep_scores=keep_scores,
        left_out=left_out,
        recommend=entry.recommend or 10,
        new_items=entry.new_items,
        calibration=tuple(dict.fromkeys(calibration)),
        primary=primary,
    )


def _protocol(entry: _Entry, where: str) -> tuple[str, Protocol]:
    """The protocol by its name, or by a mapping of its name and options."""
    given = {"name": entry.protocol} if isinstance(entry.protocol, str) else entry.protocol
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise ConfigError(f"{where}.protocol: give a name, or {{name: …}} with its options, not {entry.protocol!r}")
    options = {key: value for key, value in given.items() if key != "name"}
    protocol_class = located("protocols", given["name"], f"{where}.protocol")
    foreign = ("systems",) if protocol_class.parts == METHODS else ("donors", "methods", "recommend", "new_items")
    for key in foreign:
        if getattr(entry, key):
            raise ConfigError(f"{where}.{key}: plays no part in {given['name']}. Remove it")
    return given["name"], protocol_class.configured(options, entry.split, len(entry.seeds), where)


def _primary(name: str | None, protocol: Protocol, competitors: list[str], where: str) -> str | None:
    """The system that is compared with the baseline where there is no val fold to choose one by."""
    if protocol.has_val:
        if name is not None:
            raise ConfigError(f"{where}.primary: systems are chosen by val here. Remove it")
        return None
    if name not in competitors:
        problem = "is missing, and there is no val fold to choose by" if name is None else f"no system '{name}'"
        raise ConfigError(
            f"{where}.primary: {problem}. Name the system to compare with the baseline: {suggest(name or '', competitors)}"
        )
    return name


def _data(raw: Mapping[str, Any], content: list, where: str) -> Data:
    options = dict(raw)
    if "adapter" not in options:
        raise ConfigError(f"{where}.data: 'adapter' is missing. Allowed: {', '.join(registry.BUILT_IN['adapters'])}")
    name = options.pop("adapter")
    adapter_class = located("adapters", name, f"{where}.data.adapter")
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
    return Data(name, options, fields)
