"""Mappings of the config turned into dataclasses, every key and type checked against the fields.

Every message names the key by its full path, says what is allowed and suggests the nearest spelling.
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
from typing import Any, Literal

from frostline import registry
from frostline.errors import ConfigError, suggest

_EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d{1,2}")


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
    if hint is Any:
        return "a name, or a mapping"
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


def located(group: str, name: Any, where: str) -> type:
    try:
        return registry.load(group, name if isinstance(name, str) else repr(name))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def grid_points(component_class: type, params: Mapping[str, Any], where: str) -> tuple[dict[str, Any], ...]:
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
