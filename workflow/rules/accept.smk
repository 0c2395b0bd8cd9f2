# the verdict, once all results are written → audit/accepted.txt, or an error that ends the run where a check failed


rule accept:
    input:
        verdict=f"{RESULTS}/audit/verdict.json",
        results=expand(
            "results/{name}/{file}",
            name=NAMES,
            file=("report/index.html", "tables/leaderboard.md"),
        ),
    output:
        accepted=f"{RESULTS}/audit/accepted.txt",
    log:
        f"{LOGS}/accept.log",
    benchmark:
        f"{LOGS}/accept.benchmark.tsv"
    threads: 1
    params:
        files=lambda wildcards, input, output: f"--input verdict={quote(input.verdict)} --output accepted={quote(output.accepted)}",
        spec=spec("accept"),
        code=plan.code("accept"),
        threads=1,
    message:
        "{wildcards.experiment}: does the audit hold?"
    shell:
        f"frostline accept {COMMAND}"
