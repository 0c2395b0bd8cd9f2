"""The tests of significance at the size of MovieLens-1M: 6,040 users, 12 systems, five seeds, 10,000 draws of everything.

    python benchmarks/significance.py

One thread. The time of the processor is what others on the machine slow down least.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np

from frostline.bootstrap import DRAWS, SeedResult, draw_means
from frostline.ranking import metrics_at
from frostline.significance.over_users import means_of_users, user_tests

N_USERS, N_SYSTEMS, N_SEEDS, N_ITEMS = 6040, 12, 5, 740
N_METRICS = len(metrics_at((1, 5, 10)))


def main() -> None:
    rng = np.random.default_rng(0)
    columns = N_SYSTEMS * N_METRICS
    seeds = [
        SeedResult(
            np.arange(N_USERS),
            rng.random((N_USERS, columns)),
            rng.permutation(N_ITEMS * N_SEEDS)[:N_ITEMS],
            rng.random((N_ITEMS, columns)),
            rng.random(N_ITEMS),
        )
        for _ in range(N_SEEDS)
    ]
    users = means_of_users(seeds)
    differences = users[:, N_METRICS:] - np.tile(users[:, :N_METRICS], N_SYSTEMS - 1)
    timed("one metric: bootstrap, sign flips and t over users", lambda: user_tests(differences[:, ::N_METRICS], 0))
    timed(f"{N_METRICS} metrics: the same", lambda: user_tests(differences, 0))
    timed(f"{N_METRICS} metrics: crossed bootstrap over seeds, users and items", lambda: draw_means(seeds, 0))


def timed(name: str, action) -> None:
    clock, processor = time.perf_counter(), time.process_time()
    action()
    print(
        f"{name:<70} {time.perf_counter() - clock:6.1f} s {time.process_time() - processor:6.1f} s of CPU, {DRAWS:,} draws"
    )


if __name__ == "__main__":
    main()
