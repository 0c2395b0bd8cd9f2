# tables, audit, what ingest dropped → report/index.html


rule report:
    input:
        leaderboard=f"{RESULTS}/tables/leaderboard.parquet",
        quality=f"{RESULTS}/ingest/quality.json",
        split=f"{RESULTS}/audit/split.json",
        lineage=f"{RESULTS}/audit/lineage.json",
        verdict=f"{RESULTS}/audit/verdict.json",
    output:
        page=f"{RESULTS}/report/index.html",
    log:
        f"{LOGS}/report.log",
    benchmark:
        f"{LOGS}/report.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("report"),
        code=plan.code("report"),
        threads=1,
    message:
        "{wildcards.experiment}: report"
    shell:
        f"frostline report {COMMAND}"
