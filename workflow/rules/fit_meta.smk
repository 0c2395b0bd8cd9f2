# val scores of what is combined + val labels → seed-<s>/systems/<system>/{model.npz,tuned.json,users.npz}, and nested.npy, out of fold


rule fit_meta:
    input:
        unpack(signal_inputs("val")),
        unpack(pseudo_inputs),
        items_=f"{SEED}/split/items.parquet",
        queries=f"{SEED}/split/queries.parquet",
        labels=f"{SEED}/split/val.parquet",
    output:
        model=f"{SYSTEM}/model.npz",
        tuned=f"{SYSTEM}/tuned.json",
        users=f"{SYSTEM}/users.npz",
        scores=temp(f"{SYSTEM}/nested.npy"),
    log:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/{{system}}/fit.benchmark.tsv"
    wildcard_constraints:
        experiment=experiment_with("meta"),
    threads: 1
    params:
        files=files,
        spec=spec("fit_meta"),
        code=lambda wildcards: plan.code(
            "fit_meta", "methods", system_of(wildcards).method.name
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: {wildcards.system} learns from val labels"
    shell:
        f"frostline fit_meta {COMMAND}"
