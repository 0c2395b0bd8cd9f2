# the split's files, every choice and every figure, non-interference if it was asked for → audit/{split,lineage,content,ties,verdict}.json


AUDITED = FIGURES | {
    "quality": f"{RESULTS}/ingest/quality.json",
    "items_": f"{SEED}/split/items.parquet",
    "queries": f"{SEED}/split/queries.parquet",
    "train": f"{SEED}/split/train.parquet",
    "val": f"{RESULTS}/seed-{{choosing}}/split/val.parquet",
    "test": f"{SEED}/split/test.parquet",
    "strata": f"{SEED}/split/strata.parquet",
    "summary": f"{SEED}/split/summary.json",
    "chosen": f"{RESULTS}/seed-{{choosing}}/chosen.json",
    "taught": f"{SEED}/systems/{{meta}}/users.npz",
    "scored": f"{SEED}/systems/{{meta}}/test/users.npz",
    "warm_content": f"{RESULTS}/seed-{{encoded}}/content/warm.npz",
    "test_content": f"{RESULTS}/seed-{{encoded}}/content/test.npz",
    "catalogue": f"{RESULTS}/ingest/items.parquet",
    **{
        f"{what}_{fold}": f"{RESULTS}/seed-{{asked_{fold}}}/split/{what}-{fold}.parquet"
        for what in ("history", "excluded")
        for fold in ("val", "test")
    },
}


rule audit:
    input:
        unpack(lambda wildcards: families(AUDITED | proof(wildcards))(wildcards)),
    output:
        split=f"{RESULTS}/audit/split.json",
        lineage=f"{RESULTS}/audit/lineage.json",
        content=f"{RESULTS}/audit/content.json",
        ties=f"{RESULTS}/audit/ties.json",
        verdict=f"{RESULTS}/audit/verdict.json",
    log:
        f"{LOGS}/audit.log",
    benchmark:
        f"{LOGS}/audit.benchmark.tsv"
    threads: 1
    params:
        files=lambda wildcards, input, output: family_files(
            AUDITED | proof(wildcards)
        )(wildcards, input, output),
        spec=spec("audit"),
        code=lambda wildcards: plan.protocol_code(
            "audit", EXPERIMENTS[wildcards.experiment]
        ),
        threads=1,
    message:
        "{wildcards.experiment}: audit"
    shell:
        f"frostline audit {COMMAND}"
