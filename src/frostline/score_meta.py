"""Stage `score_meta`: score the test-cold items by a fitted meta-method. No label is among its inputs."""

from __future__ import annotations

import numpy as np

from frostline import registry
from frostline.artifacts import Job
from frostline.meta import ROWS, scaled, score_by_group, user_groups


def run(job: Job) -> None:
    """Read `model`, `tuned` and the test scores `signal<j>` of what is combined; write `scores` and `users`.

    `scores` is float32, shape (n_queries, n_candidates), as the stage `score` writes it. `users` holds `scored_by`, int8,
    shape (n_queries,): the user group whose model scored each query, which the audit holds against those who taught it.
    """
    params = job.params
    point = params["points"][job.read_json("tuned")["point"]]
    method = registry.load("methods", params["method"])(**point["options"])
    signals = [job.read_array(f"signal{number}") for number in range(len(params["signals"]))]
    shape = signals[0].shape
    groups = user_groups(shape[0], params["meta_users"], params["seed"])
    arrays = job.read_arrays("model")
    models = [
        {name.removeprefix(f"{group}."): value for name, value in arrays.items() if name.startswith(f"{group}.")}
        for group in range(len(groups))
    ]
    scored_by = np.empty(shape[0], np.int8)
    with job.array_writer("scores", shape, np.float32) as write:
        for start in range(0, shape[0], ROWS):
            rows = slice(start, min(start + ROWS, shape[0]))
            features = np.stack([scaled(signal[rows], method.within_query) for signal in signals], axis=-1)
            block, scored_by[rows] = score_by_group(method, models, groups, rows, features)
            write(block)
    job.write_arrays("users", {"scored_by": scored_by})
