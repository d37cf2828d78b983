"""The commands `momagames train`, `momagames eval` and `momagames exploit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import INTERRUPTED, Params, console, parameters, progress, table

if TYPE_CHECKING:
    from momagames.benchmark.plan import Opponent
    from momagames.benchmark.training import Training

Options = Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the method.")]
Opponents = Annotated[
    list[str] | None,
    typer.Option("--opponent", help="Whom it meets: a policy, or a checkpoint [random, if anybody]."),
]


def train(
    id: Annotated[str, typer.Argument(help="Such as mo-samegame-v0.")],
    budget: Annotated[float, typer.Option(help="Steps of the engine.", min=1)] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of all luck.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="The folder [training/ID-SEED]. Training that is there goes on.")] = None,
    deal: Annotated[int | None, typer.Option(help="Seed of the one deal of all games [each is a new one].", min=0)] = None,
    agent: Annotated[list[str] | None, typer.Option(help="An agent that it learns to play [one of each side].")] = None,
    opponent: Opponents = None,
    evaluations: Annotated[int, typer.Option(help="How often its policies play, over the budget.", min=1)] = 20,
    episodes: Annotated[int, typer.Option(help="Games that each plays then, with each opponent and seat.", min=1)] = 32,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Show it in Weights & Biases too.")] = None,
    option: Options = None,
    param: Params = None,
) -> None:
    """Train policies for all weights of the objectives; the same command again goes on where it was broken off."""
    from momagames import registry
    from momagames.baselines.base import sides
    from momagames.baselines.moppo.method import USUAL, Moppo
    from momagames.benchmark import training as sessions
    from momagames.errors import BadParameter, nearest, one_of

    game = registry.spec(id, **parameters(param or []))
    given = parameters(option or [])
    for name in given:
        if name not in USUAL:
            raise BadParameter(f"{Moppo.name} has no option {name!r}; it has {one_of(USUAL)}{nearest(name, USUAL)}")
    seats = sides(game)
    rivals = _opponents(opponent or (["random"] if len(seats) > 1 else []))
    wanted = sessions.Training(game, Moppo(**{**USUAL, **given}), seed, int(budget), tuple(agent or seats), rivals, deal)
    folder = out or Path("training") / f"{id}-{seed}"
    screen = console()
    try:
        with _bar(screen, int(budget)) as tell:
            saved = sessions.train(wanted, folder, evaluations, episodes, tell, wandb)
    except KeyboardInterrupt:
        screen.print(f"broken off; the same command goes on from what {folder} has kept", highlight=False, soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    screen.print(f"{saved.head['steps']:,} steps: {saved.path}", highlight=False, soft_wrap=True)
    screen.print(f"momagames eval {folder}", style="dim", highlight=False, soft_wrap=True)


def evaluation(
    checkpoint: Annotated[Path, typer.Argument(help="The folder of training, or its checkpoint.")],
    episodes: Annotated[int, typer.Option(help="Games of each policy, with each opponent and from each seat.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of the games.", min=0)] = 1,
    divisions: Annotated[int | None, typer.Option(help="Of the lattice of weights [as trained].", min=1)] = None,
    opponent: Opponents = None,
) -> None:
    """Let what was learned play games of its own, and show the front of its policies. Needs no PyTorch."""
    from dataclasses import replace

    from momagames.benchmark import training as sessions

    wanted, saved = sessions.opened(checkpoint)
    if opponent:
        wanted = replace(wanted, opponents=_opponents(opponent))
    if divisions:
        wanted = replace(wanted, options=replace(wanted.options, divisions=divisions))
    policies = wanted.options.offered(saved.network())
    screen = console()
    with screen.status("playing"):
        found = sessions.evaluate(wanted, policies, episodes, seed)
    screen.print(_front(wanted, found))
    head = saved.head
    screen.print(
        f"{head['canonical']}: {head['method']}, seed {head['seed']}, {head['steps']:,} of {head['budget']:,} steps, momagames "
        f"{head['version']}; {episodes} games a policy, seed {seed}; hypervolume {found['hypervolume']:,.6g}",
        style="dim", highlight=False, soft_wrap=True,
    )  # fmt: skip


def exploit(
    checkpoint: Annotated[Path, typer.Argument(help="The folder of training, or its checkpoint.")],
    weights: Annotated[str, typer.Option(help="For which its policy plays, such as 1,0,0,0 [all equal].")] = "",
    budget: Annotated[float, typer.Option(help="Steps of the engine, for the response from each side.", min=1)] = 1_000_000,
    episodes: Annotated[int, typer.Option(help="Games from each side.", min=2)] = 200,
    seed: Annotated[int, typer.Option(help="Of the learner and of the games.", min=0)] = 0,
) -> None:
    """Train a response to a policy from each side: a lower bound of how far it can be exploited."""
    import numpy as np

    from momagames.benchmark import training as sessions
    from momagames.benchmark.exploitability import exploitability, lower_bound
    from momagames.errors import BadParameter

    wanted, saved = sessions.opened(checkpoint)
    try:
        chosen = [float(word) for word in weights.split(",")] if weights else [1.0] * len(wanted.game.objectives)
    except ValueError:
        raise BadParameter(f"--weights {weights!r} is not possible; needed: numbers with commas, such as 1,0,0,0") from None
    screen = console()
    done: dict[str, int] = {}
    with _bar(screen, len(set(wanted.game.teams)) * int(budget)) as moved:

        def tell(seat: str, told: dict[str, Any]) -> None:
            done[seat] = int(told["steps"])
            moved({**told, "steps": sum(done.values())})

        gaps = exploitability(wanted, saved, chosen, int(budget), seed, episodes, tell)
    shown = table("side", "against itself", "response", "gain")
    for gap in gaps:
        both = ((gap.own, gap.own_error), (gap.response, gap.response_error))
        shown.add_row(gap.seat, *(f"{mean:.3f} ± {error:.3f}" for mean, error in both), f"{gap.gain:+.3f}")
    screen.print(shown)
    aim = ", ".join(f"{weight:.3g}" for weight in np.array(chosen) / np.sum(chosen))
    screen.print(
        f"{saved.head['canonical']}: exploitability at least {lower_bound(gaps):.3f}, by {wanted.options.name} with "
        f"{int(budget):,} steps from each side, seed {seed}; utility of scaled returns, w=({aim}); {episodes} games, standard "
        "errors",
        style="dim", highlight=False, soft_wrap=True,
    )  # fmt: skip


def _opponents(names: list[str]) -> tuple[Opponent, ...]:
    """Opponents with the options that a policy has where nothing is said."""
    from inspect import signature

    from momagames.baselines import policy_class, policy_options
    from momagames.benchmark.plan import Opponent

    found = []
    for name in names:
        usual = {option: signature(policy_class(name)).parameters[option].default for option in policy_options(name)}
        plain = {option: [] if value is None else value for option, value in usual.items()}
        found.append(Opponent(name=name, options=plain))
    return tuple(found)


def _front(wanted: Training, found: dict[str, Any]) -> Any:
    """The policies that no other one dominates."""
    import numpy as np

    from momagames.baselines.archive import undominated

    labels, points = list(found["points"]), np.array(list(found["points"].values()))
    best = np.flatnonzero(undominated(points))
    shown = table("policy")
    for goal in wanted.game.objectives:
        shown.add_column(goal.name, justify="right")
    for i in best[np.lexsort(points[best].T[::-1])][::-1]:
        shown.add_row(labels[i], *(f"{value:.4g}" for value in points[i]))
    return shown


@contextmanager
def _bar(screen: Any, budget: int) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar over the budget, with what was told last."""
    with progress(screen, budget, share=True) as moved:
        volume = ""

        def tell(told: dict[str, Any]) -> None:
            nonlocal volume
            if "evaluation" in told:
                volume = f", hypervolume {told['evaluation']['hypervolume']:.5g}"
            entropy = f", entropy {told['entropy']:.2f}" if "entropy" in told else ""
            moved(f"{told['steps']:,} steps{entropy}{volume}", told["steps"])

        yield tell
