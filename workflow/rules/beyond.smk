# every system's test lists + the reference space + histories → tables/{beyond,items}.{parquet,csv}


LISTED = {
    "lists": f"{SYSTEM}/{{tested}}/lists.npy",
    "per_query": f"{SYSTEM}/{{tested}}/per_query.parquet",
    "per_item": f"{SYSTEM}/{{tested}}/per_item.parquet",
    "reference": f"{SEED}/reference.npz",
    "items_": f"{SEED}/split/items.parquet",
    "train": f"{SEED}/split/train.parquet",
    "history": f"{SEED}/split/{{history}}.parquet",
}


rule beyond:
    input:
        unpack(families(LISTED)),
    output:
        parquet=f"{RESULTS}/tables/beyond.parquet",
        csv=f"{RESULTS}/tables/beyond.csv",
        items_parquet=f"{RESULTS}/tables/items.parquet",
        items_csv=f"{RESULTS}/tables/items.csv",
    log:
        f"{LOGS}/beyond.log",
    benchmark:
        f"{LOGS}/beyond.benchmark.tsv"
    threads: 1
    params:
        files=family_files(LISTED),
        spec=spec("beyond"),
        code=plan.code("beyond"),
        threads=1,
    message:
        "{wildcards.experiment}: coverage, novelty, diversity and coherence"
    shell:
        f"frostline beyond {COMMAND}"
