# item content + folds → seed-<s>/reference.npz, one neutral space fitted on warm items


rule reference:
    input:
        catalogue=f"{RESULTS}/ingest/items.parquet",
        items_=f"{SEED}/split/items.parquet",
    output:
        reference=f"{SEED}/reference.npz",
    log:
        f"{LOGS}/seed-{{seed}}/reference.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/reference.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("reference"),
        code=plan.code("reference"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: the space in which lists are compared"
    shell:
        f"frostline reference {COMMAND}"
