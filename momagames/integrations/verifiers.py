"""verifiers: a taskset whose tasks are start positions, and the environment in which a model plays them.

An episode is one game of one agent; the trace has a reward for each objective, by its name, weighted by the taskset's weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import momagames
from momagames.contract.objective_weights import read_weights
from momagames.errors import MissingExtra

try:
    import verifiers.v1 as vf
    from pydantic import Field
except ImportError as error:
    raise MissingExtra("momagames.integrations.verifiers needs verifiers: pip install verifiers") from error


class GameConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The game of a taskset.

    game        id; without one the first of `momagames.ids()`
    params      parameters of the game, and options of `momagames.make_text_batch`: agent, others, preference, legal_actions,
                illegal, max_cycles
    weights     of the rewards by objective; the others have 0. Empty: 1 each
    first_seed  of the first task; each task has the next one
    """

    game: str = momagames.ids()[0]
    params: dict[str, Any] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=dict)
    first_seed: int = 0


class GameData(vf.TaskData):  # type: ignore[misc]
    """The start position of a task."""

    game: str
    params: dict[str, Any]
    weights: dict[str, float]
    seed: int


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """One start position."""


class GameEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The agent that plays."""

    player: vf.AgentConfig = vf.AgentConfig()


class GameEnv(vf.Env[GameEnvConfig]):  # type: ignore[misc]
    """A model plays one agent of a game, turn by turn."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play an episode, and record the returns as rewards."""
        data = task.data
        batch = momagames.make_text_batch(data.game, 1, **data.params)
        batch.reset(seed=data.seed)
        step = None
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                step = batch.step([segment.last_reply])
                if step.terminateds[0]:
                    break
                segment = await interaction.turn(step.observations[0]["content"])
        facts = step.metadata[0] if step is not None else {}
        for name, value in facts.get("returns", {}).items():
            interaction.trace.record_reward(name, value, data.weights[name])
        interaction.trace.info["momagames"] = {name: value for name, value in facts.items() if name != "best"}


class GameTaskset(vf.Taskset[GameTask, GameConfig]):  # type: ignore[misc]
    """Start positions of a game, without end."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """Yield a task for each seed."""
        config = self.config
        batch = momagames.make_text_batch(config.game, 1, **config.params)
        names = [objective.name for objective in batch.game.objectives]
        weights = read_weights(config.weights or dict.fromkeys(names, 1.0), names, "GameTaskset")
        for seed in itertools.count(config.first_seed):
            system, first = batch.reset(seed=seed)[0]
            yield GameTask(
                GameData(
                    name=f"{config.game} seed {seed}",
                    prompt=first["content"],
                    system_prompt=system["content"],
                    game=config.game,
                    params=config.params,
                    weights=dict(zip(names, weights.tolist(), strict=True)),
                    seed=seed,
                ),
                config.task,
            )


__all__ = ["GameConfig", "GameData", "GameEnv", "GameEnvConfig", "GameTask", "GameTaskset"]
