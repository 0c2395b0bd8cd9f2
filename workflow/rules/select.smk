# every system's val figures → seed-<s>/chosen.json. Nothing of the test fold.


VAL_FIGURES = {"pooled": FIGURES["pooled"]}


rule select:
    input:
        unpack(families(VAL_FIGURES, fold="val")),
    output:
        chosen=f"{SEED}/chosen.json",
    log:
        f"{LOGS}/seed-{{seed}}/select.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/select.benchmark.tsv"
    threads: 1
    params:
        files=family_files(VAL_FIGURES, fold="val"),
        spec=spec("select"),
        code=plan.code("select"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: choosing by val"
    shell:
        f"frostline select {COMMAND}"
