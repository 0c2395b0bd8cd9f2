"""Stage `export`: the leaderboard for people, in Markdown and LaTeX, with marks of significance and definitions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from frostline.artifacts import Job
from frostline.definitions import WIDE_TIES, interval, measure, of_metrics
from frostline.marks import legend, marks
from frostline.tables import write_rows

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": "$|$",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "−": "$-$",
    "½": r"$\frac{1}{2}$",
    "₂": "$_2$",
    "–": "--",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u202f": r"\,",
    "▲": r"$^{\uparrow}$",
    "▼": r"$^{\downarrow}$",
    "°": r"$^{\circ}$",
}


def run(job: Job) -> None:
    """Read `leaderboard` and `significance`; write `markdown`, `latex` and the `definitions` of every metric."""
    rows = [row for row in job.read_table("leaderboard").to_pylist() if row["fold"] == "test"]
    compared = job.read_table("significance").to_pylist()
    job.write_text("markdown", markdown(rows, compared, job.params))
    job.write_text("latex", latex(rows, compared, job.params))
    metrics = dict.fromkeys(row["metric"] for row in rows)
    defined = [
        {"metric": metric, "definition": text}
        for metric in metrics
        for _, text in of_metrics([metric], job.params["baseline"])
    ]
    write_rows(job, "definitions_", defined, ["metric", "definition"])


def markdown(rows: Sequence[Mapping], compared: Sequence[Mapping], params: Mapping) -> str:
    """A row a system, a column a metric at the primary's k: mean, mark, ± sd over seeds, range of ties."""
    primary, metrics = params["primary"], _shown(rows, params)
    mark = marks(compared)
    cell = {(row["system"], row["metric"]): _cell(row, mark) for row in rows}
    of_primary = {row["system"]: row for row in rows if row["metric"] == primary}
    lines = [
        f"| system | kind | {primary} | 95 % interval | on scrambled labels | by popularity | {' | '.join(metrics[1:])} |",
        f"|---|---|---:|---:|---:|---:|{'---:|' * (len(metrics) - 1)}",
        *(
            f"| {system} | {row['kind']} | {cell[system, primary]} | {_figure(row['ci_low'])} to {_figure(row['ci_high'])}"
            f" | {_figure(row['scrambled'])} | {_figure(row['bucket_low'])} to {_figure(row['bucket_high'])}"
            f" | {' | '.join(cell[system, metric] for metric in metrics[1:])} |"
            for system, row in of_primary.items()
        ),
        "",
        f"{_test(params)}, {_spread(params)}; in brackets the worst and best "
        f"case of the order of tied candidates, where they are more than {WIDE_TIES} apart. "
        "Scrambled labels keep how active each user and how popular each item is, and nothing else. "
        "By popularity: the lowest and the highest mean among the buckets of the "
        f"{params['words']['candidates']} (tables/strata.csv).",
        "",
        legend(params["baseline"], _has_choice(compared), params["replicates"]),
        "",
        params["words"]["question"],
        "",
        *(
            f"- **{name}**: {text}"
            for name, text in [*_defined(metrics, params), ("Interval", interval(params["replicates"]))]
        ),
        *(f"- Left out: {system}, because it {reason}." for system, reason in params["left_out"].items()),
    ]
    return "\n".join(lines) + "\n"


def latex(rows: Sequence[Mapping], compared: Sequence[Mapping], params: Mapping) -> str:
    """The same figures as a `table` that needs no package but booktabs; the best competitor of a column is bold."""
    metrics = _shown(rows, params)
    mark = marks(compared)
    figures = {(row["system"], row["metric"]): row for row in rows}
    best = {
        metric: max(
            (r["mean"] for r in rows if (r["metric"], r["mean"] is None) == (metric, False) and _competes(r)),
            default=None,
        )
        for metric in metrics
    }
    lines = []
    for system in dict.fromkeys(row["system"] for row in rows):
        cells = []
        for metric in metrics:
            row = figures[system, metric]
            text = escape(_figure(row["mean"]).replace("-", "−"))
            if _competes(row) and row["mean"] is not None and row["mean"] == best[metric]:
                text = rf"\textbf{{{text}}}"
            text += "" if row["sd"] is None else rf" {{\scriptsize $\pm$ {row['sd']:.4f}}}"
            cells.append(text + escape(mark.get((system, metric), "")))
        lines.append(" & ".join([escape(system), *cells]) + r" \\")
    notes = [f"{name}: {text}" for name, text in _defined(metrics, params)]
    what = [
        f"{_test(params)}, {_spread(params)}.",
        legend(params["baseline"], _has_choice(compared), params["replicates"]),
        params["words"]["question"],
    ]
    about = " ".join([*what, *notes])
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{escape(params['experiment'])}}}",
            r"\centering\small",
            rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
            r"\toprule",
            " & ".join(["System", *(escape(measure(metric)) for metric in metrics)]) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\medskip\footnotesize {escape(about)}",
            r"\end{table}",
            "",
        ]
    )


def escape(text: str) -> str:
    """Text as LaTeX prints it, in ASCII.

    >>> escape("a_b & 50 % ▲")
    'a\\\\_b \\\\& 50 \\\\% $^{\\\\uparrow}$'
    """
    known = re.sub(r"[^\x20-\x7e]|[\\&%$#_{}~^|<>]", lambda found: _LATEX.get(found[0], found[0]), text)
    return re.sub(r"[^\x20-\x7e]", lambda found: rf"\symbol{{{ord(found[0])}}}", known)


def _shown(rows: Sequence[Mapping], params: Mapping) -> list[str]:
    """The metrics at the primary's k and those without one, the primary first."""
    primary = params["primary"]
    cut = primary.partition("@")[2] or str(max(params["k"]))
    metrics = [m for m in dict.fromkeys(row["metric"] for row in rows) if m.partition("@")[2] in ("", cut)]
    return sorted(metrics, key=lambda metric: metric != primary)


def _defined(metrics: Sequence[str], params: Mapping) -> list[tuple[str, str]]:
    return of_metrics(metrics, params["baseline"])


def _has_choice(compared: Sequence[Mapping]) -> bool:
    return any(row["comparison"] == "choice" for row in compared)


def _competes(row: Mapping) -> bool:
    return row["kind"] in ("system", "baseline")


def _spread(params: Mapping) -> str:
    n_seeds = len(params["seeds"])
    if n_seeds == 1:
        return "one seed"
    varied = f", which vary the model only: {params['words']['fixed']}" if params["replicates"] == "models" else ""
    return f"mean ± standard deviation over {n_seeds} seeds{varied}"


def _test(params: Mapping) -> str:
    test = params["words"]["test"]
    return test[0].upper() + test[1:]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _cell(row: Mapping, mark: Mapping) -> str:
    text = _figure(row["mean"]) + mark.get((row["system"], row["metric"]), "")
    text += "" if row["sd"] is None else f" ± {row['sd']:.4f}"
    if row["best"] is not None and row["best"] - row["worst"] > WIDE_TIES:
        text += f" [{row['worst']:.4f}, {row['best']:.4f}]"
    return text
