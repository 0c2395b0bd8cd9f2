# scores + held-out labels → seed-<s>/systems/<system>/<fold>/{per_query,per_item,strata}.parquet, pooled.json, lists.npy
# The first rule that reads test labels.

# Calibration asks how often each score occurs, and how often it is right.
COUNTS = (
    {"counts": f"{SYSTEM}/{{fold}}/counts.npz"}
    if any(experiment.calibration for experiment in EXPERIMENTS.values())
    else {}
)


rule evaluate:
    input:
        unpack(evaluate_inputs),
    output:
        **COUNTS,
        per_query=f"{SYSTEM}/{{fold}}/per_query.parquet",
        per_item=f"{SYSTEM}/{{fold}}/per_item.parquet",
        pooled=f"{SYSTEM}/{{fold}}/pooled.json",
        strata=f"{SYSTEM}/{{fold}}/strata.parquet",
        lists=f"{SYSTEM}/{{fold}}/lists.npy",
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/evaluate-{{fold}}.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/evaluate-{{fold}}.benchmark.tsv"
    wildcard_constraints:
        fold="test",
    # Scores can be large and are deleted once they are evaluated.
    priority: 1
    threads: 1
    params:
        files=files,
        spec=spec("evaluate"),
        code=plan.code("evaluate"),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: evaluating {wildcards.system} on {wildcards.fold}"
    shell:
        f"frostline evaluate {COMMAND}"


use rule evaluate as evaluate_val with:
    output:
        **COUNTS,
        per_query=f"{SYSTEM}/{{fold}}/per_query.parquet",
        per_item=f"{SYSTEM}/{{fold}}/per_item.parquet",
        pooled=f"{SYSTEM}/{{fold}}/pooled.json",
    wildcard_constraints:
        fold="val",
