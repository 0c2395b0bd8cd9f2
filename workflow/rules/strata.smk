# every system's test figures by (query, stratum) → tables/strata.{parquet,csv}


DIVIDED = {
    name: pattern.replace("{fold}", "{tested}")
    for name, pattern in {
        **FIGURES,
        "strata": f"{SYSTEM}/{{fold}}/strata.parquet",
    }.items()
}


rule strata:
    input:
        unpack(families(DIVIDED)),
    output:
        parquet=f"{RESULTS}/tables/strata.parquet",
        csv=f"{RESULTS}/tables/strata.csv",
    log:
        f"{LOGS}/strata.log",
    benchmark:
        f"{LOGS}/strata.benchmark.tsv"
    threads: 1
    params:
        files=family_files(DIVIDED),
        spec=spec("strata"),
        code=plan.code("strata"),
        threads=1,
    message:
        "{wildcards.experiment}: figures by popularity, category and activity"
    shell:
        f"frostline strata {COMMAND}"
