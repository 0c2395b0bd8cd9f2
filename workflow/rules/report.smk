# tables, audit, what ingest dropped → report/index.html

from pathlib import Path

from frostline.artifacts import digest_file

# What the page looks like is not in the code digest, which follows imports.
LOOKS = [
    digest_file(path)
    for path in sorted(Path(plan.__file__).with_name("report").iterdir())
    if path.suffix in (".j2", ".css", ".js")
]


rule report:
    input:
        unpack(calibration_tables),
        leaderboard=f"{RESULTS}/tables/leaderboard.parquet",
        significance=f"{RESULTS}/tables/significance.parquet",
        variance=f"{RESULTS}/tables/variance.parquet",
        tuning=f"{RESULTS}/tables/tuning.parquet",
        beyond=f"{RESULTS}/tables/beyond.parquet",
        strata=f"{RESULTS}/tables/strata.parquet",
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
        looks=LOOKS,
        threads=1,
    message:
        "{wildcards.experiment}: report"
    shell:
        f"frostline report {COMMAND}"
