r"""MOPPO on MO-Pommerman: training time, decisions per second, and games against the scripted and the filtered agent.

python -m benchmarks.learning.pommerman --game ffa                                  # against "simple", three minutes
python -m benchmarks.learning.pommerman --game duel --champion                      # the policy of the package
python -m benchmarks.learning.pommerman --game radio --champion                     # also silent, and with random words
python -m benchmarks.learning.pommerman --game duel --seconds 300 --opponents "safe:simple(caution=1)" safe:simple \
    --outcome 0.1 --kills 1 --caution 1 --against safe:simple                       # fights filtered players

One learning side (an agent, or a team) trains for the outcome and, with --kills, for kills. Then it plays on unseen instances
against "simple" and "safe:simple", greedily and with sampled actions, from every seat in turn, beside the filtered baselines.
An opponent in training may be "safe:simple(caution=1)". With --champion the trained policy of the package plays instead.

Wins, ties and losses are those of its side. Kills are enemies burnt in its side's flames. Deaths in own fire are those of
enemies in flames of their own; a death in the flames of both sides counts for both. The budget of environment steps is the
measured speed of a few updates times --seconds, so that equal seeds differ; with --budget they do not.

In the radio game the sampled policy also plays silently, so that both team mates hear nothing, and with random words instead
of its own. Its moves are sampled from the same generators.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.moppo.trainer import MoppoTrainer
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import Game
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, CompiledPolicy, play_policies
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, below, mix, random_words

IDS = {
    "ffa": "mo-pommerman-ffa-v0", "duel": "mo-pommerman-duel-v0", "team": "mo-pommerman-team-full-v0",
    "team-fog": "mo-pommerman-team-v0", "radio": "mo-pommerman-radio-v0",
}  # fmt: skip
OBJECTIVES = ("outcome", "kills", "self_kill")
FIRST_INSTANCE = 2_000_000
OPTIONS: dict[str, Any] = {
    "num_envs": 512, "num_steps": 32, "update_epochs": 2, "num_minibatches": 8, "gamma": 0.997, "opponent_pool_size": 0,
    "self_play": 0.0, "expert": "safe:simple", "bc_fraction": 0.05, "caution": 2, "divisions": 1,
}  # fmt: skip


def make_opponent(label: str, game: Game) -> BatchPolicy:
    """Return a policy from its label: a name, with "(caution=1)" behind that of a filtered policy for the lower level."""
    name = label.removesuffix("(caution=1)")
    return batch_policy(name, game) if name == label else batch_policy(name, game, caution=1)


def make_weights(given: argparse.Namespace) -> list[float]:
    """Return the weights of OBJECTIVES."""
    return [given.outcome, given.kills, 0.0]


def make_trainer(given: argparse.Namespace, budget: int) -> MoppoTrainer:
    """Return the training. The dead leave in a free for all, so that a lost game is not played to its end."""
    game = momagames.spec(IDS[given.game], dead="leave" if given.game == "ffa" else "stay", objectives=OBJECTIVES)
    expert = None if given.expert == "none" else given.expert
    changed = {
        "caution": given.caution, "expert": expert, "num_envs": given.num_envs, "self_play": given.self_play,
        "opponent_pool_size": given.pool, "learning_rate": given.learning_rate, "ent_coef": given.ent_coef,
        "precision": given.precision,
    }  # fmt: skip
    options = Moppo(**{**DEFAULT_OPTIONS, **OPTIONS, **changed})
    opponents = [make_opponent(label, game) for label in given.opponents]
    setup = TrainingSetup(
        [game], budget, given.seed, range(len(game.agents)), opponents, threads=given.threads,
        fixed_weights=make_weights(given), return_scale=np.ones(len(OBJECTIVES)),
    )  # fmt: skip
    return options.make_trainer(setup)


def measure_steps(given: argparse.Namespace) -> float:
    """Return environment steps per second of training, after compilation."""
    trainer = make_trainer(given, 10**12)
    trainer.train_iteration()
    begin, steps = time.perf_counter(), trainer.steps
    for _ in range(given.updates):
        trainer.train_iteration()
    return (trainer.steps - steps) / (time.perf_counter() - begin)


def train(given: argparse.Namespace) -> MoppoTrainer:
    """Train, and print the speed and the time of each part."""
    budget = given.budget or int(measure_steps(given) * given.seconds)
    trainer, begin, reported = make_trainer(given, budget), time.perf_counter(), 0.0
    while not trainer.is_done:
        metrics = trainer.train_iteration()
        seconds = time.perf_counter() - begin
        if seconds > reported + given.seconds / 12:
            reported = seconds
            print(f"  {seconds:.0f} s: " + ", ".join(f"{name} {value:.3g}" for name, value in metrics.items()), flush=True)
    seconds, parts, decisions = time.perf_counter() - begin, trainer.progress.seconds, trainer.decisions
    shares = ", ".join(f"{name} {value / seconds:.0%}" for name, value in parts.items())
    print(
        f"{given.game} seed {given.seed}: {trainer.steps:,} environment steps, {decisions:,} decisions in {seconds:.0f} s, "
        f"{decisions / seconds:,.0f} decisions/s with updates ({shares}), {trainer.model.num_parameters:,} parameters, "
        f"{given.threads} threads, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return trainer


def make_trained(given: argparse.Namespace) -> dict[str, BatchPolicy]:
    """Train, and return the policies by name; weights are divided by their sum, as in training."""
    network, weights = train(given).make_policies(), make_weights(given)
    row = [weight / sum(weights) for weight in weights]
    return {f"MOPPO {name}": network.compile(name, row, greedy=name == "greedy") for name in ("greedy", "sampled")}


def make_champions(game: Game) -> dict[str, BatchPolicy]:
    return {
        f"champion {name}": batch_policy("champion", game, greedy=name == "greedy") for name in ("greedy", "sampled")
    }  # fmt: skip


def replace_words(policy: CompiledPolicy, label: str, *, is_silent: bool) -> CompiledPolicy:
    """Return the policy of a radio game with silence, or random words, instead of the words that it says."""
    choose = policy.act

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        word = choose(state, agent, mask, parts, memory, scratch, word, action)
        draws = mix(word)  # apart from the draws of moves
        for part in range(1, parts.shape[0]):
            draws = advance(draws)
            action[part] = 0 if is_silent else below(draws, parts[part])
        return word

    return replace(policy, name=f"{'silent' if is_silent else 'babbling'}.{policy.name}", act=act, label=label)


def list_players(policies: dict[str, BatchPolicy], game: Game) -> dict[str, BatchPolicy]:
    """Return policies by name, the filtered baselines and, in the radio game, the sampled policies without their messages."""
    players = dict(policies)
    for name, policy in policies.items():
        if len(game.actions) > 1 and isinstance(policy, CompiledPolicy) and name.endswith("sampled"):
            players[f"{name}, silent"] = replace_words(policy, f"{name}, silent", is_silent=True)
            players[f"{name}, random words"] = replace_words(policy, f"{name}, random words", is_silent=False)
    return players | {name: batch_policy(name, game) for name in ("safe:simple", "safe:random")}


def play(game: Game, policy: BatchPolicy, opponent: str, games: int) -> dict[str, float]:
    """Play games of one side against copies of the opponent, from every seat in turn; return shares and means by name."""
    agents, teams = len(game.agents), np.array(game.teams)
    starts = generate_starts(game, np.arange(FIRST_INSTANCE, FIRST_INSTANCE + games, dtype=np.uint64))
    seat = np.arange(games) % agents
    is_enemy = teams[None] != teams[seat][:, None]
    words = random_words(1, games * agents).reshape(games, agents)
    played = play_policies(game, starts, [policy, batch_policy(opponent, game)], is_enemy.astype(np.int64), words)
    won = float(((played.states["winners"] >> seat) & 1).mean())
    tied = float((played.states["winners"] == 0).mean())
    return {
        "won": won, "tied": tied, "lost": 1 - won - tied,
        "kills": float(played.returns[..., 1].sum(axis=1, where=~is_enemy).mean()),
        "own-fire deaths of enemies": abs(float(played.returns[..., 2].sum(axis=1, where=is_enemy).mean())),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=IDS, default="ffa", help="Game.")
    parser.add_argument("--seconds", type=float, default=180.0, help="Seconds of training.")
    parser.add_argument("--budget", type=int, help="Environment steps of training, instead of --seconds.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    parser.add_argument(
        "--opponents", nargs="+", default=["simple"], help='Opponents in training, such as "safe:simple(caution=1)".'
    )
    parser.add_argument("--against", nargs="+", default=["simple", "safe:simple"], help="Opponents in evaluation games.")
    parser.add_argument("--games", type=int, default=1000, help="Evaluation games of each pairing.")
    parser.add_argument("--outcome", type=float, default=1.0, help="Weight of the outcome: 1 won, -1 lost or tied.")
    parser.add_argument("--kills", type=float, default=0.0, help="Weight of a kill.")
    parser.add_argument("--caution", type=int, default=OPTIONS["caution"], help="Level of the mask of safe actions.")
    parser.add_argument("--expert", default=OPTIONS["expert"], help='Policy that is cloned first, or "none".')
    parser.add_argument("--num-envs", type=int, default=OPTIONS["num_envs"], help="Environments of the batch.")
    parser.add_argument("--self-play", type=float, default=0.0, help="Fraction of environments in which all sides learn.")
    parser.add_argument("--pool", type=int, default=0, help="Earlier versions of the network among the opponents.")
    parser.add_argument("--learning-rate", type=float, default=DEFAULT_OPTIONS["learning_rate"], help="Learning rate.")
    parser.add_argument("--ent-coef", type=float, default=DEFAULT_OPTIONS["ent_coef"], help="Bonus for entropy.")
    parser.add_argument("--precision", default="float32", help='"float32" or "bfloat16".')
    parser.add_argument("--updates", type=int, default=5, help="Updates that measure the speed.")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads.")
    parser.add_argument("--champion", action="store_true", help="Play the trained policy of the package, without training.")
    given = parser.parse_args()
    game = momagames.spec(IDS[given.game], objectives=OBJECTIVES)
    players = list_players(make_champions(game) if given.champion else make_trained(given), game)
    for opponent in given.against:
        for name, policy in players.items():
            results = play(game, policy, opponent, given.games)
            line = ", ".join(f"{name} {value:.3f}" for name, value in results.items())
            print(f"{game.id}, {given.games} games against {opponent}: {name}: {line}", flush=True)


if __name__ == "__main__":
    main()
