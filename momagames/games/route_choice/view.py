"""Pictures and texts of MO-RouteChoice: the road network, with its traffic after the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Keys, Line, State
from momagames.games.route_choice.codec import measure_links, measure_routes
from momagames.games.route_choice.networks import Network
from momagames.render import canvas
from momagames.render.shapes import contrast, label
from momagames.render.vectors import Drawing

HEAD, FOOT, MARGIN = 46, 40, 40  # pixels of a picture of 560
WIDEST, THINNEST, NODE, MOST_NAMES, MOST_LINES = 15.0, 1.6, 14.0, 40, 40
ROAD, DARK_ROAD = canvas.color("#c9c5ba"), canvas.color("#474c55")
TOWN, DARK_TOWN = canvas.color("#2f3a4a"), canvas.color("#dfe4ea")
HEAT = tuple(map(canvas.color, ("#3f8fc4", "#7fb069", "#f2b632", "#d1351b")))  # free to jammed
BENDS = (0.0, 0.14, -0.14, 0.26, -0.26)
Curve = NDArray[np.float64]


def make_keys(choices: int) -> Keys:
    """Return the keys of the first ten routes."""
    return Keys({str(k): ((0,), k) for k in range(min(choices, 10))}, "digit: take this route")


def heat(share: float) -> canvas.Color:
    """Return the color of a share in 0..1 of the largest latency."""
    at = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    low = min(int(at), len(HEAT) - 2)
    return tuple(round(a + (b - a) * (at - low)) for a, b in zip(HEAT[low], HEAT[low + 1], strict=True))  # type: ignore[return-value]


def find_pair(state: State, viewer: str) -> int:
    """Return the OD pair of an agent."""
    return int(state["pair"][int(viewer.removeprefix("agent_"))])


def describe(network: Network, state: State, viewer: str | None) -> tuple[str, str]:
    """Describe a position in two lines, or what a viewer sees of it."""
    agents, pairs = int(state["agents"]), int(state["pairs"])
    if viewer is not None:
        origin, destination = (network.nodes[node] for node in network.pairs[find_pair(state, viewer)])
        return f"{viewer} goes from {origin} to {destination}, among {agents:,} agents", "color: latency of the free roads"
    start = f"{agents:,} agent{'s' * (agents != 1)}, {pairs:,} OD pair{'s' * (pairs != 1)}"
    if not state["ply"]:
        return f"{start}: to choose their routes", "color: latency of the free roads"
    flow = state["flow"][: int(state["links"])].astype(float)
    latency, toll = (float((flow * cost).sum()) / agents for cost in measure_links(state, flow))
    return f"{start}: mean latency {latency:.4g}, mean toll {toll:.4g}", "width: agents, color: latency"


def make_text(network: Network) -> Callable[..., list[Line]]:
    """Return the function that describes positions as text: each route with its agents, latency and cost."""
    names = network.name_routes()

    def format_text(state: State, last: Any = None, viewer: str | None = None) -> list[Line]:
        """Describe a position.

        viewer   show what this agent sees alone: its routes, with the latency of free roads
        """
        lines: list[Line] = [[(describe(network, state, viewer)[0], "")]]
        if viewer is not None:
            pair, free = find_pair(state, viewer), measure_links(state, np.zeros(len(network.ends)))[0]
            own = zip(network.routes[pair], (name for start, name in names if start == pair), strict=True)
            texts = [
                f"{k:2d} {name}: latency {free[list(route)].sum():.4g} if it is free" for k, (route, name) in enumerate(own)
            ]
            return [*lines, *([(text, "")] for text in texts)]
        counts, (latency, cost) = state["count"][: len(names)].tolist(), measure_routes(state)
        wide, digits, above, number = max(len(name) for _, name in names), len(str(max(counts))), -1, 0
        for (pair, name), count, slow, toll in zip(names, counts, latency, cost, strict=True):
            number = number + 1 if pair == above else 0
            above = pair
            if len(lines) <= MOST_LINES and (count or not state["ply"] or len(names) <= MOST_LINES):
                heading = f"{pair}:" if len(network.pairs) > 1 else ""
                line: Line = [(f"{heading}{number:2d} ", "dim"), (f"{name:{wide}}", "bold" if count else "")]
                lines.append([*line, (f" {count:{digits}d} agents, latency {slow:.4g}, cost {toll:.4g}", "")])
        return lines if len(names) <= MOST_LINES else [*lines, [(f"of {len(names):,} routes", "dim")]]

    return format_text


def bend(start: Curve, end: Curve, amount: float) -> Curve:
    """Return points of a curve between two points, float64[17, 2], whose middle is off the line by a share of its length."""
    middle = (start + end) / 2 + 2 * amount * np.array([start[1] - end[1], end[0] - start[0]])
    t = np.linspace(0, 1, 17)[:, None]
    return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end)


def shape_links(network: Network) -> list[Curve]:
    """Return the curve of each link in the unit square: straight if no node is near, else bent; two ways side by side."""
    ends = {tuple(pair) for pair in network.ends.tolist()}
    curves = []
    for here, there in network.ends.tolist():
        others = np.delete(network.places, [here, there], axis=0)
        ways = (0.05,) if (there, here) in ends else BENDS
        choices = [bend(network.places[here], network.places[there], way) for way in ways]
        room = [min(0.06, float(np.hypot(*(curve[:, None] - others).T).min(initial=1.0))) for curve in choices]
        curves.append(choices[int(np.argmax(room))])
    return curves


def make_picture(network: Network) -> Callable[..., canvas.Sheet]:
    """Return the function that draws positions of a network."""
    curves: list[Curve] = []

    def draw_picture(state: State, last: Any = None, size: int | None = None, viewer: str | None = None) -> canvas.Sheet:
        """Draw a position as an RGB image, uint8[S, S, 3].

        size     pixels of a side; None: `canvas.LONG_SIDE`
        viewer   show what this agent sees alone: its routes, without traffic
        """
        if not curves:
            curves.extend(shape_links(network))
        side = size or canvas.LONG_SIDE
        scale = side / canvas.LONG_SIDE
        sheet = canvas.paint(side, canvas.PAPER, *paint_network(network, curves, state, viewer))
        for text, y, letters in zip(describe(network, state, viewer), (16, 36), (15, 12), strict=True):
            ink = canvas.INK if letters == 15 else canvas.FAINT
            canvas.write(sheet, 14 * scale, y * scale, text, max(6, round(letters * scale)), ink)
        return sheet

    return draw_picture


def paint_network(network: Network, curves: list[Curve], state: State, viewer: str | None) -> list[canvas.Painter]:
    """Return the painters of a position: roads, traffic, numbers of agents, nodes, and a scale of colors."""
    unit = 1 / canvas.LONG_SIDE
    room = np.array([1 - 2 * MARGIN * unit, 1 - (HEAD + FOOT + 2 * MARGIN) * unit])
    corner = np.array([MARGIN, HEAD + MARGIN]) * unit
    is_over, few = bool(state["ply"]) and viewer is None, len(network.nodes) <= MOST_NAMES
    flow = state["flow"][: len(curves)] * float(is_over)
    used = flow > 0 if is_over else np.ones(len(curves), bool)
    if viewer is not None:
        routes = network.routes[find_pair(state, viewer)]
        used = np.isin(np.arange(len(curves)), [link for route in routes for link in route])
    latency = measure_links(state, flow)[0]
    largest = latency.max()
    shares = latency / largest if largest > 0 else latency
    painters: list[canvas.Painter] = []
    order = np.argsort(flow, kind="stable").tolist()
    lines = [corner + curve * room for curve in curves]
    for link in order:
        width = WIDEST * flow[link] / int(state["agents"]) if is_over else 2.0
        ink = heat(float(shares[link])) if used[link] else canvas.shade(ROAD, DARK_ROAD)
        painters.append(_paint_road(lines[link], max(width, THINNEST) * unit, ink, few))
    for link in order if is_over and few else ():
        if flow[link] > 0:
            x, y = lines[link][6]
            painters.append(_paint_sign(f"{int(flow[link]):,}", float(x), float(y), heat(float(shares[link]))))
    for node, at in enumerate(corner + network.places * room):
        painters.append(_paint_node(network.nodes[node] if few else "", float(at[0]), float(at[1])))
    return [*painters, _paint_scale(f"{largest:.4g}")]


def _paint_road(line: Curve, width: float, ink: canvas.Color, is_directed: bool) -> canvas.Painter:
    """Return the painter of a link: a line with round joints, and an arrowhead after its middle."""
    tip, ahead = line[11], line[12] - line[10]
    ahead = ahead / max(float(np.hypot(*ahead)), 1e-9)
    across, long = np.array([-ahead[1], ahead[0]]), 0.011 + width * 0.8
    back = tip - ahead * long * 0.4
    head = np.array([tip + ahead * long, back + across * long * 0.75, back - across * long * 0.75])

    def draw(drawing: Drawing, side: float) -> None:
        drawing.line([tuple(at) for at in (line * side).tolist()], fill=ink, width=max(1, round(width * side)), joint="curve")
        if is_directed:
            drawing.polygon([tuple(at) for at in (head * side).tolist()], fill=ink)

    return draw


def _paint_sign(text: str, x: float, y: float, ink: canvas.Color) -> canvas.Painter:
    """Return the painter of the number of agents on a link."""
    write = label(text, x, y, 11.5 / canvas.LONG_SIDE, contrast(ink))
    wide, high = (4 + 6.6 * len(text)) / 2 / canvas.LONG_SIDE, 8 / canvas.LONG_SIDE

    def draw(drawing: Drawing, side: float) -> None:
        box = [(x - wide) * side, (y - high) * side, (x + wide) * side, (y + high) * side]
        drawing.rounded_rectangle(box, radius=high * side * 0.6, fill=ink)
        write(drawing, side)

    return draw


def _paint_node(name: str, x: float, y: float) -> canvas.Painter:
    """Return the painter of a node, with its name if it is short."""
    ink, radius = canvas.shade(TOWN, DARK_TOWN), (NODE if name else NODE / 4) / canvas.LONG_SIDE
    write = label(name[:4], x, y, (13 if len(name) < 3 else 10) / canvas.LONG_SIDE, canvas.shade(canvas.WHITE, TOWN))

    def draw(drawing: Drawing, side: float) -> None:
        drawing.ellipse([(x - radius) * side, (y - radius) * side, (x + radius) * side, (y + radius) * side], fill=ink)
        if name:
            write(drawing, side)

    return draw


def _paint_scale(largest: str) -> canvas.Painter:
    """Return the painter of the scale of colors, from 0 to the largest latency of a link."""
    unit, parts, ink = 1 / canvas.LONG_SIDE, 40, canvas.shade(canvas.FAINT)
    left, top, long, high = 40 * unit, 1 - 26 * unit, 160 * unit, 10 * unit
    ends = (
        label("0", left - 12 * unit, top + high / 2, 12 * unit, ink),
        label(largest, left + long + (10 + 3.5 * len(largest)) * unit, top + high / 2, 12 * unit, ink),
    )

    def draw(drawing: Drawing, side: float) -> None:
        for part in range(parts):
            at = left + long * part / parts
            box = [at * side, top * side, (at + long / parts) * side, (top + high) * side]
            drawing.rectangle(box, fill=heat((part + 0.5) / parts))
        for write in ends:
            write(drawing, side)

    return draw
