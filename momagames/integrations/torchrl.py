"""TorchRL: the batch as an `EnvBase`, with reward vectors, boolean masks and groups of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.contract import split_mask
from momagames.errors import InvalidParameter, MissingExtra

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase
    from torchrl.envs.utils import MarlGroupMapType, check_marl_grouping
except ImportError as error:
    raise MissingExtra("momagames.integrations.torchrl needs TorchRL: pip install torchrl") from error

ENDS = "done", "terminated", "truncated"
MASK = "action_mask"


class BatchEnv(EnvBase):  # type: ignore[misc]
    """N environments of one id as an environment of TorchRL with the batch size [N], stepped by the compiled batch.

    Letters: F numbers of an observation, M actions, K objectives, P parts of an action (no axis for one part), A agents of a
    group.

    A game of one agent has the keys `observation` float32[N, F], `action_mask` bool[N, M], `action` int64[N, P] and `reward`
    float32[N, K]. A game of several agents has them in each group, with an axis of its agents: ("agent", "observation")
    float32[N, A, F]; and beside `done`, `terminated` and `truncated` bool[N, 1], the ends of the episode, those of each agent
    in its group, bool[N, A, 1]. An agent without a choice (that waits for its turn, has left, or whose episode is over) has one
    legal action, 0, with no effect.

    weights, utility    of a scalar reward, see `momagames.wrappers.Scalarize`: `reward` has one number in place of K
    group_map           the agents of each group, by its name, or a `MarlGroupMapType`; without one, groups have the names of
                        agents without their numbers
    flatten             False: a key for each field of the observation, as it is, in place of the vector
    threads             threads of the batch
    options             parameters of the game, and `illegal`
    Raises              InvalidParameter, UnknownId
    """

    def __init__(
        self,
        id: str,
        num_envs: int,
        weights: Any = None,
        *,
        utility: Any = None,
        group_map: Mapping[str, Sequence[str]] | MarlGroupMapType | None = None,
        flatten: bool = True,
        threads: int = 1,
        device: Any = "cpu",
        **options: Any,
    ) -> None:
        envs: Any = momagames.make_vec(
            id, num_envs, threads, weights=weights, utility=utility, autoreset="disabled", views="all", **options
        )
        self.game, self._envs, self._flatten = envs.game, envs, flatten
        super().__init__(device=device, batch_size=[envs.num_envs])
        self.group_map: dict[str, list[str]] = self._make_groups(group_map)
        self._indices = {group: [self.game.agents.index(agent) for agent in agents] for group, agents in self.group_map.items()}
        self._next_seed: int | None = None
        self._to_move: NDArray[np.int32] = np.zeros(envs.num_envs, np.int32)
        self._make_specs(1 if weights is not None or utility is not None else len(self.game.objectives))

    def _make_groups(self, given: Mapping[str, Sequence[str]] | MarlGroupMapType | None) -> dict[str, list[str]]:
        """Return the agents of each group; no group for a game of one agent without a map."""
        agents = list(self.game.agents)
        if given is None:
            groups: dict[str, list[str]] = {}
            for agent in agents if len(agents) > 1 else ():
                groups.setdefault(agent.rpartition("_")[0] or agent, []).append(agent)
            return groups
        named = given.get_group_map(agents) if isinstance(given, MarlGroupMapType) else {k: [*v] for k, v in given.items()}
        try:
            check_marl_grouping(named, agents)
        except ValueError as error:
            raise InvalidParameter(f"invalid group_map={given!r}: expected groups of {', '.join(agents)}; {error}") from None
        return named

    def _make_specs(self, reward_size: int) -> None:
        observation, action, reward, done = (Composite(shape=self.batch_size) for _ in range(4))
        for end in ENDS:
            done[end] = self._make_flag((*self.batch_size, 1))
        for group in self.group_map or (None,):
            parts = self._make_group_specs(group, reward_size)
            for one, part in zip((observation, action, reward, done), parts, strict=True):
                if group is None:
                    one.update(part)
                else:
                    one[group] = part
        self.observation_spec, self.action_spec, self.reward_spec, self.done_spec = observation, action, reward, done

    def _make_group_specs(self, group: str | None, reward_size: int) -> list[Composite]:
        """Return the specs of the observations, action, reward and ends of a group; None: of a game without groups."""
        game, device = self.game, self.device
        shape = self.batch_size if group is None else (*self.batch_size, len(self.group_map[group]))
        if self._flatten:
            size = sum(int(np.prod(field.shape)) for field in game.fields)
            fields = {"observation": Unbounded((*shape, size), dtype=torch.float32, device=device)}
        else:
            fields = {
                field.name: Bounded(
                    field.low, field.high, (*shape, *field.shape), dtype=getattr(torch, str(field.dtype)), device=device
                )
                for field in game.fields
            }
        if len(game.actions) == 1:
            action = Categorical(game.actions[0], shape, dtype=torch.int64, device=device)
        else:
            action = MultiCategorical(game.actions, (*shape, len(game.actions)), dtype=torch.int64, device=device)
        masks = Binary(sum(game.actions), (*shape, sum(game.actions)), dtype=torch.bool, device=device)
        reward = Unbounded((*shape, reward_size), dtype=torch.float32, device=device)
        ends = {} if group is None else {end: self._make_flag((*shape, 1)) for end in ENDS}
        return [
            Composite(**fields, action_mask=masks, shape=shape),
            Composite(action=action, shape=shape),
            Composite(reward=reward, shape=shape),
            Composite(**ends, shape=shape),
        ]

    def _make_flag(self, shape: tuple[int, ...]) -> Categorical:
        return Categorical(2, shape, dtype=torch.bool, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        """Seed the next reset."""
        self._next_seed = seed

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        options = {} if chosen is None else {"reset_mask": chosen.reshape(-1).cpu().numpy()}
        observations, infos = self._envs.reset(seed=self._next_seed, options=options)
        self._next_seed = None
        self._to_move = infos["to_move"]
        return self._write_observations(observations, infos)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        observations, rewards, terminated, truncated, infos = self._envs.step(self._read_actions(tensordict))
        self._to_move = infos["to_move"]
        out = self._write_observations(observations, infos)
        agents = (self.batch_size[0], len(self.game.agents))
        values = {
            "reward": self._convert(rewards.reshape(*agents, -1), np.float32),
            "terminated": self._convert(terminated.reshape(*agents, 1)),
            "truncated": self._convert(truncated.reshape(*agents, 1)),
        }
        values["done"] = values["terminated"] | values["truncated"]
        if not self.group_map:
            return out.update({name: value[:, 0] for name, value in values.items()})
        for group, indices in self._indices.items():
            out[group].update({name: value[:, indices] for name, value in values.items()})
        over = values["done"].all(dim=1)
        cut = over & values["truncated"].any(dim=1)
        return out.update({"done": over, "terminated": values["terminated"].all(dim=1), "truncated": cut})

    def _read_actions(self, tensordict: TensorDictBase) -> NDArray[np.int64]:
        """Return the actions int64[N, S, P] of the agents that act."""
        parts = len(self.game.actions)
        if not self.group_map:
            return tensordict["action"].cpu().numpy().reshape(-1, 1, parts)  # type: ignore[no-any-return]
        actions = np.zeros((self.batch_size[0], len(self.game.agents), parts), np.int64)
        for group, indices in self._indices.items():
            actions[:, indices] = tensordict[group, "action"].cpu().numpy().reshape(-1, len(indices), parts)
        return actions[np.arange(len(actions)), self._to_move][:, None] if self.game.sequential else actions

    def _write_observations(self, observations: Any, infos: Mapping[str, Any]) -> TensorDict:
        """Return the observations and masks of all agents, and let the action specs draw legal actions."""
        fields = observations if isinstance(observations, dict) else {self.game.fields[0].name: observations}
        single = len(self.game.agents) == 1
        fields = {name: values[:, None] if single else values for name, values in fields.items()}
        if self._flatten:
            rows = [values.reshape(*values.shape[:2], -1) for values in fields.values()]
            fields = {"observation": np.concatenate(rows, axis=-1, dtype=np.float32, casting="unsafe")}
        tensors = {name: self._convert(values) for name, values in fields.items()}
        tensors[MASK] = self._convert(self._fill_masks(infos[MASK][:, None] if single else infos[MASK]))
        out = TensorDict({}, self.batch_size, device=self.device)
        if not self.group_map:
            out.update({name: values[:, 0] for name, values in tensors.items()})
            self.full_action_spec["action"].update_mask(out[MASK])
        for group, indices in self._indices.items():
            part = {name: values[:, indices] for name, values in tensors.items()}
            out[group] = TensorDict(part, (*self.batch_size, len(indices)), device=self.device)
            self.full_action_spec[group, "action"].update_mask(part[MASK])
        return out

    def _fill_masks(self, masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return masks bool[N, A, M] in which agents without a legal action have the first action of each part."""
        filled: NDArray[np.bool_] = masks != 0
        for part in split_mask(filled, self.game.actions):  # type: ignore[arg-type]  # views
            part[..., 0] |= ~part.any(axis=-1)
        return filled

    def _convert(self, values: NDArray[Any], dtype: Any = None) -> torch.Tensor:
        """Return a copy as a tensor: the buffers of the batch change in the next step."""
        return torch.from_numpy(np.array(values, dtype)).to(self.device)

    def set_weights(self, weights: Any) -> None:
        """Change the weights of the scalar reward from the next step on."""
        self._envs.set_weights(weights)

    def close(self, **kwargs: Any) -> None:
        """End the threads of the batch."""
        super().close(**kwargs)
        self._envs.close()
