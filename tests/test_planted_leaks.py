"""Planted leaks (issue 4): each is found by the check that is named, and by no other, so without that check it would pass.

All are planted through the stages themselves, and what follows from them is computed again, as a run would. Those that need
the workflow are in `workflow/test_noninterference.py` (a split and a donor that know test labels, found by the reruns alone)
and `workflow/test_failed_audit.py`; a stage that opens a file behind the workflow's back is in `test_isolation.py`.
"""

import numpy as np
import pyarrow as pa
import pytest

from frostline import encoding, fit_meta, score_meta, select, split
from frostline.artifacts import IsolationError, Job
from frostline.audit.lineage import PROOF
from frostline.audit.meta_users import NAME as OWN_TEACHERS
from frostline.meta import UserGroup
from frostline.protocols import cold_items
from tests.test_audit import (
    CHOICE,
    IN_TRAIN,
    LEAK,
    LOST,
    ONE_FOLD,
    PARAMS,
    SEEDS,
    SPLIT,
    STALE,
    SYSTEMS,
    at,
    audit_job,
    clean,
    job,
    place,
    put,
    run_audit,
    run_content,
    run_donor,
    run_evaluate,
    run_ingest,
    run_select,
    run_split,
    run_system,
)

__all__ = ["clean", "place"]  # fixtures

EVERYTHING = "nothing descends from all interactions but by way of the split"
FITTED = "content is fitted on warm items alone"
IN_TIME = "each interaction is of its file's own time"
LATER = "no content field could only be known later"
TWICE = "no cold item is listed twice, warm under another id"
CONSTANT = "the control 'constant' is worth exactly chance"
RANDOM = "the control 'random' is no better and no worse than chance"
TRAINED_HERE = "every donor was trained here"
INTERACTIONS = "results/ingest/interactions.parquet"


def finish(seed=1, systems=SYSTEMS):
    """What depends on a leak is computed again."""
    for system in systems:
        run_system(seed, system)
    run_select(seed)


def everything_again():
    for seed in SEEDS:
        run_split(seed)
        run_content(seed)
        run_donor(seed)
        finish(seed)


def made(stage, inputs, path, value):
    """A file of the stage's, made with more than it should have been given."""
    Job(stage, {f"input{number}": file for number, file in enumerate(inputs)}, {"it": path}).write_json("it", value)


def donor_trained_on_all_interactions(patch):
    made_of = {name: at(1, f"split/{name}.parquet") for name in ("train", "items", "queries")}
    from frostline import fit_donor

    options = {"donor": "als", "options": {"factors": 4, "iterations": 3}, "seed": 1}
    job(fit_donor.run, made_of | {"all": INTERACTIONS}, {"donor": at(1, "donors/als/donor.npz")}, **options)
    finish()


def popularity_from_all_interactions(patch):
    run_system(1, "grouped_popularity_personal", peek=[INTERACTIONS])
    run_select(1)


def neighbours_among_cold_items(patch):
    """Cold neighbours have no scores of a donor, so whoever uses them brings their interactions."""
    run_system(1, "als+knn", peek=[at(1, "split/val.parquet")])
    run_select(1)


def popularity_bucket_of_cold_items(patch):
    run_system(1, "als+linmap", peek=[at(1, "split/strata.parquet")])
    run_select(1)


def fitted_on_all(kind):
    def plant(patch):
        honest = encoding._ENCODERS[kind]
        with pytest.MonkeyPatch.context() as inner:
            inner.setitem(encoding._ENCODERS, kind, lambda values, warm: honest(values, np.ones_like(warm)))
            run_content(1)
        finish()

    return plant


def parameter_tuned_on_test(patch):
    made("tune", [at(1, "split/test.parquet")], at(1, "systems/als+linmap/tuned.json"), {"point": 0})
    run_system(1, "als+linmap", peek=[at(1, "systems/als+linmap/tuned.json")])
    run_select(1)


def meta_model_taught_by_test_labels(patch):
    made("fit_meta", [at(1, "split/test.parquet")], at(1, "systems/als+knn/meta.json"), {})
    run_system(1, "als+knn", peek=[at(1, "systems/als+knn/meta.json")])
    run_select(1)


def own_labels_in_the_meta_model(patch):
    """Users are halved, and each half is scored by the model that it taught."""
    patch.setattr("tests.test_audit.SYSTEMS", SYSTEMS | {"stacking_full": "system"})
    patch.setitem(PARAMS, "systems", SYSTEMS | {"stacking_full": "system"})
    patch.setitem(PARAMS, "split", SPLIT | {"meta_users": "crossfit"})
    honest = audit_job

    def with_users():
        given = honest()
        for seed in SEEDS:
            folder = at(seed, "systems/stacking_full")
            given.inputs[f"taught[{seed},stacking_full]"] = f"{folder}/users.npz"
            given.inputs[f"scored[{seed},stacking_full]"] = f"{folder}/test/users.npz"
        return given

    patch.setattr("tests.test_audit.audit_job", with_users)
    run_stacking()
    assert run_audit() == {}
    for stage in (fit_meta, score_meta):
        groups = stage.user_groups
        swapped = lambda *given, groups=groups: [UserGroup(group.apply, group.apply) for group in groups(*given)]  # noqa: E731
        patch.setattr(stage, "user_groups", swapped)
    run_stacking()


def run_stacking():
    for seed in SEEDS:
        folder = at(seed, "systems/stacking_full")
        known = {name: at(seed, f"split/{name}.parquet") for name in ("items", "queries")}
        known["labels"] = at(seed, "split/val.parquet")
        signals = {
            fold: {
                f"signal{n}": at(seed, f"systems/{system}/{fold}/scores.npy")
                for n, system in enumerate(("als+knn", "als+linmap"))
            }
            for fold in ("val", "test")
        }
        of = {
            "method": "stacking_full",
            "points": [{"donor": {}, "options": {}}],
            "seed": seed,
            "system": "stacking_full",
        }
        of |= {"signals": ["als+knn", "als+linmap"], "meta_users": "crossfit", "val_folds": 2}
        of |= {"primary": PARAMS["primary"], "ties": "expected"}
        model = {"model": f"{folder}/model.npz", "tuned": f"{folder}/tuned.json"}
        outputs = {"scores": f"{folder}/val/scores.npy", "users": f"{folder}/users.npz"}
        job(fit_meta.run, signals["val"] | known, model | outputs, **of)
        outputs = {"scores": f"{folder}/test/scores.npy", "users": f"{folder}/test/users.npz"}
        job(score_meta.run, signals["test"] | model, outputs, **of)
        run_evaluate(seed, "stacking_full")
        run_select(seed)


def winner_chosen_on_test(patch):
    inputs = {f"pooled[{system}]": at(1, f"systems/{system}/test/pooled.json") for system in SYSTEMS}
    job(select.run, inputs, {"chosen": at(1, "chosen.json")}, systems=SYSTEMS, primary=PARAMS["primary"], seed=1)


def leaky_split(patch, change):
    """Let the split write what `change` makes of its tables."""
    honest = split.run

    def leaky(given):
        tables, write = {}, given.write_table
        given.write_table = tables.__setitem__
        honest(given)
        for name, table in change(tables).items():
            write(name, table)

    leaky.__module__ = "frostline.split"
    patch.setattr(split, "run", leaky)


def items_sorted_by_popularity(patch):
    """And ties by position, which is how a constant gets to twenty times chance."""

    def change(tables):
        seen = np.concatenate([tables[name]["item"].to_numpy() for name in ("train", "val", "test")])
        order = np.argsort(-np.bincount(seen, minlength=tables["items"].num_rows), kind="stable")
        moved = np.argsort(order).astype(np.int32)
        for name in ("train", "val", "test", "strata"):
            column = tables[name].column_names.index("item")
            items = pa.array(moved[tables[name]["item"].to_numpy()])
            tables[name] = tables[name].set_column(column, "item", items)
        return tables | {"items": tables["items"].take(order), "strata": tables["strata"].sort_by("item")}

    leaky_split(patch, change)
    everything_again()


def interaction_after_t(patch):
    """A split by time that leaves a later interaction with a warm item in train."""

    def change(tables):
        train = tables["train"]
        late = train["time"].to_numpy().copy()
        late[0] = 10**9
        return tables | {"train": train.set_column(train.column_names.index("time"), "time", pa.array(late))}

    changes = {"kind": "temporal", "t1": 0.6, "t2": 0.8}
    temporal = {key: value for key, value in (SPLIT | changes).items() if key not in ("test", "val")}
    patch.setitem(PARAMS, "split", temporal)
    patch.setattr("tests.test_audit.SPLIT", temporal)
    run_ingest(times=True)
    everything_again()
    assert run_audit() == {}
    leaky_split(patch, change)
    everything_again()


def mean_rating_as_content(patch):
    run_ingest(avg_rating=np.linspace(1, 5, 60).tolist())
    patch.setitem(PARAMS, "content", PARAMS["content"] | {"avg_rating": {"as": "number"}})
    patch.setattr("tests.test_audit.CONTENT", PARAMS["content"])
    everything_again()


def item_listed_twice(patch):
    """And a split that does not look."""
    patch.setattr(cold_items, "identities", lambda catalogue: np.full(catalogue.num_rows, -1))
    run_ingest(tags=[["a"]] * 60, year=[1990.0] * 60, title=[f"title {n // 2}" for n in range(60)])
    everything_again()


def random_that_saw_the_labels(patch):
    """Its scores are raised a little where the test labels are, in a stage that says it knows nothing."""
    for seed in SEEDS:
        path = at(seed, "systems/random/test/scores.npy")
        scores = Job("x", {"it": path}, {}).read_array("it")[:]
        labels = Job("x", {"it": at(seed, "split/test.parquet")}, {}).read_table("it")
        items = (
            Job("x", {"it": at(seed, "split/items.parquet")}, {})
            .read_table("it")["fold"]
            .to_numpy(zero_copy_only=False)
        )
        column = np.cumsum(items == "test") - 1
        scores[labels["query"].to_numpy(), column[labels["item"].to_numpy()]] += 0.5
        with_scores(seed, "random", scores)


def constant_in_the_order_of_popularity(patch):
    """An order of the candidates that knows how popular they are, given out for no opinion."""
    for seed in SEEDS:
        path = at(seed, "systems/constant/test/scores.npy")
        shape = Job("x", {"it": path}, {}).read_array("it").shape
        with_scores(seed, "constant", np.tile(np.arange(shape[1], dtype=np.float32), (shape[0], 1)))


def with_scores(seed, system, scores):
    from frostline import score

    honest = score.run

    def forged(given):
        honest(given)
        with given.array_writer("scores_test", scores.shape, np.float32) as write:
            write(scores)

    forged.__module__ = "frostline.score"
    with pytest.MonkeyPatch.context() as inner:
        inner.setattr(score, "run", forged)
        run_system(seed, system)


def donor_that_was_brought(patch):
    patch.setitem(PARAMS, "brought", ["mine"])


def failed_rerun(test):
    """What the two reruns say is a check like any other; their own planted leaks are in the workflow's tests."""

    def plant(patch):
        checks = [
            {"name": test, "result": "failed", "detail": "the first that differs is donor.npz, made by fit_donor"}
        ]
        put("noninterference", "results/audit/noninterference.json", {"checks": checks})

        def with_proof():
            given = audit_job()
            given.inputs[PROOF] = "results/audit/noninterference.json"
            return given

        patch.setattr("tests.test_audit.audit_job", with_proof)

    return plant


LEAKS = [
    (donor_trained_on_all_interactions, {EVERYTHING}),
    (popularity_from_all_interactions, {EVERYTHING}),
    (fitted_on_all("text"), {FITTED}),
    (fitted_on_all("number"), {FITTED}),
    (neighbours_among_cold_items, {LEAK}),
    (parameter_tuned_on_test, {CHOICE}),
    (meta_model_taught_by_test_labels, {CHOICE}),
    (own_labels_in_the_meta_model, {OWN_TEACHERS}),
    (winner_chosen_on_test, {CHOICE}),
    (popularity_bucket_of_cold_items, {LEAK, CHOICE}),
    (items_sorted_by_popularity, {ONE_FOLD}),
    (interaction_after_t, {IN_TIME}),
    (mean_rating_as_content, {LATER}),
    (item_listed_twice, {TWICE}),
    (random_that_saw_the_labels, {RANDOM}),
    (constant_in_the_order_of_popularity, {CONSTANT}),
    (donor_that_was_brought, {TRAINED_HERE}),
    (
        failed_rerun("arbitrary test labels change no model, score or choice"),
        {"arbitrary test labels change no model, score or choice"},
    ),
]
NAMES = [plant.__name__.replace("_", " ") for plant, _ in LEAKS]
NAMES[2:4], NAMES[-1] = ["TF-IDF on all items", "scaler on all items"], "a rerun that differs"


@pytest.mark.parametrize("plant, checks", LEAKS, ids=NAMES)
def test_a_planted_leak_is_found_by_its_check_and_by_no_other(plant, checks, place, monkeypatch):
    plant(monkeypatch)
    assert set(run_audit()) == checks


def test_a_stage_that_asks_for_a_file_that_it_was_not_given_is_refused():
    given = Job("fit_donor", {"train": "train.parquet"}, {"donor": "donor.npz"})
    with pytest.raises(IsolationError, match="stage 'fit_donor' asked for input 'test', which was not declared to it"):
        given.read_table("test")


def test_a_split_that_leaves_cold_interactions_in_train_is_refused_by_whoever_learns_and_named_by_the_audit(
    place, monkeypatch
):
    leaky_split(
        monkeypatch, lambda tables: tables | {"train": pa.concat_tables([tables["train"], tables["test"].slice(0, 1)])}
    )
    run_split(1)
    with pytest.raises(ValueError, match="holds interactions of cold items"):
        run_donor(1)
    # Nothing could be made anew, so the old results are out of date as well.
    assert set(run_audit()) == {IN_TRAIN, LOST, STALE}
