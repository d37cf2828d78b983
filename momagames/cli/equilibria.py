"""Command `momagames equilibria`: pure Nash equilibria of interchangeable agents, by counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import Params, console, parse_parameters, parse_weights, print_facts, table
from momagames.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from momagames.baselines.symmetric import CrowdingGame, SymmetricGame


def equilibria(
    id: Annotated[str, typer.Argument(help="Id of a game of interchangeable agents, see `momagames list`.")],
    weights: Annotated[str, typer.Option(help="Weights of the objectives, such as 1,0 or by name [all equal].")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the start position.", min=0)] = 0,
    state: Annotated[Path | None, typer.Option(help="File with a start position as text, instead of a seed.")] = None,
    show: Annotated[int, typer.Option(help="Number of equilibria to show.", min=0)] = 5,
    param: Params = None,
) -> None:
    """Find all pure Nash equilibria of agents with the same weights, and the price of anarchy by objective.

    The agents choose once. An equilibrium is a table of counts: how many agents of each class take each option. Where the
    options are alike, it stands for all orders of them. The price is how much better the best average is than the worst one.
    """
    from momagames import registry
    from momagames.baselines.symmetric import compute_prices, find_counts_game
    from momagames.files.reading import read_text
    from momagames.fronts.generation import make_start

    game = registry.spec(id, **parse_parameters(param))
    position = make_start(game, seed if state is None else game.codec.read(read_text(state))).position
    names = [objective.name for objective in game.objectives]
    parsed = parse_weights(weights, game) if weights else (1.0,) * len(names)
    screen, by_counts = console(), find_counts_game(game, position)
    with screen.status("searching"):
        found, best = by_counts.list_equilibria(parsed), by_counts.find_best()
    print_facts(screen, [("equilibria", f"{len(found.counts):,}"), ("compared", count(found.tables, "outcome"))])
    if not len(found.counts):
        return
    averages = table("objective", numbers=("best average", "in equilibria, best", "worst", "price of anarchy"))
    columns = best, found.means.max(axis=0), found.means.min(axis=0), compute_prices(best, found.means)
    for name, *values in zip(names, *columns, strict=True):
        averages.add_row(name, *(f"{value:.6g}" for value in values))
    screen.print(averages)
    for number in range(min(show, len(found.counts))):
        screen.print(_show_counts(by_counts, f"equilibrium {number}", found.counts[number]))


def _show_counts(by_counts: CrowdingGame | SymmetricGame, title: str, counts: NDArray[Any]) -> Any:
    """Return a table of counts, int64[C, M]."""
    classes, options = counts.shape
    listing = table(title, numbers=by_counts.option_names or [f"option {option}" for option in range(options)])
    for name, row in zip(by_counts.class_names or [f"class {kind}" for kind in range(classes)], counts.tolist(), strict=True):
        listing.add_row(name, *map(str, row))
    return listing
