# the publisher → the cache that all experiments share: only files that were nowhere when the run began


rule download:
    output:
        str(plan.cache() / "{file}"),
    log:
        "results/logs/download/{file}.log",
    wildcard_constraints:
        file="|".join(map(re.escape, DOWNLOADS)) or "(?!)",
    # Where the run was started, because the nodes of a cluster often reach no network.
    localrule: True
    threads: 1
    params:
        adapter=lambda wildcards: DOWNLOADS[wildcards.file][0],
        options=lambda wildcards: DOWNLOADS[wildcards.file][1],
    message:
        "downloading {wildcards.file}"
    shell:
        "frostline download {params.adapter:q} --options {params.options:q} --file {wildcards.file:q} --log {log:q}"
