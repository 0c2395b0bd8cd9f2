# a fold of the warm items is played cold → seed-<s>/pseudo-<folds>-<part>/split/, from where the same rules go on. No cold item.


rule pseudo_split:
    input:
        items_=f"{SEED}/split/items.parquet",
        queries=f"{SEED}/split/queries.parquet",
        train=f"{SEED}/split/train.parquet",
    output:
        items_=f"{PSEUDO}/split/items.parquet",
        queries=f"{PSEUDO}/split/queries.parquet",
        train=f"{PSEUDO}/split/train.parquet",
        val=f"{PSEUDO}/split/val.parquet",
    log:
        f"{LOGS}/seed-{{seed}}/pseudo-{{folds}}-{{part}}/split.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/pseudo-{{folds}}-{{part}}/split.benchmark.tsv"
    wildcard_constraints:
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("pseudo_split"),
        code=plan.code("pseudo_split"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: playing warm fold {wildcards.part} of {wildcards.folds} cold"
    shell:
        f"frostline pseudo_split {COMMAND}"
