"""Stage `fit_stack`: let a combination of systems learn from val labels, and give its out-of-fold val scores."""

from __future__ import annotations

import numpy as np

from frostline import asked
from frostline.artifacts import Job
from frostline.folds import user_folds
from frostline.ranking import Metric
from frostline.sparse import SparseScores, mixed_rows
from frostline.systems.stack import as_scores
from frostline.tune_system import fold_figures
from frostline.tuning import nested_choice, tuned_record


def run(job: Job) -> None:
    """Read what `score_system` does, of val, every `signal<n>` and the val `labels`; write `model`, `tuned` and `scores`.

    A query's `scores` come from a model that saw no gold of its fold of users, with the parameters that are best on the
    other folds.
    """
    params, known, queries = job.params, asked.known(job), asked.queries(job)
    labels = job.read_table("labels", columns=["query", "item"])
    relevant = labels["query"].to_numpy(), labels["item"].to_numpy()
    signals = [SparseScores.from_arrays(job.read_arrays(f"signal{n}")) for n in range(len(params["signals"]))]
    folds = user_folds(len(queries), params["val_folds"], params["seed"])
    metric, figures, parts = Metric.parse(params["primary"]), [], []
    for number in range(len(params["points"])):
        system = asked.point(job, number)
        proposed = system.propose(known, queries, signals)
        is_gold = np.isin(proposed.cells(known.n_items), relevant[0].astype(np.int64) * known.n_items + relevant[1])
        values = np.empty(len(proposed.query), np.float32)
        for fold in range(params["val_folds"]):
            inside = folds[proposed.query] == fold
            model = system.learn(proposed.take(~inside), is_gold[~inside], params["seed"])
            values[inside] = system.combine(model, proposed.take(inside))
        parts.append(as_scores(proposed, values, len(queries), known.n_items))
        of_fold = fold_figures(
            parts[-1], relevant, queries.excluded, folds, params["val_folds"], metric, params["ties"]
        )
        figures.append(of_fold)
    points = [{"donor": {}, "options": options} for options in params["points"]]
    record = tuned_record(params["primary"], points, np.array(figures))
    job.write_json("tuned", record)
    job.write_arrays("scores", mixed_rows(parts, nested_choice(np.array(figures))[folds]).to_arrays())
    system = asked.point(job, record["point"])
    proposed = system.propose(known, queries, signals)
    is_gold = np.isin(proposed.cells(known.n_items), relevant[0].astype(np.int64) * known.n_items + relevant[1])
    job.write_arrays("model", system.learn(proposed, is_gold, params["seed"]))
