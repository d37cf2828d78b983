"""Golden playthroughs: whole games as text, replayed line by line by tests/test_golden.py.

    python -m tests.playthrough ID                        write the golden files that ID lacks (GOLDEN in its cases.py)
    python -m tests.playthrough ID board_width=4 seed=3   show one game on screen

A file in tests/golden/ID/ is never changed: what an id does stays as it is, and new behavior gets a new version.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import momagames
from momagames.contract import Game
from momagames.engine.episode import Episode
from tests.cases import GOLDEN

FOLDER = Path(__file__).parent / "golden"


def numbers(values: Iterable[float]) -> str:
    """float32 values as they are, nothing rounded."""
    return " ".join(f"{np.float32(value):.9g}" for value in values)


def ranges(mask: Any) -> str:
    """The legal actions of a mask: '0-4 7'."""
    parts: list[list[int]] = []
    for action in np.flatnonzero(mask).tolist():
        if parts and parts[-1][-1] == action - 1:
            parts[-1] = [parts[-1][0], action]
        else:
            parts.append([action])
    return " ".join("-".join(map(str, part)) for part in parts) or "none"


def digest(array: Any) -> str:
    """Shape, type and a hash of an observation's values in the order of its axes."""
    values = np.ascontiguousarray(array)
    return f"{values.dtype}{list(values.shape)} {blake2b(values.tobytes(), digest_size=8).hexdigest()}"


def legal_actions(play: Episode, agent: int) -> Any:
    """Every legal choice of each part of the agent's action; empty lists if it does not act."""
    parts = np.split(play.mask(agent), np.cumsum(play.game.actions)[:-1])
    return [np.flatnonzero(part).tolist() for part in parts]


def scene(play: Episode) -> Iterator[str]:
    """Return the position, and the mask and observation of every agent."""
    yield from (f"  {line}" for line in play.game.codec.show(play.state).splitlines())
    for agent, name in enumerate(play.game.agents):
        mask = play.mask(agent)
        if mask.any() and not play.state["over"]:  # at a truncation the mask is that of the last position
            yield f"legal {name}: {ranges(mask)}"
        for field, value in play.observe(agent).items():
            yield f"{field} {name}: {digest(value)}"


def playthrough(header: str, choose: Any) -> Iterator[str]:
    """The lines of a whole game: its header as given, id, parameters and seed, and then what happens.

    `choose(play, agent)` gives the action of an agent, a list with one number a part.
    """
    game, seed = parse(header)
    play = Episode(game)
    play.reset(seed)
    returns = np.zeros((len(game.agents), len(game.objectives)))
    yield header
    yield f"objectives: {' '.join(objective.name for objective in game.objectives)}"
    yield from scene(play)
    while not play.state["over"]:
        yield ""
        for row, agent in enumerate([int(play.state["to_move"])] if game.sequential else range(len(game.agents))):
            action = choose(play, agent)
            if play.mask(agent).any() and not play.is_legal(agent, action[0] if len(game.actions) == 1 else action):
                raise play.illegal_action_error(agent, action)
            play.pending[row] = action
            yield f"action {game.agents[agent]}: {' '.join(map(str, action))}"
        play.step(int(play.pending[0, 0]) if play.pending.size == 1 else play.pending)
        returns += play.reward
        for name, reward in zip(game.agents, play.reward, strict=True):
            yield f"reward {name}: {numbers(reward)}"
        yield from scene(play)
    yield ""
    how = "truncated" if play.state["truncated"] else "terminated"
    yield f"{how} after {int(play.state['ply'])} of at most {game.max_episode_steps}"
    for name, total in zip(game.agents, returns, strict=True):
        yield f"return {name}: {numbers(total)}"


def at_random(seed: int) -> Any:
    """A policy that chooses legal actions uniformly; an agent that does not act plays 0."""
    chance = random.Random(seed)
    return lambda play, agent: [chance.choice(part) if part else 0 for part in legal_actions(play, agent)]


def policy(name: str, seed: int) -> Any:
    """A built-in policy, for games of turns whose actions are one number."""
    rng = np.random.default_rng(seed)
    made: dict[int, Any] = {}

    def choose(play: Episode, agent: int) -> list[int]:
        if agent not in made:
            made[agent] = momagames.registry.policy(name, play.game, agent)
        return [int(play.choose_action(agent, made[agent], rng))]

    return choose


def recorded(lines: Iterable[str]) -> Any:
    """A policy that plays the actions of a written game again."""
    actions = (line.partition(": ")[2] for line in lines if line.startswith("action "))
    return lambda play, agent: [int(part) for part in next(actions).split()]


def head(id: str, seed: int, params: dict[str, Any]) -> str:
    """The first line: every parameter as it was when the game was written, so that later ones change nothing."""
    return f"{momagames.canonical(id, **params)} seed={seed}"


def parse(header: str) -> tuple[Game, int]:
    call, _, seed = header.rpartition(" seed=")
    id, _, spelled = call.rstrip().removesuffix(")").partition("(")
    arguments = ast.parse(f"f({spelled})", mode="eval").body
    assert isinstance(arguments, ast.Call)
    fixed = momagames.registry.find_entry(id).fixed
    params = {str(k.arg): ast.literal_eval(k.value) for k in arguments.keywords if k.arg not in fixed}
    return momagames.spec(id, **params), int(seed)


def replay(lines: list[str]) -> Iterator[str]:
    """The lines that a written game has today."""
    return playthrough(lines[0], recorded(lines))


def plays(id: str) -> dict[str, dict[str, Any]]:
    """The golden games of an id, by name: seed and parameters."""
    return GOLDEN.get(id, {"default": {"seed": 1}})


def files(id: str) -> dict[str, Path]:
    """The golden files that an id should have."""
    return {name: FOLDER / id / f"{name}.txt" for name in plays(id)}


def main(id: str, *settings: str) -> None:
    if settings:
        given = {name: _value(text) for name, _, text in (setting.partition("=") for setting in settings)}
        seed = given.pop("seed", 1)
        print(*playthrough(head(id, seed, given), at_random(seed)), sep="\n")
        return
    for name, file in files(id).items():
        if file.exists():
            print(f"{file} exists and stays as it is")
            continue
        params = dict(plays(id)[name])
        seed, by = params.pop("seed"), params.pop("by", "random")
        choose = at_random(seed) if by == "random" else policy(by, seed)
        lines = list(playthrough(head(id, seed, params), choose))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{file}: {len(lines)} lines")


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
