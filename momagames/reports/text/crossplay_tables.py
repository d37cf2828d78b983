"""Cross-play in words, and as tables for a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from momagames.analysis.statistics import Interval
from momagames.reports.data.crossplay import WINS, CrossPlay
from momagames.reports.text.terminal_tables import frame, span

OWN = "◇"  # marks a method against its own name


def caption(found: CrossPlay) -> str:
    """What the cells say."""
    told = []
    if WINS in found.tables:
        told.append(
            f"Win rate: share of the report games in which {found.objective!r} ends above the middle of its range (in it: "
            "half), by the policy of each method that won most in the games for selection"
        )
    told.append("Normalized HV: of the method's front against that opponent from that seat, criterion SER")
    if found.same:
        told.append(f"{OWN}: against the policy of the method's own name")
    for name, gap in found.gaps.items():
        told.append(f"{name}, own name less the others: {gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]")
    return "; ".join(told) + "."


def rating_caption(found: CrossPlay) -> str:
    """What the ratings mean, and what they do not see."""
    made = found.ratings
    if made is None:
        return ""
    anchor = next((name for name, at in made.of.items() if at.value == 0), "")
    told = (
        f"Bradley-Terry model of all games, {anchor!r} = 0; 400 more means ten wins to one. A pair that met has half a win "
        "more each way: who wins every game is rated by the number of games. Intervals are over episodes"
    )
    if made.cycle is None:
        return f"{told}. No three entrants all met each other, so that circles cannot be seen."
    names, residual = made.cycle
    if residual < 1:
        return f"{told}. No circles."
    return f"{told}. Largest circle, which no rating can tell: {' over '.join((*names, names[0]))}, {residual:.0f} points."


def ranked(found: CrossPlay) -> list[tuple[str, Interval]]:
    """The entrants with their ratings, the best first."""
    return sorted(found.ratings.of.items(), key=lambda item: -item[1].value) if found.ratings else []


def tables(found: CrossPlay) -> list[RenderableType]:
    """The same for a terminal."""
    made: list[RenderableType] = []
    for name, cells in found.tables.items():
        shown = frame("", "")
        shown.add_column("seat")
        shown.add_column("method", no_wrap=True)
        for opponent in found.opponents:
            shown.add_column(f"against\n{opponent}", justify="right")
        for seat in found.seats:
            for m in found.methods:
                own = [Text(f"{OWN} ") if (m, o) in found.same else Text() for o in found.opponents]
                values = [span(cells[seat, m, o]) for o in found.opponents]
                shown.add_row(seat, m, *(mark + value for mark, value in zip(own, values, strict=True)))
        made += [Text(f"{found.title}: {name}", "bold"), shown]
    made.append(Text(f"{caption(found)}\n", "dim italic"))
    if found.ratings:
        shown = frame("", "")
        shown.add_column("entrant")
        shown.add_column("Elo ↑", justify="right")
        for name, at in ranked(found):
            shown.add_row(name, span(at, ".0f"))
        made += [Text(f"{found.title}: ratings", "bold"), shown, Text(f"{rating_caption(found)}\n", "dim italic")]
    return made
