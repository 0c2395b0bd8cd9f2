# what the method needs of train, warm content and donor → seed-<s>/systems/<system>/model.npz


rule fit_method:
    input:
        unpack(lambda wildcards: learned_from(wildcards) | tuned_input(wildcards)),
    output:
        model=f"{SYSTEM}/model.npz",
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("free", "tuned"),
    threads: 1
    params:
        files=files,
        spec=spec("fit_method"),
        code=lambda wildcards: plan.code(
            "fit_method", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: fitting {wildcards.system}"
    shell:
        f"frostline fit_method {COMMAND}"
