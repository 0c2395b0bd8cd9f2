"""The command `frostline`: one subcommand a stage, and what a person asks of a result.

Only the standard library is imported until a stage is known: every job of the workflow pays for the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback

from frostline.errors import FrostlineError

STAGES = {
    "ingest": "read the data, clean it, count what was dropped",
    "split": "hold out what is asked, as the protocol says",
    "content": "turn item content into features, fitted on warm items",
    "fit_donor": "train a recommender on warm interactions",
    "grid": "score the val-cold items with every point of a system's grid",
    "tune": "choose a point of the grid by val-cold labels",
    "fit_method": "let a transfer method learn from warm items",
    "score": "score the cold items of a fold",
    "pseudo_split": "play a fold of the warm items cold for meta-methods to learn from",
    "fit_meta": "let a meta-method learn from val-cold labels how to combine scores",
    "score_meta": "score the test-cold items by a meta-method",
    "grid_system": "score the queries of val with every point of a system's grid",
    "tune_system": "choose a point of the grid by val labels",
    "score_system": "let a system learn from train, and score all items for the queries of a fold",
    "fit_stack": "let a combination of systems learn from val labels",
    "score_stack": "score the queries of test by a learned combination of systems",
    "evaluate": "compare scores with held-out labels",
    "select": "choose a system by its val-cold figures",
    "aggregate": "tables over seeds",
    "rewire": "give the test-cold items other users, for the audit of non-interference",
    "relabel": "make the test labels arbitrary ones, for the audit of non-interference",
    "noninterference": "compare every file of the two runs with changed test labels with the original",
    "reference": "one neutral space of all items, fitted on warm items",
    "beyond": "coverage, novelty, diversity and coherence of the lists",
    "strata": "figures by popularity, category and activity",
    "calibrate": "turn scores into probabilities and judge them",
    "significance": "test the differences of systems",
    "export": "the leaderboard in Markdown and LaTeX, with marks and definitions",
    "audit": "check the split and the lineage, give the verdict",
    "accept": "end the run with an error where a check of the audit failed",
    "report": "one page to read",
    "new_items": "read a file of items that nobody has touched yet",
    "recommend": "rank new items by the system that was chosen",
}


def main(argv: list[str] | None = None) -> int:
    """Run a subcommand; return the exit code (0, or 1 after an error that the user can mend)."""
    arguments = _parser().parse_args(argv)
    if arguments.command == "inspect":
        return _complain(lambda: _inspect(arguments.file))
    if arguments.command == "audit" and arguments.results:
        return _complain(lambda: _show_audit(arguments.results))
    if arguments.command == "data":
        return _complain(lambda: _data(arguments.name, arguments.markdown))
    if arguments.command == "download":
        with open(arguments.log or os.devnull, "w", encoding="utf-8") as log:
            return _complain(lambda: _download(arguments.adapter, arguments.options, arguments.file), log)
    return _run_stage(arguments)


def entry() -> None:
    """Run `main` and leave at once: what a library's thread does while the interpreter shuts down is no part of a job."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="frostline",
        description="Leak-proof evaluation of recommenders on cold items. Runs are started with "
        "'snakemake --cores 8'; the stages below are what its jobs call.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    inspect = commands.add_parser("inspect", help="print where a result file came from")
    inspect.add_argument("file")
    data = commands.add_parser("data", help="list the public data sets that can be read, or show the card of one")
    data.add_argument("name", nargs="?", help="of a data set")
    data.add_argument("--markdown", action="store_true", help="all cards, as docs/data.md has them")
    download = commands.add_parser("download", help="fetch a data set from its publisher into the cache")
    download.add_argument("adapter", help="its name in a config")
    download.add_argument("--options", default="{}", metavar="JSON", help="options of the adapter, as in a config")
    download.add_argument("--file", help="only this of its files")
    download.add_argument("--log", metavar="FILE", help="where an error is kept")
    for name, summary in STAGES.items():
        stage = commands.add_parser(name, help=f"stage: {summary}", description=summary)
        if name == "audit":
            stage.add_argument("results", nargs="?", help="results/<experiment>, to print what its audit found")
        stage.add_argument("--input", nargs="*", default=[], metavar="NAME=PATH", help="the files that it may read")
        stage.add_argument("--output", nargs="*", default=[], metavar="NAME=PATH", help="the files that it writes")
        stage.add_argument("--over", nargs="*", default=[], metavar="AXIS=A,B", help="values of {AXIS} in input paths")
        stage.add_argument("--params", default="{}", metavar="JSON", help="its part of the config")
        stage.add_argument("--code", default="", metavar="DIGEST", help="recorded in the provenance")
        stage.add_argument("--threads", type=int, default=1, help="threads that numerical libraries may use")
        stage.add_argument("--log", metavar="FILE", help="where messages and errors are kept")
    return parser


def _run_stage(arguments: argparse.Namespace) -> int:
    # Pinned here and not by Snakemake, which clips it to --cores, because the thread count can change the last bits.
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
        os.environ[f"{library}_NUM_THREADS"] = str(arguments.threads)
    # Or scikit-learn's helper looks for semaphores, which a stage may not have, and warns that it found none.
    os.environ["JOBLIB_MULTIPROCESSING"] = "0"
    import resource

    from frostline.artifacts import Job, expand_family

    axes = {axis: [value for value in values.split(",") if value] for axis, values in _pairs(arguments.over)}
    inputs: dict[str, str] = {}
    for name, path in _pairs(arguments.input):
        inputs |= expand_family(name, path, axes) if "{" in path and axes else {name: path}
    job = Job(
        stage=arguments.command,
        inputs=inputs,
        outputs=dict(_pairs(arguments.output)),
        params=json.loads(arguments.params),
        code=arguments.code,
        threads=arguments.threads,
    )
    with open(arguments.log or os.devnull, "w", encoding="utf-8") as log:
        started = time.perf_counter()
        code = _complain(lambda: _guarded(job), log)
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        log.write(f"{arguments.command}: {seconds:.2f} s, peak {peak:.0f} MiB\n")
    return code


def _guarded(job) -> None:
    from importlib import import_module

    from frostline.artifacts import guard
    from frostline.imports import keep_pandas_out, without_numpy_tools
    from frostline.registry import load

    if job.stage != "ingest":  # an adapter may well hand over what it read by pandas
        keep_pandas_out()
    with without_numpy_tools():
        stage = import_module(f"frostline.{job.stage}")
    # Before the guard, because a component of the user's own is found by looking through folders.
    keys = {group: group.removesuffix("s") for group in ("adapters", "protocols", "donors", "methods")}
    for group, key in (keys | {"systems": "component"}).items():
        one = job.params.get(key)
        for component in job.params.get("components", {}).get(group, [] if one is None else [one]):
            load(group, component)
    guard(job)
    stage.run(job)


def _complain(action, log=None) -> int:
    try:
        code = action() or 0
    except FrostlineError as error:
        message = f"frostline: error: {error}\n"
    except PermissionError as error:
        # By the kernel (see landlock.py), where native code or a child process tried what the audit hook cannot see.
        message = f"frostline: error: {error}. A stage reads the files declared to it and nothing else\n"
    except Exception:
        # A defect of ours, or of a plug-in: the traceback belongs into the log, or to the terminal where there is none.
        message = f"frostline: internal error, please report it\n{traceback.format_exc()}"
    else:
        return code
    sys.stderr.write(message)
    if log:
        log.write(message)
    return 1


def _pairs(items: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (item.partition("=") for item in items)]


def _data(name: str | None, as_page: bool) -> None:
    from frostline import cards

    print(cards.page() if as_page else cards.card(name) if name else cards.listing(), end="" if as_page else "\n")


def _download(adapter: str, options: str, only: str | None) -> None:
    from frostline.download import fetch_all

    try:
        given = json.loads(options)
    except ValueError as error:
        raise FrostlineError(
            f"--options {options!r} is not JSON ({error}). Write for example '{{\"size\": 1}}'"
        ) from error
    fetch_all(adapter, given, only)


def _inspect(path: str) -> None:
    from frostline.inspect import describe

    _print(describe(path))


def _show_audit(folder: str) -> int:
    from frostline.show_audit import describe, failed, read_verdict

    folder = folder.rstrip("/")
    verdict = read_verdict(folder)
    _print(describe(folder, verdict, sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 1 if failed(verdict) else 0


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # `| head` has seen enough; what is left must not be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
