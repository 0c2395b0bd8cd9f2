# scores of other systems on val + val labels → model.npz, tuned.json, nested.npz (out of fold); on test → test/scores.npz


rule fit_stack:
    input:
        unpack(combined("val")),
        labels=f"{SEED}/split/val.parquet",
    output:
        model=f"{SYSTEM}/model.npz",
        tuned=f"{SYSTEM}/tuned.json",
        scores=temp(f"{SYSTEM}/nested.npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("meta", group=SYSTEMS),
    threads: 1
    params:
        files=files,
        spec=spec("fit_stack"),
        code=lambda wildcards: plan.code(
            "fit_stack", "systems", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} learns to combine"
    shell:
        f"frostline fit_stack {COMMAND}"


rule score_stack:
    input:
        unpack(combined("test")),
        model=f"{SYSTEM}/model.npz",
        tuned=f"{SYSTEM}/tuned.json",
    output:
        scores=scores_of("test", "npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("meta", group=SYSTEMS),
    threads: 1
    params:
        files=files,
        spec=spec("score_stack"),
        code=lambda wildcards: plan.code(
            "score_stack", "systems", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} scores the queries of test"
    shell:
        f"frostline score_stack {COMMAND}"
