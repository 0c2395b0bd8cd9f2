# item content + folds → seed-<s>/content/{warm,val,test}.npz, fitted on warm items


rule content:
    input:
        catalogue=ingested("items.parquet"),
        items_=f"{SEED}/split/items.parquet",
    output:
        warm=f"{SEED}/content/warm.npz",
        val=f"{SEED}/content/val.npz",
        test=f"{SEED}/content/test.npz",
        vocabulary=f"{SEED}/content/vocabulary.json",
    log:
        f"{LOGS}/seed-{{seed}}/content.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/content.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("content"),
        code=plan.code("content"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: encoding item content"
    shell:
        f"frostline content {COMMAND}"
