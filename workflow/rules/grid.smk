# every point of a system's grid scores the val items → seed-<s>/systems/<system>/grid.npy. No labels.


rule grid:
    input:
        unpack(learned_from),
        cold=f"{SEED}/content/val.npz",
    output:
        scores=temp(f"{SYSTEM}/grid.npy"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/grid.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/grid.benchmark.tsv"
    threads: 1
    params:
        files=files,
        spec=spec("grid"),
        code=lambda wildcards: plan.code(
            "grid", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} tries its grid"
    shell:
        f"frostline grid {COMMAND}"
