"""The reliability plot: what probabilities promise against what is observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from frostline.numbers import PROSE, decimal
from frostline.report.charts import axis_over

SIZE, LEFT, BOTTOM = 320.0, 44.0, 40.0


def draw(curves: Mapping[str, Sequence[Mapping[str, Any]]], title: str) -> Markup:
    """Curves of bins, by method, in one square with the diagonal of perfect calibration.

    Parameters
    ----------
    curves : dict of sequences of dict
        Rows of `tables/reliability` of one system, by method.
    title : str
        Read out by screen readers, and unique on the page.
    """
    values = [row[axis] for rows in curves.values() for row in rows for axis in ("predicted", "observed")]
    across = axis_over(values, LEFT, SIZE - 8, 4)
    up = axis_over(values, SIZE - BOTTOM, 8, 4)
    parts = [
        Markup('<path class="reference chance" d="M{} {}L{} {}"/>').format(
            *map(_n, (across(0), up(0), across(across.ticks[-1]), up(up.ticks[-1])))
        )
    ]
    for tick in across.ticks:
        label = decimal(tick, across.decimals) if tick else "0"
        parts.append(
            Markup(
                '<path class="grid" d="M{x} {bottom}V8M{left} {y}H{right}"/>'
                '<text class="tick" x="{x}" y="{below}" text-anchor="middle">{label}</text>'
                '<text class="tick" x="{beside}" y="{middle}" text-anchor="end">{label}</text>'
            ).format(
                **{"x": _n(across(tick)), "y": _n(up(tick)), "left": _n(LEFT), "right": _n(SIZE - 8), "label": label},
                **{"bottom": _n(SIZE - BOTTOM), "below": _n(SIZE - BOTTOM + 16), "beside": _n(LEFT - 6)},
                middle=_n(up(tick) + 4),
            )
        )
    for (method, rows), kind in zip(curves.items(), ("system", "baseline"), strict=False):
        points = [(across(row["predicted"]), up(row["observed"])) for row in rows]
        line = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        dots = Markup("").join(
            Markup(
                '<circle class="mark {}" cx="{}" cy="{}" r="3.5"><title>{}: {} predicted, {} observed</title></circle>'
            ).format(*(kind, _n(x), _n(y), method, decimal(row["predicted"], PROSE), decimal(row["observed"], PROSE)))
            for (x, y), row in zip(points, rows, strict=True)
        )
        parts.append(Markup('<path class="curve interval {}" d="M{}"/>{}').format(kind, line, dots))
    parts.append(
        Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">predicted</text>').format(
            _n((LEFT + SIZE) / 2), _n(SIZE - 4)
        )
    )
    return Markup('<svg class="plot reliability" viewBox="0 0 {s} {s}" role="img"><title>{t}</title>{p}</svg>').format(
        s=_n(SIZE), t=title, p=Markup("").join(parts)
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
