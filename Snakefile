# Entry point. `snakemake --cores 8` runs the experiments of config/config.yaml; another config: --configfile FILE.


import json
from pathlib import Path


# Only with --sdm apptainer: jobs then run in an image built from the Dockerfile; without it, where Snakemake runs.
container: "frostline.sif"


include: "workflow/rules/common.smk"
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
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/noninterference.smk"
include: "workflow/rules/significance.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/recommend.smk"


# The default target stays in this file: Snakemake ignores one in an included file.
rule all:
    default_target: True
    input:
        expand("results/{experiment}/report/index.html", experiment=NAMES),
        expand("results/{experiment}/tables/leaderboard.md", experiment=NAMES),


onsuccess:
    for experiment in NAMES:
        lists = Path("results", experiment, "recommend")
        if lists.exists():
            logger.info(f"New items: {lists.absolute()}")
        page = Path("results", experiment, "report", "index.html")
        if page.exists():
            logger.info(f"Report: {page.absolute()}")
            checks = json.loads(
                Path("results", experiment, "audit", "verdict.json").read_text()
            )["checks"]
            for name in (name for name, passed in checks.items() if not passed):
                logger.error(f"AUDIT FAILED: {experiment}: {name}")
