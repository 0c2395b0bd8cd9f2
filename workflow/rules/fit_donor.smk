# warm interactions, with content or a file of the user's where the donor asks for it → seed-<s>/donors/<donor>/<point>/donor.npz


rule fit_donor:
    input:
        unpack(donor_inputs),
        train=f"{SEED}/split/train.parquet",
        items_=f"{SEED}/split/items.parquet",
        queries=f"{SEED}/split/queries.parquet",
    output:
        donor=f"{SEED}/donors/{{donor}}/{{point}}/donor.npz",
    log:
        f"{LOGS}/seed-{{seed}}/donor-{{donor}}-{{point}}.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/donor-{{donor}}-{{point}}.benchmark.tsv"
    # Most of what follows waits for a donor, so donors start before whatever else is ready.
    priority: 2
    threads: 1
    params:
        files=files,
        spec=spec("fit_donor"),
        code=lambda wildcards: plan.code(
            "fit_donor",
            "donors",
            EXPERIMENTS[wildcards.experiment].donors[wildcards.donor].name,
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: training donor {wildcards.donor}"
    shell:
        f"frostline fit_donor {COMMAND}"
