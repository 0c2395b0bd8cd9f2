"""From the config to what each job is given: its parameters, the digest of its code and the data files it reads."""

from __future__ import annotations

import dataclasses
import json
import os
from glob import glob, has_magic
from pathlib import Path

from frostline import codeversion, registry
from frostline.config import Experiment
from frostline.dataset import DataFile
from frostline.download import cache
from frostline.errors import ConfigError
from frostline.lineup import Component, System
from frostline.meta import DISJOINT
from frostline.protocol import METHODS

MOST_PARTS = 500
"""More files would not fit into a command."""


def spec(stage: str, experiment: Experiment, **of: str) -> str:
    """Parameters of one job as JSON: the part of the config that its stage depends on, and nothing else.

    Parameters
    ----------
    stage : str
    experiment : Experiment
    **of : str
        The job's wildcards: `seed`, `donor`, `system`, `fold`, as far as the stage has them.
    """
    params = _SPECS[stage](experiment, of)
    if "seed" in of:
        params["seed"] = int(of["seed"].partition("/")[0])  # what follows says which warm items are played cold
    return json.dumps(params, sort_keys=True)


def code(stage: str, group: str | None = None, component: str | None = None) -> str:
    """Digest of the source behind a stage and, where it runs one, a component."""
    roots = [f"frostline.{stage}"]
    if group:
        roots.append(registry.locate(group, component).partition(":")[0])
    return codeversion.digest(*roots)


def protocol_code(stage: str, experiment: Experiment) -> str:
    """The same of a stage that asks the protocol."""
    return code(stage, "protocols", experiment.protocol_name)


def recommend_code(experiment: Experiment) -> str:
    """The same of the stage `recommend`, which may run any component of the experiment."""
    places = (registry.locate(group, name) for group, names in components(experiment).items() for name in names)
    return codeversion.digest("frostline.recommend", *(place.partition(":")[0] for place in places))


def components(experiment: Experiment) -> dict[str, list[str]]:
    """Names of the donors and methods of an experiment."""
    methods = {
        system.method.name for system in experiment.systems.values() if system.group == METHODS and system.method
    }
    return {"donors": sorted({donor.name for donor in experiment.donors.values()}), "methods": sorted(methods)}


def needs(system: System) -> tuple[str, ...]:
    """What a system's component learns from: names among `train`, `content`, `donor`."""
    return registry.load(system.group, system.method.name).needs


def is_fitted(system: System) -> bool:
    """Whether a system's method has a model to fit."""
    return _method_class(system).is_fitted()


def donor_needs_content(donor: Component) -> bool:
    """Whether a donor learns from the content of the warm items too."""
    return registry.load("donors", donor.name).needs_content


def brought_files(donor: Component, point: int) -> dict[str, str]:
    """Paths of the files that a donor consists of, `{seed}` in them still open; none if it is trained here."""
    donor_class = registry.load("donors", donor.name)
    return dict(donor_class(**donor.points[point]).files()) if hasattr(donor_class, "files") else {}


def find(file: DataFile, experiment: str) -> str:
    """Path of a data file: where the config says, else in the folder `FROSTLINE_DATA`, else in the cache.

    A file that is in none of them and that its publisher gives away is one of the cache, to be downloaded.

    Raises
    ------
    ConfigError
        When it is nowhere, saying where it was looked for and where it can be had.
    """
    name = Path(file.path).name if file.path else file.name
    places = [Path(file.path)] if file.path else []
    if os.environ.get("FROSTLINE_DATA"):
        places.append(Path(os.environ["FROSTLINE_DATA"], name))
    places.append(cache() / (file.name if file.url else name))
    for place in places:
        if place.exists() or (file.many and has_magic(str(place)) and glob(str(place), recursive=True)):
            return str(place)
    if file.url:
        return str(places[-1])
    source = f"Get it from {file.source} and put it" if file.source else "Put it"
    raise ConfigError(
        f"experiments.{experiment}.data: {name} was not found. "
        f"Looked for: {', '.join(str(place.absolute()) for place in places)}. "
        f"{source} into one of these places, or set FROSTLINE_DATA to the folder that holds it"
    )


def missing(experiment: Experiment) -> dict[str, tuple[str, str]]:
    """The files to be downloaded for an experiment: name of each in the cache, and the adapter with its options as JSON."""
    data = experiment.data
    asked = data.adapter, json.dumps(data.options, sort_keys=True)
    wanted = {file.name: find(file, experiment.name) for file in data.files().values() if file.url}
    return {name: asked for name, place in wanted.items() if place == str(cache() / name) and not Path(place).exists()}


def again(experiment: Experiment) -> Experiment:
    """What the audit of non-interference runs again: all but the oracle, which needs no scores and stands by the truth."""
    systems = {name: system for name, system in experiment.systems.items() if system.kind != "oracle"}
    return dataclasses.replace(experiment, systems=systems)


def parts(file: DataFile, place: str, experiment: str) -> str | list[str]:
    """The file at a place, or the files where a folder or a pattern stands for many, in the order of their names.

    Raises
    ------
    ConfigError
        When the place is a folder and must not be one, or holds no file or more than `MOST_PARTS`.
    """
    where = f"experiments.{experiment}.data"
    if file.many and has_magic(place) and not Path(place).exists():
        found = [path for path in glob(place, recursive=True) if Path(path).is_file()]
    elif Path(place).is_dir():
        if not file.many:
            raise ConfigError(f"{where}: {place} is a folder. Give the file itself")
        # A leading "_" or "." is how Spark and Hadoop mark what is no data.
        found = [str(path) for path in Path(place).iterdir() if path.is_file() and path.name[0] not in "._"]
    else:
        return place
    if not 1 <= len(found) <= MOST_PARTS:
        raise ConfigError(
            f"{where}: {place} stands for {len(found)} files. Give a folder or a pattern ('**' for folders in folders) of 1 "
            f"to {MOST_PARTS} files"
        )
    return sorted(found)


def _method_class(system: System) -> type:
    return registry.load("methods", system.method.name)


def _ingest(experiment: Experiment, of: dict) -> dict:
    data = experiment.data
    order = {"order": True} if experiment.protocol.needs_order else {}
    return {"adapter": data.adapter, "options": data.options, "content": data.content} | order


def _protocol(experiment: Experiment) -> dict:
    """What a job needs to have the protocol, see `frostline.protocol.protocol_of`."""
    return {"protocol": experiment.protocol_name, "split": experiment.protocol.options()}


def _split(experiment: Experiment, of: dict) -> dict:
    seed = int(of["seed"]) if "seed" in of else None
    return _protocol(experiment) | experiment.protocol.split_params(experiment.data.content, experiment.seeds, seed)


def _pseudo_split(experiment: Experiment, of: dict) -> dict:
    return {
        "folds": int(of["folds"]),
        "part": int(of["part"]),
        "min_interactions": experiment.protocol.rule.min_interactions,
    }


def _content(experiment: Experiment, of: dict) -> dict:
    return {"content": experiment.data.content}


def _fit_donor(experiment: Experiment, of: dict) -> dict:
    donor = experiment.donors[of["donor"]]
    restart = {"restart": donor.restart} if donor.restart else {}
    return {"donor": donor.name, "options": donor.points[int(of["point"])]} | restart


def _method(experiment: Experiment, of: dict) -> dict:
    system = experiment.systems[of["system"]]
    return {"method": system.method.name, "points": system.points}


def _tune(experiment: Experiment, of: dict) -> dict:
    system, metrics = experiment.systems[of["system"]], experiment.metrics
    donors = system.donor.points if system.donor else [{}]
    points = [{"donor": donors[point["donor"]], "options": point["options"]} for point in system.points]
    common = {"primary": metrics.primary, "ties": metrics.ties, "val_folds": experiment.protocol.val_folds}
    return {"system": system.name, "points": points, **common}


def _system(experiment: Experiment, of: dict) -> dict:
    system = experiment.systems[of["system"]]
    points = [point["options"] for point in system.points]
    return {
        "component": system.method.name,
        "points": points,
        "content": experiment.data.content,
        "k": experiment.metrics.k,
    }


def _tune_system(experiment: Experiment, of: dict) -> dict:
    metrics, points = experiment.metrics, [point["options"] for point in experiment.systems[of["system"]].points]
    return {
        "points": points,
        "primary": metrics.primary,
        "ties": metrics.ties,
        "val_folds": experiment.protocol.val_folds,
    }


def _stack(experiment: Experiment, of: dict) -> dict:
    return _system(experiment, of) | {"signals": experiment.systems[of["system"]].signals}


def _fit_meta(experiment: Experiment, of: dict) -> dict:
    return _score_meta(experiment, of) | _tune(experiment, of)


def _score_meta(experiment: Experiment, of: dict) -> dict:
    signals = experiment.systems[of["system"]].signals
    return _method(experiment, of) | {"signals": signals, "meta_users": experiment.protocol.meta_users}


def _evaluate(experiment: Experiment, of: dict) -> dict:
    params = {"k": experiment.metrics.k, "ties": experiment.metrics.ties, "fold": of["fold"], "system": of["system"]}
    params["primary"] = experiment.metrics.primary
    params["candidates"] = experiment.protocol.candidates
    if experiment.protocol.meta_users == DISJOINT:
        params["meta_users"] = DISJOINT
    if of["fold"] == "test":
        return params | {"scrambled": True}
    return params | ({"val_folds": experiment.protocol.val_folds} if experiment.protocol.parts == METHODS else {})


def _select(experiment: Experiment, of: dict) -> dict:
    systems = {system.name: system.kind for system in experiment.systems.values()}
    return {"systems": systems, "primary": experiment.metrics.primary}


def _aggregate(experiment: Experiment, of: dict) -> dict:
    return {
        "systems": {system.name: system.kind for system in experiment.systems.values()},
        "seeds": experiment.seeds,
        "replicates": experiment.protocol.replicates,
        "folds": experiment.folds,
        "k": experiment.metrics.k,
        "primary": experiment.metrics.primary,
        "baseline": experiment.baseline,
        "tuned": [system.name for system in experiment.systems.values() if system.learning != "free"],
        "left_out": experiment.left_out,
    }


def _calibrate(experiment: Experiment, of: dict) -> dict:
    common = _aggregate(experiment, of)
    return {name: common[name] for name in ("systems", "seeds")} | {"calibration": experiment.calibration}


def _significance(experiment: Experiment, of: dict) -> dict:
    common = _aggregate(experiment, of)
    kept = {name: common[name] for name in ("systems", "seeds", "replicates", "k", "primary", "baseline")}
    return kept | {"restarts": _restarts(experiment), "drawn": experiment.protocol.drawn}


def _restarts(experiment: Experiment) -> list[list[str]]:
    """Groups of systems that differ in their donor's random start alone."""
    groups: dict[str, dict[int, str]] = {}
    for system in experiment.systems.values():
        if system.donor:
            key = repr((system.method.label, system.donor.name, system.donor.points))
            groups.setdefault(key, {}).setdefault(system.donor.restart, system.name)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def _export(experiment: Experiment, of: dict) -> dict:
    common = _aggregate(experiment, of)
    kept = {name: common[name] for name in ("seeds", "replicates", "k", "primary", "baseline", "left_out")}
    return kept | {"experiment": experiment.name, "words": dataclasses.asdict(experiment.protocol.words)}


def _audit(experiment: Experiment, of: dict) -> dict:
    brought = [
        label
        for label, donor in experiment.donors.items()
        if any(brought_files(donor, point) for point in range(len(donor.points)))
    ]
    return (
        _aggregate(experiment, of)
        | _split(experiment, of)
        | {
            "content": experiment.data.content,
            "ties": experiment.metrics.ties,
            "brought": brought,
            "donors": experiment.protocol.parts == METHODS,
        }
        | {"words": dataclasses.asdict(experiment.protocol.words), "comparison": experiment.primary}
    )


def _shown(component: Component) -> dict:
    """Parameters as the config has them: a list where there is a grid."""
    return {
        name: values[0] if len(values) == 1 else values
        for name in component.points[0]
        if name != "signals"  # what a meta-method combines is shown by the systems' names
        for values in [list({repr(point[name]): point[name] for point in component.points}.values())]
    }


def _noninterference(experiment: Experiment, of: dict) -> dict:
    apart = [system.name for system in experiment.systems.values() if system.kind == "oracle"]
    return {"root": f"results/{experiment.name}", "apart": apart}


def _report(experiment: Experiment, of: dict) -> dict:
    return _aggregate(experiment, of) | {
        "experiment": experiment.name,
        "protocol_name": experiment.protocol_name,
        "words": dataclasses.asdict(experiment.protocol.words),
        "drawn": experiment.protocol.drawn,
        "adapter": experiment.data.adapter,
        "content": experiment.data.content,
        "split": experiment.protocol.options(),
        "donors": {
            label: _shown(donor) | ({"restart": donor.restart} if donor.restart else {})
            for label, donor in experiment.donors.items()
        },
        "methods": {
            system.name: _shown(system.method) | ({"combines": system.signals} if system.signals else {})
            for system in experiment.systems.values()
            if system.method
        },
        "ties": experiment.metrics.ties,
        "learns": any(system.learning == "meta" for system in experiment.systems.values()),
    }


def new_items_file(experiment: Experiment) -> str:
    """Where the experiment's file of new items is; errors as `find` has them."""
    return find(DataFile(experiment.new_items, Path(experiment.new_items).name), experiment.name)


def _new_items(experiment: Experiment, of: dict) -> dict:
    called = experiment.data.options.get("columns", {}).get("item", "item")
    return {
        "name": Path(experiment.new_items).name,
        "content": experiment.data.content,
        "id_columns": [called, "item_id"],
    }


def _recommend(experiment: Experiment, of: dict) -> dict:
    competitors = [system for system in experiment.systems.values() if system.kind in ("system", "baseline")]
    return {
        "systems": {
            system.name: {
                "method": system.method.name,
                "points": system.points,
                "donor": system.donor and {"donor": system.donor.name, "points": system.donor.points},
                "signals": system.signals,
            }
            for system in competitors
        },
        "components": components(experiment),
        "content": experiment.data.content,
        "seed": min(experiment.seeds),
        "top": experiment.recommend,
    }


_SPECS = {
    "ingest": _ingest,
    "split": _split,
    "pseudo_split": _pseudo_split,
    "content": _content,
    "fit_donor": _fit_donor,
    "grid": _method,
    "tune": _tune,
    "fit_method": _method,
    "fit_meta": _fit_meta,
    "score_meta": _score_meta,
    "score": _method,
    "grid_system": _system,
    "tune_system": _tune_system,
    "score_system": _system,
    "fit_stack": lambda experiment, of: _stack(experiment, of) | _tune_system(experiment, of),
    "score_stack": _stack,
    "evaluate": _evaluate,
    "select": _select,
    "rewire": lambda experiment, of: _protocol(experiment),
    "relabel": lambda experiment, of: _protocol(experiment),
    "noninterference": _noninterference,
    "aggregate": _aggregate,
    "reference": _content,
    "calibrate": _calibrate,
    "beyond": lambda experiment, of: (
        {name: _aggregate(experiment, of)[name] for name in ("systems", "seeds", "k")}
        | {"candidates": experiment.protocol.candidates}
    ),
    "strata": lambda experiment, of: {name: _aggregate(experiment, of)[name] for name in ("systems", "seeds")},
    "significance": _significance,
    "export": _export,
    "audit": _audit,
    "accept": lambda experiment, of: {"experiment": experiment.name},
    "report": _report,
    "new_items": _new_items,
    "recommend": _recommend,
}
