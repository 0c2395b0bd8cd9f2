"""Stage `pseudo_split`: play a fold of the warm items cold, so that a meta-method has more items to learn from.

Val-cold holds a tenth of the items, too few for a model that can tell items apart. The warm items have labels too, but a
donor that was trained on an item scores it better than it will ever score a cold one. So the donors, the content and the
methods are fitted again without the fold, and score it as they would a cold item. Nothing here knows of a cold item.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from frostline.artifacts import Job
from frostline.errors import InputError
from frostline.folds import VAL, WARM, pseudo_folds


def run(job: Job) -> None:
    """Read `items`, `queries` and `train` of a seed's split; write a split of its warm items alone, of the same form.

    In the new `items` the fold `part` of `folds` is val and the others are warm; the new `val` holds its training
    interactions and the new `train` the others. An item with fewer than `min_interactions` stays warm, as in the seed's
    own split. Queries are the same rows, whether or not a history is left.

    Raises
    ------
    InputError
        When there are fewer items than folds.
    """
    params = job.params
    items, train = job.read_table("items"), job.read_table("train")
    is_warm = items["fold"].to_numpy(zero_copy_only=False) == WARM
    item = (np.cumsum(is_warm) - 1)[train["item"].to_numpy()]
    counts = np.bincount(item, minlength=int(is_warm.sum()))
    eligible = np.flatnonzero(counts >= params["min_interactions"])
    if len(eligible) < params["folds"]:
        raise InputError(
            f"{len(eligible)} warm items with at least {params['min_interactions']} interactions cannot be divided into "
            f"{params['folds']} folds for a meta-method to learn from",
            "Lower the method's folds, or use more data",
        )
    is_cold = np.zeros(len(counts), dtype=bool)
    is_cold[eligible[pseudo_folds(len(eligible), params["folds"], params["seed"]) == params["part"]]] = True
    ids = items["item_id"].filter(pa.array(is_warm))
    job.write_table("items", pa.table({"item_id": ids, "fold": pa.array(np.where(is_cold, VAL, WARM))}))
    job.write_table("queries", job.read_table("queries"))
    train = train.set_column(train.column_names.index("item"), "item", pa.array(item, pa.int32()))
    job.write_table("train", train.filter(pa.array(~is_cold[item])))
    job.write_table("val", train.filter(pa.array(is_cold[item])))
