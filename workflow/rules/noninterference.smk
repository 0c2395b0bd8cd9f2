# test labels changed in two ways, and everything again by the same rules → audit/noninterference.json
# Not part of `all`: `snakemake audit_noninterference` asks for it, and from then on it is kept up to date.


REPEATED = {
    "original": f"{SEED}/systems/{{scored}}/test/pooled.json",
    "original_chosen": f"{RESULTS}/seed-{{choosing}}/chosen.json",
} | {
    f"{run}{suffix}": f"{RESULTS}/noninterference/{run}/{file}"
    for run in RERUNS
    for suffix, file in (
        ("", "seed-{seed}/systems/{scored}/test/pooled.json"),
        ("_chosen", "seed-{choosing}/chosen.json"),
    )
}


rule audit_noninterference:
    input:
        expand("results/{experiment}/audit/noninterference.json", experiment=NAMES),
        expand("results/{experiment}/audit/accepted.txt", experiment=NAMES),


rule rewire:
    input:
        interactions=f"{RESULTS}/ingest/interactions.parquet",
        items_=f"{SEED}/split/items.parquet",
    output:
        interactions=f"{RESULTS}/noninterference/rewired/seed-{{seed}}/interactions.parquet",
    log:
        f"{LOGS}/seed-{{seed}}/rewire.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/rewire.benchmark.tsv"
    wildcard_constraints:
        experiment="[^/]+",
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("rewire"),
        code=lambda wildcards: plan.protocol_code(
            "rewire", EXPERIMENTS[wildcards.experiment]
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: other users for the test items"
    shell:
        f"frostline rewire {COMMAND}"


# An experiment's own split does not reach a rerun, and a rerun's split reads what was rewired.
use rule split as split_rewired with:
    input:
        interactions=f"{SEED}/interactions.parquet",
        catalogue=ingested("items.parquet"),
    wildcard_constraints:
        experiment=rewired(lambda p: p.parts == METHODS),
        seed=r"\d+",


use rule split_queries as split_queries_rewired with:
    input:
        interactions=f"{SEED}/interactions.parquet",
        catalogue=ingested("items.parquet"),
    wildcard_constraints:
        experiment=rewired(lambda p: p.parts == SYSTEMS and p.has_val),
        seed=r"\d+",


use rule split_queries_of_test as split_queries_of_test_rewired with:
    input:
        interactions=f"{SEED}/interactions.parquet",
        catalogue=ingested("items.parquet"),
    wildcard_constraints:
        experiment=rewired(lambda p: p.parts == SYSTEMS and not p.has_val),
        seed=r"\d+",


rule relabel:
    input:
        **{name: path for name, path in rules.split.output.items() if name != "test"},
    output:
        **relabelled(rules.split.output),
    log:
        f"{LOGS}/seed-{{seed}}/relabel.log",
    benchmark:
        f"{LOGS}/seed-{{seed}}/relabel.benchmark.tsv"
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == METHODS),
        seed=r"\d+",
    threads: 1
    params:
        files=files,
        spec=spec("relabel"),
        code=lambda wildcards: plan.protocol_code(
            "relabel", EXPERIMENTS[wildcards.experiment]
        ),
        threads=1,
    message:
        "{wildcards.experiment}, seed {wildcards.seed}: arbitrary test labels"
    shell:
        f"frostline relabel {COMMAND}"


use rule relabel as relabel_queries with:
    input:
        **{
            name: path
            for name, path in rules.split_queries.output.items()
            if name != "test"
        },
    output:
        **relabelled(rules.split_queries.output),
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == SYSTEMS and p.has_val),
        seed=r"\d+",


use rule relabel as relabel_queries_of_test with:
    input:
        **{
            name: path
            for name, path in rules.split_queries_of_test.output.items()
            if name != "test"
        },
    output:
        **relabelled(rules.split_queries_of_test.output),
    wildcard_constraints:
        experiment=experiments_where(lambda p: p.parts == SYSTEMS and not p.has_val),
        seed=r"\d+",


rule noninterference:
    input:
        unpack(families(REPEATED)),
    output:
        noninterference=f"{RESULTS}/audit/noninterference.json",
    log:
        f"{LOGS}/noninterference.log",
    benchmark:
        f"{LOGS}/noninterference.benchmark.tsv"
    threads: 1
    params:
        files=family_files(REPEATED),
        spec=spec("noninterference"),
        code=plan.code("noninterference"),
        threads=1,
    message:
        "{wildcards.experiment}: did changed test labels change anything?"
    shell:
        f"frostline noninterference {COMMAND}"
