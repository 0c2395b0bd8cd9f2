# tables/{leaderboard,significance} → tables/leaderboard.{md,tex}, tables/definitions.{parquet,csv}


rule export:
    input:
        leaderboard=f"{RESULTS}/tables/leaderboard.parquet",
        significance=f"{RESULTS}/tables/significance.parquet",
    output:
        markdown=f"{RESULTS}/tables/leaderboard.md",
        latex=f"{RESULTS}/tables/leaderboard.tex",
        definitions_parquet=f"{RESULTS}/tables/definitions.parquet",
        definitions_csv=f"{RESULTS}/tables/definitions.csv",
    log:
        f"{LOGS}/export.log",
    benchmark:
        f"{LOGS}/export.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("export"),
        code=plan.code("export"),
        threads=1,
    message:
        "{wildcards.experiment}: tables for people"
    shell:
        f"frostline export {COMMAND}"
