# ingest → seed-<s>/split/. The only rule that reads interactions.parquet.

DIVIDED_IN_TWO = {
    "items_": f"{SEED}/split/items.parquet",
    "queries": f"{SEED}/split/queries.parquet",
    "train": f"{SEED}/split/train.parquet",
    "test": f"{SEED}/split/test.parquet",
    "strata": f"{SEED}/split/strata.parquet",
    "summary": f"{SEED}/split/summary.json",
}
DIVIDED_IN_THREE = DIVIDED_IN_TWO | {"val": f"{SEED}/split/val.parquet"}
# What is known of a query when it is asked, and what is no candidate of it.
ASKED = {
    fold: {
        f"{what}_{fold}": f"{SEED}/split/{what}-{fold}.parquet"
        for what in ("history", "excluded")
    }
    for fold in ("val", "test")
}


rule split:
    input:
        interactions=f"{RESULTS}/ingest/interactions.parquet",
        catalogue=f"{RESULTS}/ingest/items.parquet",
    output:
        **DIVIDED_IN_THREE,
    log:
        f"{LOGS}/seed-{{seed}}/split.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/split.benchmark.tsv"
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == METHODS),
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("split"),
        code=lambda wildcards: plan.protocol_code(
            "split", EXPERIMENTS[wildcards.experiment]
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: what is held out"
    shell:
        f"frostline split {COMMAND}"


use rule split as split_queries with:
    output:
        **DIVIDED_IN_THREE,
        **ASKED["val"],
        **ASKED["test"],
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == SYSTEMS and p.has_val),
        seed=r"\d+",


use rule split as split_queries_of_test with:
    output:
        **DIVIDED_IN_TWO,
        **ASKED["test"],
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == SYSTEMS and not p.has_val),
        seed=r"\d+",
