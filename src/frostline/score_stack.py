"""Stage `score_stack`: score the queries of test by a learned combination of systems. No label is read."""

from __future__ import annotations

from frostline import asked
from frostline.artifacts import Job
from frostline.sparse import SparseScores
from frostline.systems.stack import as_scores


def run(job: Job) -> None:
    """Read what `score_system` does, every `signal<n>`, `model` and `tuned`; write `scores`."""
    system, known, queries = asked.chosen_system(job), asked.known(job), asked.queries(job)
    signals = [SparseScores.from_arrays(job.read_arrays(f"signal{n}")) for n in range(len(job.params["signals"]))]
    proposed = system.propose(known, queries, signals)
    values = system.combine(job.read_arrays("model"), proposed)
    job.write_arrays("scores", as_scores(proposed, values, len(queries), known.n_items).to_arrays())
