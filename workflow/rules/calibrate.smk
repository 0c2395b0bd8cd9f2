# every system's scores by how often they are right, on val and on test → tables/{calibration,reliability}.{parquet,csv}


COUNTED = {"counts": f"{SYSTEM}/{{fold}}/counts.npz"}


rule calibrate:
    input:
        unpack(families(COUNTED)),
    output:
        parquet=f"{RESULTS}/tables/calibration.parquet",
        csv=f"{RESULTS}/tables/calibration.csv",
        reliability_parquet=f"{RESULTS}/tables/reliability.parquet",
        reliability_csv=f"{RESULTS}/tables/reliability.csv",
    log:
        f"{LOGS}/calibrate.log",
    benchmark:
        f"{LOGS}/calibrate.benchmark.tsv"
    threads: 1
    params:
        files=family_files(COUNTED),
        spec=spec("calibrate"),
        code=plan.code("calibrate"),
        threads=1,
    message:
        "{wildcards.experiment}: what a score means as a probability"
    shell:
        f"frostline calibrate {COMMAND}"
