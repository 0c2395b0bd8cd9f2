"""Turn the artifacts of `split`, `content` and `fit_donor` back into what donors and methods receive."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from frostline import registry
from frostline.api import Bilinear, Content, Method, Warm
from frostline.artifacts import Job
from frostline.folds import WARM


def train_matrix(job: Job) -> csr_array:
    """Weights of the training interactions, float32, shape (n_queries, n_warm).

    Raises
    ------
    ValueError
        When an interaction is of an item that is not warm: no donor or method may ever see one.
    """
    train = job.read_table("train", columns=["query", "item", "weight"])
    is_warm = job.read_table("items", columns=["fold"])["fold"].to_numpy(zero_copy_only=False) == WARM
    item = train["item"].to_numpy()
    if not is_warm[item].all():
        raise ValueError("split/train.parquet holds interactions of cold items")
    column = np.cumsum(is_warm) - 1
    coordinates = (train["query"].to_numpy(), column[item])
    shape = (n_queries(job), int(is_warm.sum()))
    return csr_array((train["weight"].to_numpy().astype(np.float32), coordinates), shape=shape)


def n_queries(job: Job) -> int:
    return job.read_table("queries").num_rows


def chosen_method(job: Job) -> tuple[Method, int]:
    """The method with the parameters that `tuned` names, or the only ones there are, and the number of its donor."""
    number = job.read_json("tuned")["point"] if "tuned" in job.inputs else 0
    point = job.params["points"][number]
    return registry.load("methods", job.params["method"])(**point["options"]), point["donor"]


def warm_knowledge(job: Job, needs: tuple[str, ...], donor: int) -> Warm:
    """Read what a method needs, and nothing else; of the donor's grid, the point of that number."""
    return Warm(
        n_queries=n_queries(job),
        seed=job.params["seed"],
        train=train_matrix(job) if "train" in needs else None,
        content=Content.from_arrays(job.read_arrays("content")) if "content" in needs else None,
        donor=donor_of(job, donor) if "donor" in needs else None,
    )


def donor_of(job: Job, number: int) -> Bilinear:
    return Bilinear(**job.read_arrays(f"donor{number}"))
