# every system's figures on every seed and choice of a point → tables/leaderboard.{parquet,csv}, {tuning,left_out}.{parquet,csv}


AGGREGATED = FIGURES | {"tuned": f"{SEED}/systems/{{tuned}}/tuned.json"}


rule aggregate:
    input:
        unpack(families(AGGREGATED)),
    output:
        parquet=f"{RESULTS}/tables/leaderboard.parquet",
        csv=f"{RESULTS}/tables/leaderboard.csv",
        tuning_parquet=f"{RESULTS}/tables/tuning.parquet",
        tuning_csv=f"{RESULTS}/tables/tuning.csv",
        left_out_parquet=f"{RESULTS}/tables/left_out.parquet",
        left_out_csv=f"{RESULTS}/tables/left_out.csv",
    log:
        f"{LOGS}/aggregate.log",
    benchmark:
        f"{LOGS}/aggregate.benchmark.tsv"
    threads: 1
    params:
        files=family_files(AGGREGATED),
        spec=spec("aggregate"),
        code=plan.code("aggregate"),
        threads=1,
    message:
        "{wildcards.experiment}: tables"
    shell:
        f"frostline aggregate {COMMAND}"
