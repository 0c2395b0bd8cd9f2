"""The plot of the leaderboard as SVG: drawn by hand, so that the same figures give the same bytes.

Colours are classes and live in the style sheet, which knows about light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from frostline.numbers import PROSE, decimal, percent


@dataclass(frozen=True)
class Dot:
    """One system of the plot; what is undefined is None."""

    system: str
    kind: str
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    share: float | None = None
    scrambled: float | None = None
    is_chosen: bool = False

    def extent(self) -> list[float]:
        """Everything that the axis must show of it."""
        if self.mean is None:
            return []
        around = [self.mean - self.sd, self.mean + self.sd] if self.sd is not None else [self.mean]
        return [*around, *(bound for bound in (self.low, self.high, self.scrambled) if bound is not None)]


@dataclass(frozen=True)
class Frame:
    """Measures of the drawing, in its own units.

    Attributes
    ----------
    width, left, right : float
        Whole width, and the margins beside the axis.
    step : float
        Height of one row.
    is_narrow : bool
        Names and figures stand above their dots, for a phone, instead of beside them.
    """

    width: float
    left: float
    right: float
    step: float
    is_narrow: bool


WIDE = Frame(width=920, left=240, right=222, step=33, is_narrow=False)
NARROW = Frame(width=360, left=12, right=12, step=50, is_narrow=True)
TOP = 30


@dataclass(frozen=True)
class Axis:
    """A linear scale with round ticks."""

    ticks: tuple[float, ...]
    decimals: int
    start: float
    end: float

    def __call__(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def axis_over(values: Sequence[float], start: float, end: float, about: int) -> Axis:
    """The axis from a round number below all values, zero included, to one above, with about so many ticks."""
    low, high = min([0.0, *values]), max([0.0, *values])
    raw = (high - low or 1.0) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    factor = next(factor for factor in (1, 2, 5, 10) if raw <= factor * unit * (1 + 1e-9))
    step = factor * unit
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, max(last, first + 1) + 1))
    return Axis(ticks, max(0, -math.floor(math.log10(step) + 1e-9)), start, end)


def leaderboard(
    dots: Sequence[Dot], baseline: str, chance: float | None, title: str, frame: Frame, name: str
) -> Markup:
    """Draw the dots in the given order.

    Parameters
    ----------
    dots : sequence of Dot
    baseline : str
        System whose mean a vertical line marks.
    chance : float or None
        Where the line of chance stands.
    title : str
        Read out by screen readers.
    frame : Frame
    name : str
        Prefix of the ids inside the drawing, unique on the page.
    """
    values = [value for dot in dots for value in dot.extent()] + ([] if chance is None else [chance])
    axis = axis_over(values, frame.left, frame.width - frame.right, 4 if frame.is_narrow else 6)
    bottom = TOP + frame.step * len(dots) + 4
    parts = [_grid(axis, bottom), _references(dots, baseline, chance, axis, bottom, frame)]
    if not frame.is_narrow:
        parts.append(_heads(frame, has_share=any(dot.share is not None for dot in dots)))
    parts += [_row(dot, axis, TOP + frame.step * number, frame) for number, dot in enumerate(dots)]
    described = "; ".join(f"{dot.system} ({dot.kind}) {_figures(dot)}" for dot in dots)
    return Markup(
        '<svg class="plot {}" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-title" aria-describedby="{}-desc">'
        '<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>{}</svg>'
    ).format(
        "narrow" if frame.is_narrow else "wide",
        *(_n(frame.width), _n(bottom + 26), name, name, name, title, name, described, Markup("").join(parts)),
    )


def mark(kind: str, x: float, y: float, size: float = 6) -> Markup:
    """The sign of a kind: told apart by its shape as well as by its colour."""
    r = size
    shapes = {
        "system": f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}"',
        "baseline": f'<rect x="{_n(x - 0.88 * r)}" y="{_n(y - 0.88 * r)}" width="{_n(1.76 * r)}" height="{_n(1.76 * r)}"',
        "control": f'<path d="M{_n(x)} {_n(y - 1.1 * r)}l{_n(1.1 * r)} {_n(1.1 * r)}l{_n(-1.1 * r)} {_n(1.1 * r)}'
        f'l{_n(-1.1 * r)} {_n(-1.1 * r)}z"',
        "oracle": f'<path d="M{_n(x)} {_n(y - 1.15 * r)}l{_n(1.1 * r)} {_n(2 * r)}h{_n(-2.2 * r)}z"',
    }
    return Markup(shapes.get(kind, shapes["system"])) + Markup(' class="mark {}"/>').format(kind)


def _grid(axis: Axis, bottom: float) -> Markup:
    lines = Markup("").join(
        Markup(
            '<path class="{}" d="M{} {}V{}"/><text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>'
        ).format(
            *("zero" if tick == 0 else "grid", x, TOP - 4, _n(bottom), x, _n(bottom + 17)),
            decimal(tick, axis.decimals) if tick else "0",
        )
        for tick in axis.ticks
        for x in [_n(axis(tick))]
    )
    return Markup("<g>{}</g>").format(lines)


def _references(
    dots: Sequence[Dot], baseline: str, chance: float | None, axis: Axis, bottom: float, frame: Frame
) -> Markup:
    """Vertical lines at the baseline and at chance; on a phone their names are in the legend."""
    base = next((dot.mean for dot in dots if dot.system == baseline), None)
    marked = sorted((value, kind) for value, kind in ((base, "baseline"), (chance, "chance")) if value is not None)
    parts = []
    for position, (value, kind) in enumerate(marked):
        x = axis(value)
        parts.append(Markup('<path class="reference {}" d="M{} {}V{}"/>').format(kind, _n(x), TOP - 14, _n(bottom)))
        # The label of the lower one ends at its line, so that the two never meet.
        shift, anchor = (3, "end") if position < len(marked) - 1 else (-3, "start")
        if not frame.is_narrow:
            parts.append(
                Markup('<text class="reference {}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
                    kind, _n(x + shift), TOP - 18, anchor, kind
                )
            )
    return Markup("").join(parts)


def _heads(frame: Frame, has_share: bool) -> Markup:
    """What the figures on the right are."""
    edge = frame.width - frame.right
    heads = [(edge + 20, "start", "mean"), (edge + 62, "start", "interval")]
    heads += [(frame.width, "end", "of the possible")] if has_share else []
    return Markup("").join(
        Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(_n(x), TOP - 18, anchor, text)
        for x, anchor, text in heads
    )


def _row(dot: Dot, axis: Axis, top: float, frame: Frame) -> Markup:
    y = top + (frame.step - 15 if frame.is_narrow else frame.step / 2)
    text = top + 20 if frame.is_narrow else y + 4.5
    label = Markup('<text class="label {}{}" x="{}" y="{}"{}>{}</text>').format(
        *(dot.kind, " chosen" if dot.is_chosen else "", _n(frame.left - (0 if frame.is_narrow else 22)), _n(text)),
        *("" if frame.is_narrow else Markup(' text-anchor="end"'), shorten(dot.system, 34 if frame.is_narrow else 27)),
    )
    return Markup("<g><title>{}</title>{}{}{}</g>").format(
        f"{dot.system}: {_figures(dot)}", label, _written(dot, text, frame), _drawn(dot, axis, y)
    )


def _written(dot: Dot, y: float, frame: Frame) -> Markup:
    """The figures beside a dot, as text."""
    edge = frame.width - frame.right
    if frame.is_narrow:
        return Markup('<text class="value" x="{}" y="{}" text-anchor="end">{}</text>').format(
            _n(edge), _n(y), decimal(dot.mean, PROSE)
        )
    interval = "" if dot.low is None else f"{decimal(dot.low, PROSE)} to {decimal(dot.high, PROSE)}"
    return Markup(
        '<text class="value" x="{}" y="{}">{}</text><text class="interval" x="{}" y="{}">{}</text>'
        '<text class="interval" x="{}" y="{}" text-anchor="end">{}</text>'
    ).format(
        *(_n(edge + 20), _n(y), decimal(dot.mean, PROSE), _n(edge + 62), _n(y), interval),
        *(_n(frame.width), _n(y), "" if dot.share is None else percent(dot.share, 0)),
    )


def _drawn(dot: Dot, axis: Axis, y: float) -> Markup:
    """The sign, its interval as a thin line, its standard deviation as a bar."""
    if dot.mean is None:
        return Markup("")
    parts = []
    if dot.sd is not None:
        start, end = axis(dot.mean - dot.sd), axis(dot.mean + dot.sd)
        parts.append(
            Markup('<rect class="sd {}" x="{}" y="{}" width="{}" height="9" rx="2"/>').format(
                dot.kind, _n(start), _n(y - 4.5), _n(end - start)
            )
        )
    if dot.low is not None and dot.high is not None:
        low, high = _n(axis(dot.low)), _n(axis(dot.high))
        parts.append(
            Markup('<path class="interval {}" d="M{} {}H{}M{} {}v8M{} {}v8"/>').format(
                *(dot.kind, low, _n(y), high, low, _n(y - 4), high, _n(y - 4))
            )
        )
    if dot.scrambled is not None:
        x = _n(axis(dot.scrambled))
        parts.append(Markup('<path class="scrambled {}" d="M{} {}v13"/>').format(dot.kind, x, _n(y - 6.5)))
    parts.append(mark(dot.kind, axis(dot.mean), y))
    return Markup("").join(parts)


def _figures(dot: Dot) -> str:
    if dot.mean is None:
        return "undefined"
    text = decimal(dot.mean, PROSE)
    if dot.sd is not None:
        text += f", sd {decimal(dot.sd, PROSE)}"
    if dot.low is not None:
        text += f", interval {decimal(dot.low, PROSE)} to {decimal(dot.high, PROSE)}"
    if dot.scrambled is not None:
        text += f", on scrambled labels {decimal(dot.scrambled, PROSE)}"
    return text if dot.share is None else f"{text}, {percent(dot.share, 0)} of what is possible"


def shorten(text: str, longest: int) -> str:
    """A text that fits, its middle left out if it must.

    >>> shorten("grouped_popularity_personal", 15)
    'grouped…ersonal'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) - (longest - 1) // 2
    return f"{text[:head]}…{text[len(text) - (longest - 1) // 2 :]}"


def _n(value: float) -> str:
    """A coordinate: short, and the same on every machine."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"
