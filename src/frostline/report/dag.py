"""The pipeline as a picture: a layered drawing, left to right, of the stages that really ran.

Stages stand in layers by the longest path that leads to them. An edge to the next layer is a curve; a longer one runs
in a lane of its own, above the stages, or below them if it carries labels, so that nobody has to hunt for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

LABELS = ("val.parquet", "test.parquet")
"""Files of held-out interactions."""

NODE_WIDTH, NODE_GAP, PORT, MARGIN = 86, 40, 14, 2
LINE, CHARACTER = 14, 6.2
"""Height of a line of file names, and about the width of a letter in it."""


@dataclass(frozen=True)
class Edge:
    """Files that go from a stage to another; labels and other files are separate edges."""

    source: str
    target: str
    files: tuple[str, ...]
    is_label: bool
    is_back: bool = False


@dataclass(frozen=True)
class Box:
    """A stage's place: left edge, middle and height."""

    x: float
    y: float
    height: float


def edges_of(graph: Iterable[Mapping]) -> list[Edge]:
    """Edges of the lineage's graph, held-out interactions apart; one that closes a circle is marked `is_back`."""
    edges = []
    for entry in graph:
        held_out = tuple(file for file in entry["files"] if file in LABELS and entry["source"] == "split")
        other = tuple(file for file in entry["files"] if file not in held_out)
        for files, is_label in ((other, False), (held_out, True)):
            if files:
                edges.append(Edge(entry["source"], entry["target"], files, is_label))
    back = _back_edges({(edge.source, edge.target) for edge in edges})
    return [replace(edge, is_back=(edge.source, edge.target) in back) for edge in edges]


def _back_edges(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Edges that a walk from the sources finds to lead back to where it came from."""
    targets = {source: sorted(b for a, b in pairs if a == source) for source in sorted({a for a, _ in pairs})}
    entered = {b for _, b in pairs}
    back: set[tuple[str, str]] = set()
    done: set[str] = set()

    def walk(stage: str, path: tuple[str, ...]) -> None:
        for target in targets.get(stage, ()):
            if target in (*path, stage):
                back.add((stage, target))
            elif target not in done:
                walk(target, (*path, stage))
        done.add(stage)

    for stage in sorted(targets, key=lambda stage: (stage in entered, stage)):
        if stage not in done:
            walk(stage, ())
    return back


def layers_of(edges: Iterable[Edge]) -> dict[str, int]:
    """Layer of each stage: the length of the longest path to it."""
    forward = {(edge.source, edge.target) for edge in edges if not edge.is_back}
    layer = {stage: 0 for edge in edges for stage in (edge.source, edge.target)}
    for _ in layer:
        for source, target in sorted(forward):
            layer[target] = max(layer[target], layer[source] + 1)
    return layer


def lanes_of(edges: Sequence[Edge], layer: Mapping[str, int]) -> dict[Edge, int]:
    """Lane of each edge that passes a layer: the first, shortest edges first, that is free on its way."""
    lane: dict[Edge, int] = {}
    taken: dict[tuple[bool, int], set[int]] = {}
    for edge in sorted(
        edges, key=lambda e: (abs(layer[e.target] - layer[e.source]), -layer[e.source], e.source, e.target)
    ):
        passed = _passed(edge, layer)
        if passed:
            below = edge.is_label or edge.is_back
            lane[edge] = next(n for n in range(len(edges)) if not passed & taken.get((below, n), set()))
            taken.setdefault((below, lane[edge]), set()).update(passed)
    return lane


def _passed(edge: Edge, layer: Mapping[str, int]) -> set[int]:
    if edge.is_back:
        return set(range(layer[edge.target], layer[edge.source] + 1))
    return set(range(layer[edge.source] + 1, layer[edge.target]))


class Drawing:
    """Places of the stages and of the edges' ends."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.layer = layers_of(edges)
        self.lane = lanes_of(edges, self.layer)
        self.columns = self._columns()
        self.names = {edge: self._lines(edge) for edge in edges}
        above, top = self._lanes(below=False)
        self.band = MARGIN + top + 10
        self.boxes, band_end = self._boxes()
        below, bottom = self._lanes(below=True)
        self.lane_y = {edge: self.band - 10 - y for edge, y in above.items()}
        self.lane_y |= {edge: band_end + y for edge, y in below.items()}
        self.width = max((box.x for box in self.boxes.values()), default=0) + NODE_WIDTH + MARGIN
        self.height = band_end + bottom + 10
        self.leaves = self._ports(lambda edge: edge.source, lambda edge: edge.target)
        self.enters = self._ports(lambda edge: edge.target, lambda edge: edge.source)

    def _columns(self) -> list[float]:
        """Left edge of each layer: the gap before it fits the file names in it."""
        steps = [edge for edge in self.edges if edge not in self.lane]
        columns = [float(MARGIN)]
        for number in range(1, 1 + max(self.layer.values(), default=0)):
            names = [file for edge in steps if self.layer[edge.target] == number for file in edge.files]
            longest = max(map(len, names), default=0)
            columns.append(columns[-1] + NODE_WIDTH + max(48.0, longest * CHARACTER + 22))
        return columns

    def lane_ends(self, edge: Edge) -> tuple[float, float]:
        """Where an edge is in its lane: from the layer after its source to the one before its target."""
        if edge.is_back:
            return self.columns[self.layer[edge.source]] + NODE_WIDTH + 20, self.columns[self.layer[edge.target]] - 20
        first, last = self.layer[edge.source] + 1, self.layer[edge.target] - 1
        return self.columns[first], self.columns[last] + NODE_WIDTH

    def _lines(self, edge: Edge) -> list[str]:
        """File names in as many lines as its lane needs, or one below the other where there is no lane."""
        if edge not in self.lane:
            return list(edge.files)
        start, end = self.lane_ends(edge)
        fits = int((abs(end - start) + 24) / CHARACTER)
        lines = [edge.files[0]]
        for file in edge.files[1:]:
            if len(lines[-1]) + 3 + len(file) <= fits:
                lines[-1] += f" · {file}"
            else:
                lines.append(file)
        return lines

    def _lanes(self, below: bool) -> tuple[dict[Edge, float], float]:
        """Distance of each lane from the stages, room for its names included, and that of the last."""
        here = {edge: number for edge, number in self.lane.items() if (edge.is_label or edge.is_back) == below}
        distance: dict[Edge, float] = {}
        y = 0.0
        for number in sorted(set(here.values())):
            lane = [edge for edge in here if here[edge] == number]
            room = 10 + LINE * max(len(self.names[edge]) for edge in lane)
            distance |= dict.fromkeys(lane, y + room if below else y)
            y += room
        return distance, y

    def _boxes(self) -> tuple[dict[str, Box], float]:
        columns: dict[int, list[str]] = {}
        for stage, number in sorted(self.layer.items()):
            columns.setdefault(number, []).append(stage)
        height = {stage: self._height(stage) for stage in self.layer}
        tall = {n: sum(height[s] for s in stages) + NODE_GAP * (len(stages) - 1) for n, stages in columns.items()}
        band = max(tall.values(), default=0)
        boxes = {}
        for number, stages in columns.items():
            y = self.band + (band - tall[number]) / 2
            for stage in stages:
                boxes[stage] = Box(self.columns[number], y + height[stage] / 2, height[stage])
                y += height[stage] + NODE_GAP
        return boxes, self.band + band

    def _height(self, stage: str) -> float:
        ends = [sum(edge.source == stage for edge in self.edges), sum(edge.target == stage for edge in self.edges)]
        return max(36, 12 + PORT * max(ends))

    def _ports(self, own, other) -> dict[Edge, float]:
        """Height at which each edge leaves or enters its stage, in the order of where it goes, to avoid crossings."""
        ports: dict[Edge, float] = {}
        for stage, box in self.boxes.items():
            here = [edge for edge in self.edges if own(edge) == stage]
            here.sort(key=lambda e: (self.lane_y[e] if e in self.lane else self.boxes[other(e)].y, e.target, e.source))
            for number, edge in enumerate(here):
                ports[edge] = box.y + (number - (len(here) - 1) / 2) * PORT
        return ports


def draw(graph: Sequence[Mapping], title: str) -> Markup:
    """The whole picture as SVG."""
    drawing = Drawing(edges_of(graph))
    ordered = sorted(drawing.edges, key=lambda edge: edge.is_label)
    parts = [_curve(edge, drawing) for edge in ordered]
    parts += [_names(edge, drawing) for edge in ordered]
    parts += [_stage(stage, box) for stage, box in sorted(drawing.boxes.items())]
    described = "; ".join(f"{edge.source} to {edge.target}: {', '.join(edge.files)}" for edge in drawing.edges)
    width, height = round(drawing.width), round(drawing.height)
    return Markup(
        '<svg class="dag" viewBox="0 0 {} {}" style="min-width:{}px" role="img" '
        'aria-labelledby="dag-title" aria-describedby="dag-desc">'
        '<title id="dag-title">{}</title><desc id="dag-desc">{}</desc><defs>{}{}</defs>{}</svg>'
    ).format(
        *(width, height, min(round(width * 0.78), 1080), title, described),
        *(_arrow("arrow", "edge"), _arrow("arrow-label", "edge held-out"), Markup("").join(parts)),
    )


def _arrow(name: str, classes: str) -> Markup:
    return Markup(
        '<marker id="{}" class="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .8L7.5 4L0 7.2z"/></marker>'
    ).format(name, classes)


def _curve(edge: Edge, drawing: Drawing) -> Markup:
    start, end = drawing.boxes[edge.source].x + NODE_WIDTH, drawing.boxes[edge.target].x - 1
    leave, enter = drawing.leaves[edge], drawing.enters[edge]
    if edge in drawing.lane:
        first, last, lane = *drawing.lane_ends(edge), drawing.lane_y[edge]
        path = f"M{start:.1f} {leave:.1f}{_bend(start, leave, first, lane)}H{last:.1f}{_bend(last, lane, end, enter)}"
    else:
        path = f"M{start:.1f} {leave:.1f}{_bend(start, leave, end, enter)}"
    return Markup('<path class="edge{}" d="{}" marker-end="url(#{})"/>').format(
        " held-out" if edge.is_label else "", path, "arrow-label" if edge.is_label else "arrow"
    )


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _names(edge: Edge, drawing: Drawing) -> Markup:
    lines = drawing.names[edge]
    if edge in drawing.lane:
        first, last = drawing.lane_ends(edge)
        x, y = (first + last) / 2, drawing.lane_y[edge] - 4 - LINE * (len(lines) - 1)
    else:
        x = (drawing.boxes[edge.source].x + NODE_WIDTH + drawing.boxes[edge.target].x) / 2
        y = (drawing.leaves[edge] + drawing.enters[edge]) / 2 + 4 - LINE * (len(lines) - 1) / 2
    return Markup("").join(
        Markup('<text class="file{}" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(
            " held-out" if edge.is_label else "", x, y + LINE * number, line
        )
        for number, line in enumerate(lines)
    )


def _stage(stage: str, box: Box) -> Markup:
    return Markup(
        '<g class="stage"><rect x="{}" y="{}" width="{}" height="{}" rx="6"/>'
        '<text x="{}" y="{}" text-anchor="middle">{}</text></g>'
    ).format(
        *(f"{box.x:.1f}", f"{box.y - box.height / 2:.1f}", NODE_WIDTH, f"{box.height:.1f}"),
        *(f"{box.x + NODE_WIDTH / 2:.1f}", f"{box.y + 4:.1f}", stage),
    )
