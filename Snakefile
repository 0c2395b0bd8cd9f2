# Entry point. `snakemake --cores 8` runs the experiments of config/config.yaml; another config: --configfile FILE.


# Only with --sdm apptainer: jobs then run in an image built from the Dockerfile; without it, where Snakemake runs.
container: "frostline.sif"


include: "workflow/rules/common.smk"
include: "workflow/rules/ingest.smk"
include: "workflow/rules/split.smk"
include: "workflow/rules/content.smk"
include: "workflow/rules/fit_donor.smk"
include: "workflow/rules/grid.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/fit_method.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"


# The default target stays in this file: Snakemake ignores one in an included file.
rule all:
    default_target: True
    input:
        expand("results/{experiment}/report/index.html", experiment=EXPERIMENTS),
