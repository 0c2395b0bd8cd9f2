"""Ranking metrics side by side: Frostline, warm-transfer, ranx and ir_measures on one grid, in one run.

The same scores and relevant pairs go to a process of each tool. The processes take turns, one repeat each, and time
themselves: from the arrays to the tool's own input ("convert"), and from that to the means ("compute"). What the tools
have in common must agree, or the run fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

KS = (1, 5, 10)
OTHER_MAP = "map over relevant"  # not the same metric: divided by the number of relevant items, not by min(that, k)


def frostline_all(scores, query, item):
    from frostline.ranking import Metric, evaluate, metrics_at, pooled_auc, rank_relevant

    metrics = [*metrics_at(KS), Metric("mrr", scores.shape[1])]

    def compute(_):
        means = np.nanmean(evaluate(rank_relevant(scores, query, item), metrics), axis=0)
        return {**dict(zip(map(str, metrics), means, strict=True)), "auc_pooled": pooled_auc(scores, query, item)}

    return lambda: None, compute


def frostline_cut(scores, query, item):
    from frostline.ranking import evaluate, metrics_at, rank_relevant

    metrics = metrics_at(KS)[:-1]

    def compute(_):
        means = np.nanmean(evaluate(rank_relevant(scores, query, item), metrics), axis=0)
        return dict(zip(map(str, metrics), means, strict=True))

    return lambda: None, compute


def warm_transfer(scores, query, item):
    import pandas as pd
    from warmtransfer.metrics import calc_metrics

    def convert():
        users, items = np.divmod(np.arange(scores.size), scores.shape[1])
        reco = pd.DataFrame({"user_id": users, "item_id": items, "score": scores.ravel()})
        return reco, pd.DataFrame({"user_id": query, "item_id": item})

    def compute(frames):
        means = calc_metrics(*frames, ks=KS)
        return {{"auc_global": "auc_pooled"}.get(name, name): value for name, value in means.items()}

    return convert, compute


def dicts(scores, query, item):
    """The relevant pairs and the scores as {query: {item: value}}, which ranx and ir_measures take."""
    items = [str(i) for i in range(scores.shape[1])]
    run = {str(q): dict(zip(items, row, strict=True)) for q, row in enumerate(scores.tolist())}
    qrels = {}
    for q, i in zip(query.tolist(), item.tolist(), strict=True):
        qrels.setdefault(str(q), {})[items[i]] = 1
    return qrels, run


def ranx(scores, query, item):
    from ranx import Qrels, Run, evaluate

    names = [f"{name}@{k}" for name in ("recall", "precision", "ndcg", "mrr", "hit_rate", "map") for k in KS]

    def convert():
        qrels, run = dicts(scores, query, item)
        return Qrels(qrels), Run(run)

    def compute(inputs):
        return {name.replace("map", OTHER_MAP): value for name, value in evaluate(*inputs, names).items()}

    return convert, compute


def ir_measures(scores, query, item):
    from ir_measures import AP, RR, P, R, Success, calc_aggregate, nDCG

    names = {RR: f"mrr@{scores.shape[1]}"}
    for k in KS:
        names |= {R @ k: f"recall@{k}", P @ k: f"precision@{k}", nDCG @ k: f"ndcg@{k}", Success @ k: f"hit_rate@{k}"}
        names[AP @ k] = f"{OTHER_MAP}@{k}"

    def compute(inputs):
        return {names[measure]: value for measure, value in calc_aggregate(list(names), *inputs).items()}

    return lambda: dicts(scores, query, item), compute


CONTENDERS = {f.__name__: f for f in (frostline_all, frostline_cut, warm_transfer, ranx, ir_measures)}


def work(name, path):
    """Answer every line of standard input with one timed repeat."""
    with np.load(path) as grid:
        convert, compute = CONTENDERS[name](grid["scores"], grid["query"], grid["item"])
    for _ in sys.stdin:
        start = perf_counter()
        inputs = convert()
        middle = perf_counter()
        means = compute(inputs)
        end = perf_counter()
        means = {key: float(value) for key, value in means.items()}
        print(json.dumps({"convert": middle - start, "compute": end - middle, "means": means}), flush=True)


def grid(users, items, relevant, path):
    """Distinct scores in each row, the relevant ones a little higher; about `relevant` a user."""
    rng = np.random.default_rng(0)
    label = rng.random((users, items)) < relevant / items
    noisy = rng.standard_normal((users, items)) + 0.5 * label
    ranks = np.argsort(np.argsort(noisy, axis=1), axis=1)
    scores = (ranks + rng.random((users, 1))).astype(np.float32)
    query, item = np.nonzero(label)
    np.savez(path, scores=scores, query=query, item=item)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer-python", help="a Python that has warm-transfer")
    parser.add_argument("--ranx-python", help="a Python that has ranx and ir_measures")
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--items", type=int, default=741)
    parser.add_argument("--relevant", type=float, default=33, help="relevant items a user, on average")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(*args.worker)
    pythons = {"frostline_all": sys.executable, "frostline_cut": sys.executable, "warm_transfer": args.peer_python}
    pythons |= {"ranx": args.ranx_python, "ir_measures": args.ranx_python}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.npz"
        grid(args.users, args.items, args.relevant, path)
        workers = {
            name: subprocess.Popen(
                [python, __file__, "--worker", name, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for name, python in pythons.items()
            if python
        }
        answers = {name: [] for name in workers}
        for _ in range(args.repeats + 1):
            for name, worker in workers.items():
                print(file=worker.stdin, flush=True)
                answers[name].append(json.loads(worker.stdout.readline()))
        for worker in workers.values():
            worker.communicate()
    ours = answers["frostline_all"][0]["means"]

    def took(name, step, of=median):
        return 1000 * of(answer[step] for answer in answers[name][1:])

    print(f"{args.users} queries x {args.items} candidates; ms, median of {args.repeats} repeats (fastest)\n")
    print(
        "| tool | values | convert | compute | times Frostline, all | times Frostline, cut-offs | largest difference |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, repeats in answers.items():
        means = repeats[0]["means"]
        common = means.keys() & ours.keys()
        apart = max(abs(means[key] - ours[key]) for key in common)
        times = [f"{took(name, step):.1f} ({took(name, step, min):.1f})" for step in ("convert", "compute")]
        ratios = [
            f"{took(name, 'compute') / took(base, 'compute'):.1f} "
            f"({took(name, 'compute', min) / took(base, 'compute', min):.1f})"
            for base in ("frostline_all", "frostline_cut")
        ]
        print(f"| {' | '.join([name, str(len(means)), *times, *ratios])} | {apart:.1e} over {len(common)} |")
        if apart > 1e-12:
            raise SystemExit(f"{name} disagrees")


if __name__ == "__main__":
    main()
