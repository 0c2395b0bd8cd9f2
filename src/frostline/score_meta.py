"""Stage `score_meta`: score the test-cold items by a fitted meta-method. No label is among its inputs."""

from __future__ import annotations

import numpy as np

from frostline import registry
from frostline.artifacts import Job
from frostline.meta import ROWS, scaled, score_by_group, user_groups


def run(job: Job) -> None:
    """Read `model`, `tuned` and the test scores `signal<j>` of what is combined; write `scores`.

    `scores` is float32, shape (n_queries, n_candidates), as the stage `score` writes it.
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
    with job.array_writer("scores", shape, np.float32) as write:
        for start in range(0, shape[0], ROWS):
            rows = slice(start, min(start + ROWS, shape[0]))
            features = np.stack([scaled(signal[rows], method.within_query) for signal in signals], axis=-1)
            write(score_by_group(method, models, groups, rows, features))
