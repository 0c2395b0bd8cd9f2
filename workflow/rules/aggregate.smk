# every system's figures on every seed → tables/leaderboard.{parquet,csv,md}


rule aggregate:
    input:
        unpack(families(FIGURES)),
    output:
        parquet=f"{RESULTS}/tables/leaderboard.parquet",
        csv=f"{RESULTS}/tables/leaderboard.csv",
        markdown=f"{RESULTS}/tables/leaderboard.md",
    log:
        f"{LOGS}/aggregate.log",
    benchmark:
        f"{LOGS}/aggregate.benchmark.tsv"
    threads: 1
    params:
        files=family_files(FIGURES),
        spec=spec("aggregate"),
        code=plan.code("aggregate"),
        threads=1,
    message:
        "{wildcards.experiment}: tables"
    shell:
        f"frostline aggregate {COMMAND}"
