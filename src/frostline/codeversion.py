"""A digest of the code that a stage runs, so that editing a module makes exactly its users out of date."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path


@cache
def digest(*roots: str) -> str:
    """Digest the static import closure of modules.

    Parameters
    ----------
    *roots : str
        Module names. Modules of the same top-level package or folder as a root are followed, imports inside functions
        included; of other packages outside the standard library the version counts.

    Returns
    -------
    str
        First 16 hexadecimal digits of a SHA-256 over the sources and versions, in order of their names.
    """
    sources: dict[str, bytes] = {}
    packages: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name in sources:
            continue
        source = _source(name)
        if source is None:
            packages.add(name.partition(".")[0])
            continue
        sources[name] = source
        pending.extend(_imports(name, source))
    state = hashlib.sha256()
    for name in sorted(sources):
        state.update(name.encode() + b"\0" + sources[name] + b"\0")
    for package in sorted(packages - set(sys.stdlib_module_names)):
        state.update(f"{package}=={_version(package)}\0".encode())
    return state.hexdigest()[:16]


@cache
def _origin(name: str) -> Path | None:
    top = name.partition(".")[0]
    # Asking for the spec of a submodule imports its parent, so other packages are not asked for theirs.
    if not _is_followed(top):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _is_followed(top: str) -> bool:
    """Whether a package's source counts: ours, and what is not installed. Of others the version is enough."""
    spec = None if top in sys.stdlib_module_names else importlib.util.find_spec(top)
    if spec is None:
        return False
    # A folder of modules without an __init__.py has no origin.
    places = [spec.origin] if spec.origin else spec.submodule_search_locations or []
    return top == "frostline" or any("site-packages" not in Path(place).parts for place in places)


@cache
def _source(name: str) -> bytes | None:
    path = _origin(name)
    return None if path is None else path.read_bytes()


@cache
def _imports(name: str, source: bytes) -> list[str]:
    package = name if _origin(name).name == "__init__.py" else name.rpartition(".")[0]
    # Importing a module runs the __init__.py of its package.
    parent = name.rpartition(".")[0]
    found = [parent] if parent and _origin(parent) else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            submodules = [f"{module}.{alias.name}" for alias in node.names]
            found.append(module)
            found.extend(submodule for submodule in submodules if _origin(submodule) is not None)
    return found


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        # The distribution has another name than the package (sklearn); finding it reads every installed package.
        return ",".join(version(distribution) for distribution in packages_distributions().get(package, []))
