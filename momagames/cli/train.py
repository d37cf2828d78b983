"""The commands `momagames train`, `momagames eval` and `momagames exploit`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import (
    INTERRUPTED,
    AllowCode,
    AsJson,
    Params,
    add_working_directory,
    console,
    format_parameters,
    parse_agent,
    parse_parameters,
    parse_weights,
    print_json,
    progress,
    table,
)
from momagames.wording import count

if TYPE_CHECKING:
    from momagames.benchmark.choices import Opponent
    from momagames.benchmark.training import Training
    from momagames.benchmark.training_comparison import NamedFront, PlayedSet
    from momagames.benchmark.training_evaluation import SetEvaluation
    from momagames.contract import Game

COMPARISON_SEED = 1000  # of the comparison after training
EVALUATION_EPISODES, COMPARISON_EPISODES = 16, 64  # of each policy, over all opponents and seats
SETS_CAPTION = (
    "Normalized returns: 0 is the reference point of the game, 1 the best value of the reference front, or the upper bound "
    "where there is none. Delivered utility: mean weighted sum of the policies under their own weights; coverage: of the best "
    "policy of the set for each weight. Differences count from two standard errors of episodes with equal start positions."
)
Options = Annotated[list[str] | None, typer.Option("--option", "-O", metavar="NAME=VALUE", help="Option of the method.")]
Opponents = Annotated[
    list[str] | None,
    typer.Option(
        "--opponent",
        help="Opponent: name of a policy, or path of a checkpoint [those of the game, or random play].",
    ),
]
Checkpoints = Annotated[Path, typer.Argument(help="Training directory, or checkpoint file.")]


def train(
    id: Annotated[str, typer.Argument(help="Id of the game, see `momagames list`.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="ntuple, grpo, cross_entropy, beam_estimate, bandit_joint, bandit_ucb, bandit_gradient or moppo [the best for "
            "the game]."
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Number of environment steps [about two minutes on two cores].", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    weights: Annotated[
        str, typer.Option(help="Weights such as win=1 or 1,0,0,0: train for these alone [for all weights].")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Training directory [training/ID-SEED]; training resumes from its checkpoint."),
    ] = None,
    instance_seed: Annotated[
        int | None, typer.Option(help="Seed of the start position of all episodes [a new one for each episode].", min=0)
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Name or index of a learning agent [one of each team].")] = None,
    opponent: Opponents = None,
    evaluations: Annotated[int, typer.Option(help="Number of evaluations during training.", min=1)] = 10,
    episodes: Annotated[
        int | None,
        typer.Option(help="Number of episodes per policy, opponent and seat in an evaluation [16 over all of these].", min=1),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads [OMP_NUM_THREADS, or one for each core].", min=1)
    ] = None,
    wandb: Annotated[str | None, typer.Option(metavar="PROJECT", help="Weights & Biases project to log to.")] = None,
    option: Options = None,
    param: Params = None,
    vary: Annotated[
        str,
        typer.Option(
            metavar="NAME=[VALUE,...]",
            help='Values of a parameter of the game, such as "level=[1,2,3]": one policy is trained for all.',
        ),
    ] = "",
) -> None:
    """Train policies for all weights of the objectives.

    The method is chosen by what the game declares. The same command resumes an interrupted training.
    """
    from momagames.baselines.base import first_agents
    from momagames.baselines.learners import choose_learner, find_learner
    from momagames.benchmark import training as trainings
    from momagames.contract.agents import find_agent_name
    from momagames.errors import InvalidParameter, nearest, one_of
    from momagames.plugins import allow_code

    game, *other_games = _make_games(id, parse_parameters(param), vary)
    learner = choose_learner(game) if method is None else find_learner(method)
    options = parse_parameters(option, "--option", "learning_rate=1e-3")
    defaults = learner.default_options(game)
    for name in options:
        if name not in defaults:
            raise InvalidParameter(
                f"invalid option {name!r} of {learner.name}: expected {one_of(defaults)}{nearest(name, defaults)}"
            )
    seats = first_agents(game)
    learning = tuple(find_agent_name(game, parse_agent(one)) for one in agent or seats)
    default_opponents = list(game.policies) or ["random"] if len(seats) > 1 else []
    opponents = _parse_opponents(opponent or default_opponents, game)
    steps = int(budget or learner.choose_budget(game))
    training = trainings.Training(
        game, learner(**{**defaults, **options}), seed, steps, learning, opponents, instance_seed,
        parse_weights(weights, game) if weights else None, tuple(other_games),
    )  # fmt: skip
    pairs = len(training.seats) * max(1, len(opponents))
    directory = out or Path("training") / f"{id}-{seed}"
    screen = console()
    try:
        with _show_progress(screen, steps) as on_update:
            count = episodes or -(-EVALUATION_EPISODES // pairs)
            checkpoint = trainings.train(training, directory, evaluations, count, on_update, wandb, threads)
    except KeyboardInterrupt:
        found = (directory / trainings.CHECKPOINT).is_file()
        then = f"resumes from the last checkpoint in {directory}" if found else "starts anew, as there is no checkpoint yet"
        screen.print(f"interrupted; the same command {then}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    head = checkpoint.head
    screen.print(
        f"{learner.name}: {head['steps']:,} steps, {head['decisions']:,} decisions, {head['seconds']:.0f} s: {checkpoint.path}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    enough = max(episodes or 0, -(-COMPARISON_EPISODES // pairs))
    with allow_code():  # of the training that has just ended
        _show_comparison(screen, training, directory, enough, threads or trainings.count_threads())


def _show_comparison(screen: Any, training: Training, directory: Path, episodes: int, threads: int) -> None:
    """Play trained and other policies side by side: print a table, a verdict and the next commands, and write a page."""
    from momagames.benchmark.training import CHECKPOINT, load_training
    from momagames.benchmark.training_comparison import format_sets, play_with_baselines
    from momagames.benchmark.training_evaluation import describe_lead, evaluate_sets
    from momagames.cli.console import get_command_line
    from momagames.reports.training_page import find_reference, write_training_page

    with console(stderr=True).status("comparing with policies without training"):
        _, loaded = load_training(directory)
        played = play_with_baselines(training, loaded.make_policies(), episodes, COMPARISON_SEED, threads)
    reference = find_reference(directory)
    sets: list[PlayedSet | NamedFront] = [*played, *filter(None, [reference])]
    head, rows = format_sets(training.game, sets)
    listing = table(head[0], numbers=head[1:])
    for row in rows:
        listing.add_row(*row)
    screen.print(listing)
    others = ", ".join(one.label for one in training.opponents)
    against = f" against {others}" if others else ""
    caption = (
        f"Mean returns of {count(episodes, 'episode')} of each policy{against} in each learning seat, seed {COMPARISON_SEED}, "
        "which training did not use; the best policy of a set in each objective. Greedy policies have the same weights."
    )
    screen.print(caption, style="dim", soft_wrap=True)
    page = write_training_page(directory, sets, caption, get_command_line())
    method, path = training.options, directory / CHECKPOINT
    if method.serves:
        lead = f"{method.name} trains for search, not for play: the option {method.serves} in a suite is {path}"
    else:
        lead = describe_lead(evaluate_sets(training.game, played, reference))
    lines = (lead, f"curves: {page}", *_list_next_commands(training, directory))
    screen.print("\n".join(lines), soft_wrap=True)


def _list_next_commands(training: Training, directory: Path) -> list[str]:
    """Return commands that use trained policies: `eval`, `play` where there are opponents, and `match` where one wins."""
    from momagames import registry
    from momagames.benchmark.matches import has_winners
    from momagames.benchmark.training import CHECKPOINT

    game, checkpoint = training.game, shlex.quote(str(directory / CHECKPOINT))
    commands = [f"momagames eval {shlex.quote(str(directory))}"]
    if len(set(game.teams)) > 1:
        default = registry.spec(game.id).params
        changed = {name: value for name, value in game.params.items() if name not in default or value != default[name]}
        params = format_parameters(changed)
        commands.append(f"momagames play {game.id} --against {checkpoint}{params}")
        if has_winners(game):
            commands.append(f"momagames match {game.id} {checkpoint} {next(iter(game.policies), 'greedy')}{params}")
    return [f"next: {one}" for one in commands]


def evaluate(
    checkpoint: Checkpoints,
    episodes: Annotated[int, typer.Option(help="Number of episodes per policy, opponent and seat.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Random seed of the episodes.", min=0)] = 1,
    divisions: Annotated[int | None, typer.Option(help="Divisions of the weight lattice [as in training].", min=1)] = None,
    opponent: Opponents = None,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Evaluate trained policies: their Pareto front, and normalized indicators beside random, greedy and scripted play.

    Needs no PyTorch.
    """
    from dataclasses import replace

    from momagames.benchmark import training as trainings
    from momagames.benchmark.training_comparison import play_with_baselines
    from momagames.benchmark.training_evaluation import describe_lead, evaluate_sets
    from momagames.reports.training_page import find_reference

    training, loaded = trainings.load_training(checkpoint)
    if opponent:
        training = replace(training, opponents=_parse_opponents(opponent, training.game))
    if divisions:
        training = replace(training, options=training.options.with_divisions(divisions), weights=None)
    policies, game = loaded.make_policies(), training.game
    with console(stderr=True).status("playing"):
        played = play_with_baselines(training, policies, episodes, seed, trainings.count_threads())
    points = played[0].points
    volume = trainings.measure_volume(game, points)
    labels = [one.label for one in training.select_policies(policies)]
    front, head = _sort_front(dict(zip(labels, points.tolist(), strict=True))), loaded.head
    evaluations = evaluate_sets(game, played, find_reference(checkpoint))
    if as_json:
        print_json({
            "game": head["canonical"], "method": head["method"], "seed": head["seed"], "steps": head["steps"],
            "budget": head["budget"], "version": head["version"], "opponents": [one.label for one in training.opponents],
            "episodes": episodes, "episodes_seed": seed,
            "objectives": [objective.name for objective in training.game.objectives],
            "front": [{"policy": label, "return": point} for label, point in front],
            "hypervolume": volume,
            "sets": [one.to_json() for one in evaluations], "verdict": describe_lead(evaluations),
        })  # fmt: skip
        return
    listing = table("policy", numbers=[objective.name for objective in game.objectives])
    for label, point in front:
        listing.add_row(label, *(f"{value:.4g}" for value in point))
    screen = console()
    screen.print(listing)
    screen.print(
        f"{head['canonical']}: {head['method']}, seed {head['seed']}, {head['steps']:,} of {head['budget']:,} steps, momagames "
        f"{head['version']}; {count(episodes, 'episode')} per policy, seed {seed}; hypervolume {volume:,.6g}",
        style="dim", soft_wrap=True,
    )  # fmt: skip
    screen.print(_make_sets_table(evaluations))
    screen.print(SETS_CAPTION, style="dim", soft_wrap=True)
    screen.print(describe_lead(evaluations), soft_wrap=True)


def _make_sets_table(evaluations: Sequence[SetEvaluation]) -> Any:
    """Return a table of normalized indicators with a row for each set of policies."""
    names = ("number", "hypervolume", "delivered", "coverage", "regret", "controllability", "ordering")
    listing = table("policies", numbers=[*names, *(f"best {name}" for name in evaluations[0].best)])
    for one in evaluations:
        volume = f"{one.normalized_hypervolume:.3g}"
        values = (
            one.delivered_utility, one.coverage_utility, one.utility_regret, one.controllability, one.ordering_score,
            *one.best.values(),
        )  # fmt: skip
        texts = ("-" if value is None else f"{value:.3f}" for value in values)
        listing.add_row(one.name, str(one.policies), volume, *texts)
    return listing


def exploit(
    checkpoint: Checkpoints,
    weights: Annotated[str, typer.Option(help="Weights of the policy, such as win=1 or 1,0,0,0 [all equal].")] = "",
    method: Annotated[str | None, typer.Option(help="Method that learns the response [that of the training].")] = None,
    budget: Annotated[float, typer.Option(help="Number of environment steps per response.", min=1)] = 1_000_000,
    episodes: Annotated[int, typer.Option(help="Number of evaluation episodes per seat.", min=2)] = 200,
    seed: Annotated[int, typer.Option(help="Random seed of training and evaluation.", min=0)] = 0,
    allow_code: AllowCode = False,
) -> None:
    """Train a best response to a policy for each team: a lower bound of its exploitability."""
    import numpy as np

    from momagames.baselines.learners import find_learner
    from momagames.benchmark import training as trainings
    from momagames.benchmark.exploitability import bound_exploitability, train_best_responses

    training, loaded = trainings.load_training(checkpoint)
    parsed = list(parse_weights(weights, training.game)) if weights else [1.0] * len(training.game.objectives)
    responder = None
    if method is not None:
        learner = find_learner(method)
        responder = learner(**learner.default_options(training.game))
    screen = console()
    steps: dict[str, int] = {}
    with _show_progress(screen, len(set(training.game.teams)) * int(budget)) as show:

        def on_update(seat: str, metrics: dict[str, Any]) -> None:
            steps[seat] = int(metrics["steps"])
            show({**metrics, "steps": sum(steps.values())})

        responses = train_best_responses(training, loaded, parsed, int(budget), seed, episodes, on_update, responder)
    table_out = table("seat", "against itself", "best response", "gain")
    for one in responses:
        values = ((one.value, one.value_error), (one.response_value, one.response_error))
        table_out.add_row(one.seat, *(f"{mean:.3f} ± {error:.3f}" for mean, error in values), f"{one.gain:+.3f}")
    screen.print(table_out)
    normalized = ", ".join(f"{weight:.3g}" for weight in np.array(parsed) / np.sum(parsed))
    screen.print(
        f"{loaded.head['canonical']}: exploitability at least {bound_exploitability(responses):.3f}, by "
        f"{(responder or training.options).name} with {int(budget):,} steps per seat, seed {seed}; utility of scaled returns, "
        f"w=({normalized}); {count(episodes, 'episode')}, standard errors",
        style="dim", soft_wrap=True,
    )  # fmt: skip


def _make_games(id: str, params: dict[str, Any], vary: str) -> list[Game]:
    """Return the game for each value of --vary, or one without it. Raises InvalidParameter."""
    from momagames import registry
    from momagames.errors import InvalidParameter

    if not vary:
        return [registry.spec(id, **params)]
    ((name, values),) = parse_parameters([vary]).items()
    if not isinstance(values, list) or len(values) < 2:
        raise InvalidParameter(f'invalid --vary={vary!r}: expected a list of values, such as "level=[1,2,3]"')
    return [registry.spec(id, **{**params, name: value}) for value in values]


def _parse_opponents(names: list[str], game: Game) -> tuple[Opponent, ...]:
    """Return opponents with the default options of their policies, and the checksums of those that are files."""
    from momagames.benchmark.choices import Opponent

    add_working_directory()
    return tuple(Opponent.with_default_options(name, game).pin_file(game) for name in names)


def _sort_front(points: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    """Return the labels and points of the non-dominated policies, the best in the first objective first."""
    import numpy as np

    from momagames.baselines.archive import is_nondominated

    front = is_nondominated(np.array(list(points.values())))
    return sorted((pair for pair, on_front in zip(points.items(), front, strict=True) if on_front), key=itemgetter(1))[::-1]


def _print_evaluation(metrics: dict[str, Any]) -> None:
    """Print the metrics of an update if they contain an evaluation."""
    if "evaluation" in metrics:
        evaluation = _describe_evaluation(metrics["evaluation"])
        print(f"{metrics['steps']:,} steps{evaluation}, {metrics['seconds']:.1f} s{_describe_rate(metrics)}", flush=True)


def _describe_rate(metrics: dict[str, Any]) -> str:
    """Return the decisions per second of a training as text; empty where no time was taken."""
    return f", {metrics['decisions'] / metrics['seconds']:,.0f} decisions/s" if metrics.get("seconds") else ""


def _describe_evaluation(evaluation: dict[str, Any]) -> str:
    """Return the hypervolume and the mean controllability of an evaluation as text."""
    text = f", hypervolume {evaluation['hypervolume']:.5g}"
    if "controllability" in evaluation:
        values = list(evaluation["controllability"].values())
        text += f", controllability {sum(values) / len(values):.2f}"
    return text


@contextmanager
def _show_progress(screen: Any, budget: int) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a progress bar over the budget; yield a function that takes the metrics of an update.

    If the output is no terminal, print a line for each evaluation instead.
    """
    if not screen.is_terminal:
        yield _print_evaluation
        return
    with progress(screen, budget, share=True) as advance:
        volume = ""

        def show(metrics: dict[str, Any]) -> None:
            nonlocal volume
            if "evaluation" in metrics:
                volume = _describe_evaluation(metrics["evaluation"])
            advance(f"{metrics['steps']:,} steps{_describe_rate(metrics)}{volume}", metrics["steps"])

        yield show
