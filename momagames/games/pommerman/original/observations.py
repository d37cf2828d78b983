"""Observations, actions and rewards in the form of the original package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from random import getstate, setstate
from random import seed as seed_random
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.contract import Game, State
from momagames.engine import loops
from momagames.errors import IllegalAction
from momagames.games.pommerman.infos import RESULTS, build_infos
from momagames.games.pommerman.original.constants import find_constants
from momagames.games.pommerman.rules.state import AGENT, DUEL, LAY, RADIO, STOP, VOCABULARY, WORDS

MATRICES = ("bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
NUM_WORDS = 8  # of the original's action space: 0 to 7; words up to 8 are accepted
SEED_BITS = 2**32


class Observer:
    """Writer of observations in the original's form, whatever the parameters `observation` and `egocentric` are."""

    def __init__(self, game: Game) -> None:
        self._fields = game.factory(game.id, **{**game.params, "observation": "dict", "egocentric": False})
        self._states = np.zeros(1, game.dtype)
        self._mask = np.zeros(game.mask_size, np.int8)
        self._game = game
        version = 2 if game.blank_state["mode"] == RADIO else 1 if game.params["first_collapse"] else 0
        self._game_env = f"pommerman.envs.v{version}:Pomme"

    def observe(self, state: State, agent: int) -> dict[str, Any]:
        """Return the observation of an agent as the original's dict.

        `board` is uint8[n, n], the other matrices are float64[n, n]; `alive` lists the codes of the live agents, `teammate` and
        `enemies` are members of Item, `position` is a pair, and `message` (radio) is a pair of words.
        """
        self._states[0] = state
        self._states["planes"] = self._states["egocentric"] = 0
        row = np.zeros(self._fields.observation_bytes, np.uint8)
        loops.compile_episode_loops(self._game).observe(self._states, agent, row, self._mask)
        fields = self._fields.observation_views(row)
        item = find_constants().Item
        observation = {
            "alive": [AGENT + seat for seat in np.flatnonzero(fields["alive"]).tolist()],
            "board": fields["board"].copy(),
            **{name: fields[name].astype(np.float64) for name in MATRICES},
            "game_type": int(fields["game_type"][0]),
            "game_env": self._game_env,
            "position": tuple(fields["position"].tolist()),
            "blast_strength": int(fields["blast_strength"][0]),
            "can_kick": bool(fields["can_kick"][0]),
            "teammate": item(int(fields["teammate"][0])),
            "ammo": int(fields["ammo"][0]),
            "enemies": [item(code) for code in fields["enemies"].tolist()],
            "step_count": int(fields["step_count"][0]),
        }
        if "message" in fields:
            observation["message"] = tuple(fields["message"].tolist())
        return observation


def make_action_space(game: Game) -> spaces.Discrete | spaces.Tuple[Any]:
    """Return the original's action space of an agent: a move, in radio games followed by two words."""
    move = spaces.Discrete(LAY + 1)
    words = [spaces.Discrete(NUM_WORDS) for _ in game.actions[1:]]
    return spaces.Tuple([move, *words]) if words else move


def parse_action(game: Game, action: Any) -> int | list[int]:
    """Return an action of an agent in the form of this game.

    action    a move: any integer, or a member of Action; or a move and two words as a tuple, list or array. Words are left out
              of games without radio, and a move alone is silent in radio games
    Raises    IllegalAction for anything else
    """
    given = action.value if isinstance(action, Enum) else action
    parts = [int(part.value if isinstance(part, Enum) else part) for part in _list_parts(given, action)]
    move, words = parts[0], parts[1:] or [0] * WORDS
    if len(words) != WORDS or any(not 0 <= part < size for part, size in zip([move, *words], game.actions, strict=False)):
        raise _illegal_action(action)
    return [move, *words] if len(game.actions) > 1 else move


def _list_parts(given: Any, action: Any) -> list[Any]:
    """Return the parts of an action, which must be integers."""
    parts = list(given) if isinstance(given, (tuple, list)) or (isinstance(given, np.ndarray) and given.ndim == 1) else [given]
    if not parts or not all(
        isinstance(part, (int, np.integer, Enum))
        or (isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu")
        for part in parts
    ):
        raise _illegal_action(action)
    return parts


def _illegal_action(action: Any) -> IllegalAction:
    return IllegalAction(
        f"invalid action={action!r}: expected a move {STOP}..{LAY}, or a list of a move and {WORDS} words 0..{VOCABULARY - 1}"
    )


def make_stop(game: Game) -> int | list[int]:
    """Return the action that stops and says nothing."""
    return [STOP] * len(game.actions) if len(game.actions) > 1 else STOP


def final_reward(state: State, agent: int) -> int:
    """§6.2 Return the original's reward of the last step: +1 won, -1 lost or tied, 0 for a double death in the duel."""
    infos = build_infos(state)
    if infos["result"] == RESULTS[0]:
        return 0
    if infos["winners"]:
        return 1 if f"agent_{agent}" in infos["winners"] else -1
    return 0 if state["mode"] == DUEL and state["ply"] < state["max_steps"] else -1


def copy_equipment(agent: Any, state: State, seat: int) -> None:
    """Write position, ammunition and so on to the character of an agent, as the original's environment does.

    Agents that derive from the original's base class read them as attributes of themselves.
    """
    character = vars(agent).get("_character") if hasattr(agent, "__dict__") else None
    if character is not None and not isinstance(character, type):
        character.position = (int(state["row"][seat]), int(state["col"][seat]))
        character.ammo, character.blast_strength = int(state["ammo"][seat]), int(state["strength"][seat])
        character.is_alive, character.can_kick = bool(state["alive"][seat]), bool(state["kick"][seat])


@contextmanager
def seeded_global_generators(rng: np.random.Generator) -> Iterator[None]:
    """Seed the global generators of Python and NumPy, from which agents of the original draw, and restore them afterwards."""
    python, legacy = getstate(), np.random.get_state()  # noqa: NPY002 - agents use it
    seed = int(rng.integers(SEED_BITS))
    seed_random(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


def convert_rewards(rewards: NDArray[np.float32]) -> list[int]:
    """Return a column of rewards, float32[A], as the original's list of integers."""
    return [round(reward) for reward in rewards.tolist()]
