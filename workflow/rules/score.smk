# model, what the method needs, the fold's cold content → seed-<s>/systems/<system>/<fold>/scores.npy. No labels.


rule score:
    input:
        unpack(score_inputs),
    output:
        scores=(
            f"{SYSTEM}/{{fold}}/scores.npy"
            if KEEP_SCORES
            else temp(f"{SYSTEM}/{{fold}}/scores.npy")
        ),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-{{fold}}.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/score-{{fold}}.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("score"),
        code=lambda wildcards: plan.code(
            "score", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} scores the {wildcards.fold} items"
    shell:
        f"frostline score {COMMAND}"
