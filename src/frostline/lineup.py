"""The rows of the tables: which systems an experiment has, and why others cannot be."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from frostline import registry
from frostline.errors import ConfigError, suggest
from frostline.meta import MetaMethod
from frostline.protocol import METHODS, SYSTEMS, Protocol
from frostline.schema import grid_points, located

CONTROLS = ("random", "constant")
BASELINES = ("grouped_popularity", "grouped_popularity_personal")
ORACLE = "oracle"
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


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
    group: Literal["methods", "systems"] = METHODS
    """Where the component of its name is registered."""

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
        is_meta_method = self.signals and self.group == METHODS
        tried = {point["folds"] for point in self.method.points} if is_meta_method else set()
        return sorted(tried - {0})


def components(group: str, raw: Mapping[str, Any], where: str) -> dict[str, Component]:
    found: dict[str, Component] = {}
    selector = group.removesuffix("s")
    for key, params in raw.items():
        place = f"{where}.{key}"
        if params is not None and not isinstance(params, Mapping):
            raise ConfigError(f"{place}: give its parameters as a mapping, {{}} for the defaults, not {params!r}")
        params = dict(params or {})
        label, name = params.pop("label", key), params.pop(selector, key)
        check_label(label, place)
        if label in found:
            raise ConfigError(f"{place}: the label '{label}' is used twice. Give each {selector} its own")
        component_class = located(group, name, place)
        restart = params.pop("restart", 0) if group == "donors" else 0
        if not isinstance(restart, int) or isinstance(restart, bool) or restart < 0:
            raise ConfigError(f"{place}.restart: numbers a random start, a whole number from 0 up, not {restart!r}")
        if restart and hasattr(component_class, "files"):
            raise ConfigError(f"{place}.restart: '{name}' is trained elsewhere, so it has no other start. Remove it")
        found[label] = Component(label, name, grid_points(component_class, params, place), restart)
    return found


def lineup(protocol: Protocol, entry: Any, data: Any, where: str) -> tuple[dict, dict[str, System], dict[str, str]]:
    """Donors, systems, and what cannot be one with the reason, of an entry of the config and its data."""
    has_truth = registry.load("adapters", data.adapter).has_truth
    if protocol.parts == SYSTEMS:
        return {}, systems_lineup(protocol, components("systems", entry.systems, f"{where}.systems"), where), {}
    donors = components("donors", entry.donors, f"{where}.donors")
    methods = components("methods", entry.methods, f"{where}.methods")
    kinds = {options["as"] for options in data.content.values()}
    return donors, *methods_lineup(donors, methods, kinds, has_truth, where)


def systems_lineup(protocol: Protocol, found: dict[str, Component], where: str) -> dict[str, System]:
    """A row a system of the config, with the protocol's baselines and the controls."""
    given = {component.name for component in found.values()}
    mandatory = {name: {} for name in (*CONTROLS, *protocol.baselines) if name not in given and name not in found}
    found = components("systems", mandatory, where) | found
    rows: dict[str, System] = {}
    for component in found.values():
        learns = registry.load("systems", component.name).learns
        if not protocol.has_val and (learns or len(component.points) > 1):
            raise ConfigError(
                f"{where}.systems.{component.label}: {'learns from' if learns else 'has a grid to choose from by'} val "
                "labels, and this protocol has no val fold. " + ("Remove it" if learns else "Give one value")
            )
        kind = (
            "control"
            if component.name in CONTROLS
            else "baseline"
            if component.name in protocol.baselines
            else "system"
        )
        rows[component.label] = System(component.label, kind, component, None, (), SYSTEMS)
    for component in found.values():
        if registry.load("systems", component.name).learns:
            rows[component.label] = dataclasses.replace(rows[component.label], signals=_signals(component, rows, where))
    return rows


def _signals(component: Component, rows: dict[str, System], where: str) -> tuple[str, ...]:
    """The systems that a learned combination combines: those that it names, or all that learn from no label."""
    free = [row.name for row in rows.values() if row.kind != "control" and not _learns(row)]
    return _named_signals(component, free, f"{where}.systems")


def _learns(row: System) -> bool:
    return registry.load("systems", row.method.name).learns


def methods_lineup(
    donors: dict[str, Component], methods: dict[str, Component], kinds: set[str], has_truth: bool, where: str
) -> tuple[dict[str, System], dict[str, str]]:
    """The rows of the tables, and what cannot be one, each with its reason."""
    mandatory = {name: {} for name in (*CONTROLS, *BASELINES) if name not in {m.name for m in methods.values()}}
    for name in mandatory:
        if name in methods:
            raise ConfigError(
                f"{where}.methods.{name}: is a '{methods[name].name}' under the name of the '{name}' that every experiment "
                "has. Give it another label"
            )
    methods = components("methods", mandatory, where) | methods
    methods = _with_signals(methods, where)
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
    if has_truth:
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
    return methods | components("methods", wanted, where)


def _meta_systems(
    method: Component, systems: list[System], donors: dict[str, Component], where: str
) -> dict[str, System | str]:
    """The rows of a meta-method, or why there is none: one, or one a donor where it combines what needs a donor."""
    combines = registry.load("methods", method.name).combines
    if combines is None:
        names = [system.name for system in systems]
        signals = _named_signals(method, names, f"{where}.methods")
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


def _named_signals(component: Component, possible: list[str], where: str) -> tuple[str, ...]:
    """What a combination combines: the systems that its config names, or all that are possible."""
    signals = component.points[0]["signals"] or tuple(possible)
    for position, name in enumerate(signals):
        if name not in possible or name in signals[:position]:
            what = "is named twice" if name in possible else "is no system of this experiment that it could combine"
            raise ConfigError(
                f"{where}.{component.label}.signals[{position}]: '{name}' {what}, {suggest(name, possible)}"
            )
    return signals


def _brought(meta: System, systems: list[System]) -> str | None:
    """The donor that stands in the way of a meta-method's pseudo-cold folds, if there is one."""
    donors = (system.donor for system in systems if system.name in meta.signals and system.donor)
    brought = [donor.label for donor in donors if hasattr(registry.load("donors", donor.name), "files")]
    return brought[0] if meta.pseudo_folds and brought else None


def check_label(label: Any, where: str) -> None:
    if not isinstance(label, str) or not _LABEL.fullmatch(label) or label == ORACLE:
        raise ConfigError(
            f"{where}: {label!r} cannot name a folder. Use letters, digits, '_', '-' and '.', and not '{ORACLE}'"
        )
