# every system's test figures, each seed's choice → tables/{significance,variance}.{parquet,csv}


COMPARED = {
    name: pattern.replace("{fold}", "{tested}") for name, pattern in FIGURES.items()
} | {
    "chosen": f"{RESULTS}/seed-{{choosing}}/chosen.json",
    "summary": f"{SEED}/split/summary.json",
}


rule significance:
    input:
        unpack(families(COMPARED)),
    output:
        parquet=f"{RESULTS}/tables/significance.parquet",
        csv=f"{RESULTS}/tables/significance.csv",
        variance_parquet=f"{RESULTS}/tables/variance.parquet",
        variance_csv=f"{RESULTS}/tables/variance.csv",
    log:
        f"{LOGS}/significance.log",
    benchmark:
        f"{LOGS}/significance.benchmark.tsv"
    threads: 1
    params:
        files=family_files(COMPARED),
        spec=spec("significance"),
        code=plan.code("significance"),
        threads=1,
    message:
        "{wildcards.experiment}: is a difference more than chance?"
    shell:
        f"frostline significance {COMMAND}"
