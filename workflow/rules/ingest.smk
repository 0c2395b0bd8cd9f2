# data files → ingest/{interactions,items}.parquet, quality.json, for generated data truth.npz


rule ingest:
    input:
        unpack(lambda wildcards: DATA_FILES[wildcards.experiment]),
    output:
        interactions=f"{RESULTS}/ingest/interactions.parquet",
        items_=f"{RESULTS}/ingest/items.parquet",
        quality=f"{RESULTS}/ingest/quality.json",
    log:
        f"{LOGS}/ingest.log",
    benchmark:
        f"{LOGS}/ingest.benchmark.tsv"
    wildcard_constraints:
        experiment="|".join(name for name in NAMES if name not in GENERATED) or "(?!)",
    threads: 1
    params:
        files=files,
        # A file that was replaced by an older one is new data too.
        data=lambda wildcards: [
            stamp(path)
            for paths in DATA_FILES[wildcards.experiment].values()
            for _, path in numbered(paths)
        ],
        spec=spec("ingest"),
        code=lambda wildcards: plan.code(
            "ingest", "adapters", EXPERIMENTS[wildcards.experiment].data.adapter
        ),
        threads=1,
    message:
        "{wildcards.experiment}: reading the data"
    shell:
        f"frostline ingest {COMMAND}"


use rule ingest as ingest_generated with:
    output:
        interactions=f"{RESULTS}/ingest/interactions.parquet",
        items_=f"{RESULTS}/ingest/items.parquet",
        quality=f"{RESULTS}/ingest/quality.json",
        truth=f"{RESULTS}/ingest/truth.npz",
    wildcard_constraints:
        experiment="|".join(GENERATED) or "(?!)",
