# ingest → seed-<s>/split/. The only rule that reads interactions.parquet.


rule split:
    input:
        interactions=f"{RESULTS}/ingest/interactions.parquet",
        catalogue=f"{RESULTS}/ingest/items.parquet",
    output:
        items_=f"{SEED}/split/items.parquet",
        queries=f"{SEED}/split/queries.parquet",
        train=f"{SEED}/split/train.parquet",
        val=f"{SEED}/split/val.parquet",
        test=f"{SEED}/split/test.parquet",
        strata=f"{SEED}/split/strata.parquet",
        summary=f"{SEED}/split/summary.json",
    log:
        f"{LOGS}/seed-{{seed}}/split.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/split.benchmark.tsv"
    wildcard_constraints:
        experiment="[^/]+",
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("split"),
        code=plan.code("split"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: drawing cold items"
    shell:
        f"frostline split {COMMAND}"
