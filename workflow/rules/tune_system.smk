# a system's grid on val → grid.npz (no labels); with the val labels → tuned.json, and nested.npz: scores of an honest choice


rule grid_system:
    input:
        unpack(asked_of("val")),
    output:
        scores=temp(f"{SYSTEM}/grid.npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/grid.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/grid.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("grid_system"),
        code=lambda wildcards: plan.code(
            "grid_system", "systems", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} tries its grid"
    shell:
        f"frostline grid_system {COMMAND}"


rule tune_system:
    input:
        grid=f"{SYSTEM}/grid.npz",
        queries=f"{SEED}/split/queries.parquet",
        excluded=f"{SEED}/split/excluded-val.parquet",
        labels=f"{SEED}/split/val.parquet",
    output:
        tuned=f"{SYSTEM}/tuned.json",
        scores=temp(f"{SYSTEM}/nested.npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/tune.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/tune.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("tuned", group=SYSTEMS),
    threads: 1
    params:
        files=files,
        spec=spec("tune_system"),
        code=plan.code("tune_system"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: tuning {wildcards.system} by val"
    shell:
        f"frostline tune_system {COMMAND}"
