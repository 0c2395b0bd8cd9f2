# train, a fold's histories, items' content where asked for → seed-<s>/systems/<system>/<fold>/scores.npz. No labels.


rule score_system:
    input:
        unpack(asked_of("test")),
    output:
        scores=scores_of("test", "npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-test.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-test.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("free", "tuned", group=SYSTEMS),
    threads: 1
    params:
        files=files,
        spec=spec("score_system"),
        code=lambda wildcards: plan.code(
            "score_system", "systems", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} learns and scores"
    shell:
        f"frostline score_system {COMMAND}"


# The val scores of a tuned system are the nested ones of `tune_system`.
use rule score_system as score_system_val with:
    input:
        unpack(asked_of("val")),
    output:
        scores=scores_of("val", "npz"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-val.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-val.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("free", group=SYSTEMS),
