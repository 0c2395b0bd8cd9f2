# the verdict, all interactions, the catalogue and what was learned on val → recommend/: lists of the catalogue's new items


LEARNED = {
    "tuned": f"{SEED}/systems/{{tuned}}/tuned.json",
    "model": f"{SEED}/systems/{{meta}}/model.npz",
    "interactions": f"{RESULTS}/ingest/interactions.parquet",
    "catalogue": f"{RESULTS}/ingest/items.parquet",
    "verdict": f"{RESULTS}/audit/verdict.json",
}


rule recommend:
    input:
        unpack(families(LEARNED)),
    output:
        items_per_user_parquet=f"{RESULTS}/recommend/items_per_user.parquet",
        items_per_user_csv=f"{RESULTS}/recommend/items_per_user.csv",
        users_per_item_parquet=f"{RESULTS}/recommend/users_per_item.parquet",
        users_per_item_csv=f"{RESULTS}/recommend/users_per_item.csv",
        summary=f"{RESULTS}/recommend/summary.json",
    log:
        f"{LOGS}/recommend.log",
    benchmark:
        f"{LOGS}/recommend.benchmark.tsv"
    threads: 1
    params:
        files=family_files(LEARNED),
        spec=spec("recommend"),
        code=lambda wildcards: plan.recommend_code(EXPERIMENTS[wildcards.experiment]),
        threads=1,
    message:
        "{wildcards.experiment}: ranking the new items"
    shell:
        f"frostline recommend {COMMAND}"


# Not part of `all`: `snakemake new_items` asks for it.
rule new_items:
    input:
        expand("results/{experiment}/recommend/summary.json", experiment=NAMES),
