# Entry point. `snakemake --cores 8` runs the experiments of config/config.yaml; another config: --configfile FILE.


# Only with --sdm apptainer: jobs then run in an image built from the Dockerfile; without it, where Snakemake runs.
container: "frostline.sif"


include: "workflow/rules/common.smk"
include: "workflow/rules/download.smk"
include: "workflow/rules/ingest.smk"
include: "workflow/rules/split.smk"
include: "workflow/rules/pseudo_split.smk"
include: "workflow/rules/content.smk"
include: "workflow/rules/fit_donor.smk"
include: "workflow/rules/grid.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/fit_method.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/fit_meta.smk"
include: "workflow/rules/score_meta.smk"
include: "workflow/rules/score_system.smk"
include: "workflow/rules/tune_system.smk"
include: "workflow/rules/stack.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/noninterference.smk"
include: "workflow/rules/strata.smk"
include: "workflow/rules/calibrate.smk"
include: "workflow/rules/reference.smk"
include: "workflow/rules/beyond.smk"
include: "workflow/rules/significance.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/accept.smk"
include: "workflow/rules/recommend.smk"


# The default target stays in this file: Snakemake ignores one in an included file.
rule all:
    default_target: True
    input:
        expand("results/{experiment}/report/index.html", experiment=NAMES),
        expand("results/{experiment}/tables/leaderboard.md", experiment=NAMES),
        expand("results/{experiment}/audit/accepted.txt", experiment=NAMES),


# Inside a job of a cluster, the Snakemake that runs a group runs its members itself. Otherwise slurm-jobstep would start
# another Snakemake for each, which takes longer than most of them.
if workflow.remote_exec:
    workflow.localrules(*(rule.name for rule in workflow.rules))


onsuccess:
    say_where_the_results_are()


# A run whose audit fails has its report all the same.
onerror:
    say_where_the_results_are()
