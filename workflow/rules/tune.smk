# grid scores + val labels → seed-<s>/systems/<system>/tuned.json, and nested.npy: the val scores of an honest choice


rule tune:
    input:
        grid=f"{SYSTEM}/grid.npy",
        items_=f"{SEED}/split/items.parquet",
        queries=f"{SEED}/split/queries.parquet",
        labels=f"{SEED}/split/val.parquet",
    output:
        tuned=f"{SYSTEM}/tuned.json",
        scores=temp(f"{SYSTEM}/nested.npy"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/tune.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/tune.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("tuned"),
    threads: 1
    params:
        files=files,
        spec=spec("tune"),
        code=plan.code("tune"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: tuning {wildcards.system} by val"
    shell:
        f"frostline tune {COMMAND}"
