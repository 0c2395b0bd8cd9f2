# meta-model + test scores of what it combines → seed-<s>/systems/<system>/test/{scores.npy,users.npz}. No labels.


rule score_meta:
    input:
        unpack(signal_inputs("test")),
        model=f"{SYSTEM}/model.npz",
        tuned=f"{SYSTEM}/tuned.json",
    output:
        scores=scores_of("test"),
        users=f"{SYSTEM}/test/users.npz",
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("meta"),
    threads: 1
    params:
        files=files,
        spec=spec("score_meta"),
        code=lambda wildcards: plan.code(
            "score_meta", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} scores the test items"
    shell:
        f"frostline score_meta {COMMAND}"
