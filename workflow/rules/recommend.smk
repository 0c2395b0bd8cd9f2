# the verdict, all interactions, the catalogue and what was learned on val → recommend/: lists of new items


LEARNED = {
    "tuned": f"{SEED}/systems/{{tuned}}/tuned.json",
    "model": f"{SEED}/systems/{{meta}}/model.npz",
    "interactions": f"{RESULTS}/ingest/interactions.parquet",
    "catalogue": f"{RESULTS}/ingest/items.parquet",
    "verdict": f"{RESULTS}/audit/verdict.json",
}


rule recommend:
    input:
        unpack(lambda wildcards: families(LEARNED | new_items_of(wildcards))(wildcards)),
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
        files=lambda wildcards, input, output: family_files(
            LEARNED | new_items_of(wildcards)
        )(wildcards, input, output),
        spec=spec("recommend"),
        code=lambda wildcards: plan.recommend_code(EXPERIMENTS[wildcards.experiment]),
        threads=1,
    message:
        "{wildcards.experiment}: ranking the new items"
    shell:
        f"frostline recommend {COMMAND}"


rule read_new_items:
    input:
        file=lambda wildcards: NEW_ITEMS[wildcards.experiment],
        interactions=f"{RESULTS}/ingest/interactions.parquet",
    output:
        items_=f"{RESULTS}/recommend/new_items.parquet",
    log:
        f"{LOGS}/new_items.log",
    benchmark:
        f"{LOGS}/new_items.benchmark.tsv"
    wildcard_constraints:
        experiment="|".join(NEW_ITEMS) or "(?!)",
    threads: 1
    params:
        files=files,
        data=lambda wildcards: stamp(NEW_ITEMS[wildcards.experiment]),
        spec=spec("new_items"),
        code=plan.code("new_items"),
        threads=1,
    message:
        "{wildcards.experiment}: reading the new items"
    shell:
        f"frostline new_items {COMMAND}"


# Not part of `all`: `snakemake new_items` asks for it.
rule new_items:
    input:
        expand(
            "results/{experiment}/recommend/summary.json",
            experiment=[n for n in NAMES if EXPERIMENTS[n].protocol.parts == METHODS],
        ),
