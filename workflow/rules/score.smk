# model, what the method needs, cold content → seed-<s>/systems/<system>/<fold>/scores.npy. No labels.


rule score:
    input:
        unpack(score_inputs),
        cold_val=f"{SEED}/content/val.npz",
        cold_test=f"{SEED}/content/test.npz",
    output:
        scores_val=scores_of("val"),
        scores_test=scores_of("test"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("free"),
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("score"),
        code=lambda wildcards: plan.code(
            "score", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} scores the cold items"
    shell:
        f"frostline score {COMMAND}"


# The val scores of a tuned system are the nested ones of `tune`.
use rule score as score_tuned with:
    input:
        unpack(score_inputs),
        cold_test=f"{SEED}/content/test.npz",
        tuned=f"{SYSTEM}/tuned.json",
    output:
        scores_test=scores_of("test"),
    wildcard_constraints:
        experiment=experiment_with("tuned"),


# A pseudo-cold fold is for learning, as val is, and nothing is reported of it.
use rule score as score_pseudo with:
    input:
        unpack(score_inputs),
        cold_val=f"{SEED}/content/val.npz",
    output:
        scores_val=scores_of("val"),
    wildcard_constraints:
        experiment=experiment_with("free"),
        seed=r"\d+/pseudo-\d+-\d+",
