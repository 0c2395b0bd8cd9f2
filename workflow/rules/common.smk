# Config and the helpers that all rule files use. Every rule calls `frostline <stage>` with the files that it declares.

import re
from pathlib import Path
from shlex import quote

from snakemake.exceptions import WorkflowError

from frostline import plan
from frostline.artifacts import expand_family
from frostline.config import load
from frostline.errors import ConfigError
from frostline.lineup import ORACLE
from frostline.protocol import METHODS, SYSTEMS

# Given with --configfile, a config replaces the default instead of being merged into it.
if "experiments" not in config:

    configfile: "config/config.yaml"


try:
    EXPERIMENTS = load(config)
    DATA_FILES = {
        name: {
            f"{label}_": plan.parts(file, plan.find(file, name), name)
            for label, file in experiment.data.files().items()
        }
        for name, experiment in EXPERIMENTS.items()
    }
    NEW_ITEMS = {
        name: plan.new_items_file(experiment)
        for name, experiment in EXPERIMENTS.items()
        if experiment.new_items
    }
    # What is nowhere yet: the name that it gets in the cache, and the adapter that knows where to get it.
    DOWNLOADS = {
        file: asked
        for experiment in EXPERIMENTS.values()
        for file, asked in plan.missing(experiment).items()
    }
except ConfigError as error:
    raise WorkflowError(str(error))
NAMES = list(EXPERIMENTS)
GENERATED = [name for name in NAMES if ORACLE in EXPERIMENTS[name].systems]

# Reruns of an experiment with changed test labels, by the same rules in a folder of its own, see noninterference.smk.
RERUNS = ("rewired", "relabelled")
RERUN = f"(?:/noninterference/(?:{'|'.join(RERUNS)}))?"
EXPERIMENTS |= {
    f"{name}/noninterference/{run}": plan.again(EXPERIMENTS[name])
    for name in NAMES
    for run in RERUNS
}


wildcard_constraints:
    experiment=f"[^/]+{RERUN}",
    # A seed, or what `pseudo_split` made of its warm items, which goes through the same rules.
    seed=r"\d+(/pseudo-\d+-\d+)?",
    folds=r"\d+",
    part=r"\d+",
    donor="[^/]+",
    system="[^/]+",
    fold="val|test",
    point=r"\d+",


RESULTS = "results/{experiment}"
KEEP_SCORES = any(experiment.keep_scores for experiment in EXPERIMENTS.values())
SEED = f"{RESULTS}/seed-{{seed}}"
PSEUDO = f"{SEED}/pseudo-{{folds}}-{{part}}"
SYSTEM = f"{SEED}/systems/{{system}}"
LOGS = f"{RESULTS}/logs"
COMMAND = "{params.files} --params {params.spec:q} --code {params.code} --threads {params.threads} --log {log:q}"


def stamp(path):
    """What tells a data file from one that has taken its place. One of the cache is what its publisher gives."""
    place = Path(path)
    if place.parent == plan.cache():
        return place.name
    return place.stat().st_size, place.stat().st_mtime_ns


def system_of(wildcards):
    return EXPERIMENTS[wildcards.experiment].systems[wildcards.system]


def experiments_where(holds):
    """Pattern of {experiment} for those whose protocol is such."""
    names = [re.escape(name) for name in NAMES if holds(EXPERIMENTS[name].protocol)]
    return "|".join(names) or "(?!)"


def rewired(holds):
    """The same of their reruns with other test labels before the split."""
    return f"(?:{experiments_where(holds)})/noninterference/rewired"


def relabelled(outputs):
    """Where the files of a split stand in the rerun with other labels after it."""
    return {
        name: path.replace(RESULTS, f"{RESULTS}/noninterference/relabelled")
        for name, path in outputs.items()
    }


def experiment_with(*learning, group=METHODS):
    """Pattern of {experiment} where a system follows whose scores owe as much to val labels, see `System.learning`.

    `group` says what kind of component the system is.
    """
    patterns = []
    for name in NAMES:
        systems = [
            re.escape(system.name)
            for system in EXPERIMENTS[name].systems.values()
            if system.learning in learning and system.group == group
        ]
        patterns.append(
            rf"{re.escape(name)}{RERUN}(?=/seed-\d+(/pseudo-\d+-\d+)?/systems/({'|'.join(systems)})/)"
        )
    return "|".join(patterns)


def ingested(file):
    """What ingest wrote of the experiment that is run, or run again."""
    return (
        lambda wildcards: f"results/{wildcards.experiment.partition('/')[0]}/ingest/{file}"
    )


def scores_of(fold, kind="npy"):
    """Where a system's scores of a fold are: large, and as a rule of no use once they are evaluated."""
    path = f"{SYSTEM}/{fold}/scores.{kind}"
    return path if KEEP_SCORES else temp(path)


def numbered(paths):
    """A file under its plain name, the files of a list under [0], [1], …"""
    if isinstance(paths, str):
        return [("", paths)]
    return [(f"[{number}]", path) for number, path in enumerate(paths)]


def files(wildcards, input, output):
    """The declared files as arguments; a name that Snakemake reserves carries a trailing underscore."""

    def named(group):
        return " ".join(
            f"{quote(name.rstrip('_') + number)}={quote(str(path))}"
            for name, paths in group.items()
            for number, path in numbered(paths)
        )

    return f"--input {named(input)} --output {named(output)}"


def spec(stage):
    return lambda wildcards: plan.spec(
        stage,
        EXPERIMENTS[wildcards.experiment],
        **{name: value for name, value in wildcards.items() if name != "experiment"},
    )


def learned_from(wildcards):
    """What a system's method learns from, as named inputs."""
    system = system_of(wildcards)
    sources = {
        "train": {
            "train": f"{SEED}/split/train.parquet",
            "items_": f"{SEED}/split/items.parquet",
        },
        "content": {"content": f"{SEED}/content/warm.npz"},
        "donor": {
            f"donor{point}": f"{SEED}/donors/{system.donor.label}/{point}/donor.npz"
            for point in range(len(system.donor.points) if system.donor else 0)
        },
    }
    named = {"queries": f"{SEED}/split/queries.parquet"}
    for need in plan.needs(system):
        named |= sources[need]
    return {name: path.format(**wildcards) for name, path in named.items()}


def donor_inputs(wildcards):
    """What a donor reads beside the interactions."""
    donor = EXPERIMENTS[wildcards.experiment].donors[wildcards.donor]
    named = {
        f"brought_{name}": path.replace("{seed}", wildcards.seed)
        for name, path in plan.brought_files(donor, int(wildcards.point)).items()
    }
    if plan.donor_needs_content(donor):
        named["content"] = f"{SEED}/content/warm.npz".format(**wildcards)
    return named


def score_inputs(wildcards):
    """What a system's method learns from, and its model if it has one. No labels."""
    named = learned_from(wildcards)
    if plan.is_fitted(system_of(wildcards)):
        named["model"] = f"{SYSTEM}/model.npz".format(**wildcards)
    return named


def tuned_input(wildcards):
    """The choice of a point, for a system that has a grid."""
    path = f"{SYSTEM}/tuned.json".format(**wildcards)
    return {"tuned": path} if system_of(wildcards).learning == "tuned" else {}


def signal_files(fold, of):
    """The scores that a meta-method combines: of a grid's every point on val, since it must choose out of fold."""
    systems = EXPERIMENTS[of["experiment"]].systems
    named = {}
    for number, name in enumerate(systems[of["system"]].signals):
        folder = SYSTEM.format(**of | {"system": name})
        if fold == "val" and systems[name].learning == "tuned":
            named[f"signal{number}"] = f"{folder}/grid.npy"
            named[f"tuned{number}"] = f"{folder}/tuned.json"
        else:
            named[f"signal{number}"] = f"{folder}/{fold}/scores.npy"
    return named


def signal_inputs(fold):
    return lambda wildcards: signal_files(fold, dict(wildcards.items()))


def pseudo_inputs(wildcards):
    """What a meta-method learns of warm items that were played cold: their labels, and the same signals as on val."""
    named = {}
    for folds in system_of(wildcards).pseudo_folds:
        for part in range(folds):
            seed = f"{wildcards.seed}/pseudo-{folds}-{part}"
            of = dict(wildcards.items()) | {"seed": seed}
            found = {
                "items": f"{SEED}/split/items.parquet".format(**of),
                "labels": f"{SEED}/split/val.parquet".format(**of),
                **signal_files("val", of),
            }
            named |= {
                f"pseudo{folds}_{part}_{name}": path
                for name, path in found.items()
                if not name.startswith("tuned")  # the point is chosen by val
            }
    return named


def evaluate_inputs(wildcards):
    """Scores and labels. The oracle has no scores: it is computed from the generating probabilities.

    On val nothing is told of the items' strata: they hold how popular test items are, and val figures choose.
    """
    experiment, system = EXPERIMENTS[wildcards.experiment], system_of(wildcards)
    nested = system.learning != "free" and wildcards.fold == "val"
    scores = f"{SYSTEM}/nested.npy" if nested else f"{SYSTEM}/{{fold}}/scores.npy"
    history = experiment.protocol.history
    if system.group == SYSTEMS:
        scores = scores.replace(".npy", ".npz")
        history = f"history-{wildcards.fold}"
    truth = {"truth": f"{RESULTS}/ingest/truth.npz"}
    named = {
        **(truth if system.kind == "oracle" else {"scores": scores}),
        "items_": f"{SEED}/split/items.parquet",
        "queries": f"{SEED}/split/queries.parquet",
        "history": f"{SEED}/split/{history}.parquet",
        "labels": f"{SEED}/split/{{fold}}.parquet",
    }
    if system.group == SYSTEMS:
        named["excluded"] = f"{SEED}/split/excluded-{{fold}}.parquet"
    if wildcards.fold == "test":
        named["strata"] = f"{SEED}/split/strata.parquet"
    return {name: path.format(**wildcards) for name, path in named.items()}


def new_items_of(wildcards):
    """Nothing where the new items are those of the catalogue."""
    path = f"{RESULTS}/recommend/new_items.parquet"
    return {"new": path} if wildcards.experiment in NEW_ITEMS else {}


def asked_of(fold):
    """What a system learns from, and the queries of a fold. No labels."""

    def inputs(wildcards):
        named = {
            "items_": f"{SEED}/split/items.parquet",
            "queries": f"{SEED}/split/queries.parquet",
            "train": f"{SEED}/split/train.parquet",
            "history": f"{SEED}/split/history-{fold}.parquet",
            "excluded": f"{SEED}/split/excluded-{fold}.parquet",
        }
        system = system_of(wildcards)
        if "content" in plan.needs(system):
            name = wildcards.experiment.partition("/")[0]
            named["catalogue"] = f"results/{name}/ingest/items.parquet"
        if fold == "test" and system.learning == "tuned":
            named["tuned"] = f"{SYSTEM}/tuned.json"
        return {name: path.format(**wildcards) for name, path in named.items()}

    return inputs


def combined(fold):
    """The scores that a learned combination combines, on val those of an honest choice, and what it may know of queries."""

    def inputs(wildcards):
        systems = EXPERIMENTS[wildcards.experiment].systems
        named = asked_of(fold)(wildcards)
        for number, name in enumerate(system_of(wildcards).signals):
            folder = SYSTEM.format(**dict(wildcards.items()) | {"system": name})
            nested = fold == "val" and systems[name].learning == "tuned"
            named[f"signal{number}"] = (
                f"{folder}/nested.npz" if nested else f"{folder}/{fold}/scores.npz"
            )
        return named

    return inputs


def say_where_the_results_are():
    for name in NAMES:
        for what, file in (("New items", "recommend"), ("Report", "report/index.html")):
            path = Path("results", name, file)
            if path.exists():
                logger.info(f"{what}: {path.absolute()}")


def calibration_tables(wildcards):
    """None where the config asks for no calibration."""
    names = ("calibration", "reliability")
    wanted = EXPERIMENTS[wildcards.experiment].calibration
    return {
        name: f"{RESULTS}/tables/{name}.parquet".format(**wildcards)
        for name in (names if wanted else ())
    }


def proof(wildcards):
    """What the audit reads of non-interference: something from when it was first asked for."""
    path = f"{RESULTS}/audit/noninterference.json"
    asked = "audit_noninterference" in workflow.dag_settings.targets
    is_there = Path(path.format(**wildcards)).exists()
    return {"noninterference": path} if asked or is_there else {}


class _Open(dict):
    """Format fields: a name without a value stays as it is."""

    def __missing__(self, name):
        return f"{{{name}}}"


def opened(patterns, wildcards, fixed):
    """Patterns with the job's wildcards filled in; over what is left of `axes` they are families."""
    history = EXPERIMENTS[wildcards.experiment].protocol.history
    return {
        name: pattern.format_map(_Open(wildcards.items(), history=history, **fixed))
        for name, pattern in patterns.items()
    }


def axes(wildcards):
    experiment = EXPERIMENTS[wildcards.experiment]
    of_methods = experiment.protocol.parts == METHODS

    def seeds_if(holds):
        return list(map(str, experiment.seeds)) if holds else []

    return {
        "seed": list(map(str, experiment.seeds)),
        "system": list(experiment.systems),
        "scored": [
            system.name
            for system in experiment.systems.values()
            if system.kind != "oracle"
        ],
        "fold": list(experiment.folds),
        "tested": ["test"],
        # The seeds, where something is chosen on val, and where items are encoded for methods.
        "choosing": seeds_if(experiment.protocol.has_val),
        "encoded": seeds_if(of_methods),
        # The seeds, where queries have histories.
        "asked_val": seeds_if(experiment.protocol.has_val and not of_methods),
        "asked_test": seeds_if(not of_methods),
        "meta": [
            system.name
            for system in experiment.systems.values()
            if system.signals and system.group == METHODS
        ],
        "tuned": [
            system.name
            for system in experiment.systems.values()
            if system.learning != "free"
        ],
    }


def families(patterns, **fixed):
    """Every file of the patterns, as named input lists."""
    return lambda wildcards: {
        name: list(expand_family(name, pattern, axes(wildcards)).values())
        for name, pattern in opened(patterns, wildcards, fixed).items()
    }


def family_files(patterns, **fixed):
    """The same as arguments: patterns and what they run over, because thousands of paths do not fit a command line."""

    def arguments(wildcards, input, output):
        named = opened(patterns, wildcards, fixed).items()
        inputs = " ".join(
            f"{name.rstrip('_')}={quote(pattern)}" for name, pattern in named
        )
        over = " ".join(
            f"{axis}={','.join(values)}" for axis, values in axes(wildcards).items()
        )
        outputs = " ".join(
            f"{name.rstrip('_')}={quote(str(path))}" for name, path in output.items()
        )
        return f"--input {inputs} --over {over} --output {outputs}"

    return arguments


FIGURES = {
    "per_query": f"{SYSTEM}/{{fold}}/per_query.parquet",
    "per_item": f"{SYSTEM}/{{fold}}/per_item.parquet",
    "pooled": f"{SYSTEM}/{{fold}}/pooled.json",
}
