"""MOPPO, the training: rollouts on the batch engine, vector advantages, clipped updates. `learn.method.Moppo` has the options.

A trainer is advanced update by update; all that the next one depends on can be kept and taken up again, to the bit on one
machine with the same number of threads, on a processor (see `learn.checkpoint`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan, kernels_of, side
from momagames.baselines.chebyshev import augmented_chebyshev
from momagames.baselines.moppo.checkpoint import typed
from momagames.baselines.moppo.encoder import sight
from momagames.baselines.moppo.kernels import advantages, choices, encode
from momagames.baselines.moppo.network import Network, Seen
from momagames.baselines.moppo.network_policy import NetworkPolicy, told_apart
from momagames.baselines.observation_layout import room
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import RANDOM, deal, play
from momagames.engine.policies import NOBODY, Compiled, Member, Players
from momagames.errors import InvalidFile, InvalidParameter

if TYPE_CHECKING:
    from momagames.baselines.moppo.method import Moppo

MEASURED = 256  # games of random play that bring rewards to one scale
REMEMBERED = 1024  # returns that make up a running scale
MOST_NORM = 0.5  # of a gradient
VALUE_SHARE = 0.5  # of the loss
EPSILON = 1e-5  # of Adam
RENEWED = 10  # updates between two versions of itself that join the pool
ILLEGAL = -1e9  # finite, so that a part without a legal value makes no NaN


class Trainer:
    """The training of one network.

    ours      agents that it learns to play, in turn, each with the others of its team
    others    opponents, where not all sides learn
    budget    steps of the engine; it stops after the update in which they are spent
    start     record[1]: every game begins there (one agent, or agents that get every reward; nothing left to chance); None:
              every game is a new deal
    aim       float64[K]: all games are played for these weights; None: each side of each game draws its own

    network, steps, updates   as far as it is
    scale     float64[K], what the rewards of each objective are divided by; given, it stays as it is
    utopia    float64[K], the best return of each objective so far
    archive   with a start: the best games that were played

    Letters: T steps of a rollout, N games, V views of each (1 where agents take turns, else A agents), K objectives, M length
    of a mask, P parts of an action, R rows: decisions of agents that learn
    """

    def __init__(
        self,
        game: Game,
        options: Moppo,
        ours: Sequence[int],
        others: Sequence[Compiled],
        budget: int,
        seed: int,
        start: NDArray[Any] | None = None,
        aim: NDArray[np.float64] | None = None,
        scale: NDArray[np.float64] | None = None,
    ) -> None:
        self.game, self.options, self.budget = game, options, budget
        self.steps = self.updates = 0
        self._left = 1.0  # share of the budget, before an update
        self.seconds = {"games": 0.0, "network": 0.0, "update": 0.0}
        words = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.luck = np.random.default_rng(words[0])
        self.lots = torch.Generator().manual_seed(int(words[1] >> np.uint64(1)))
        self.scale = _scale(game, int(words[2] >> np.uint64(1))) if scale is None else scale
        self._rescales = scale is None and options.scaling == "running"
        self._aim = aim
        self._sight, self._room, self._parts = sight(game), room(game), np.array(game.actions, np.int64)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(words[3] >> np.uint64(1)))
            size = (options.channels, options.hidden, options.layers)
            self.network = Network(game, self._sight, *size, central=options.critic == "central")
        self._device = _device(options.device)
        self.network.to(self._device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), options.learning_rate, eps=EPSILON)
        self.batch = Batch(game, options.num_envs, autoreset="disabled")
        self.batch.seed(int(self.luck.integers(2**63)))
        self._start = None if start is None else np.repeat(start, options.num_envs)
        self.archive = Archive(len(game.objectives))
        self._moves = np.zeros((options.num_envs, 0 if start is None else game.max_episode_steps), np.int32)
        self._again = np.zeros(options.num_envs, np.bool_)
        self._others, self._word = tuple(others), int(self.luck.integers(2**63))
        self._seats = _seats(game, options, ours, len(others))
        self._teachers = self._hire()
        self.pool: list[dict[str, NDArray[np.float32]]] = [self.network.exported()] * options.pool
        self._wishes = self._draw(options.pool)
        self._meet()
        self._floor = np.array(game.reference_point)
        self.utopia = self._floor + self.scale
        self.weights = np.zeros((options.num_envs, len(game.agents), len(game.objectives)), np.float32)
        self._paid = np.zeros(self.weights.shape)
        self._begin(np.ones(options.num_envs, np.bool_))

    @property
    def done(self) -> bool:
        return self.steps >= self.budget

    @property
    def size(self) -> int:
        """Numbers of the network."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def policy(self) -> NetworkPolicy:
        """What has been learned so far."""
        return NetworkPolicy(self.game, self.network.exported())

    def advance(self) -> dict[str, float]:
        """A rollout and an update. Returns what is worth logging."""
        self._left = max(0.0, 1 - self.steps / self.budget)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * self._left
        rollout = self._roll_out(self.taught)
        told = self._update(rollout)
        self.updates += 1
        if self.pool and self.updates % RENEWED == 0:
            self.pool[self.updates // RENEWED % len(self.pool)] = self.network.exported()
            self._wishes = self._draw(len(self.pool))
            self._meet()
        return {"steps": self.steps, **self._sum_up(rollout.returns), **told}

    @property
    def taught(self) -> bool:
        """Whether the next rollout is a lesson: the teacher plays, and is imitated."""
        return self._teachers is not None and self.steps < self.options.lessons * self.budget

    # ------------------------------------------------------------------------------------------------------ who plays

    def _hire(self) -> Players | None:
        """The teacher, at all seats of the learner; None if there is none."""
        if not self.options.teacher:
            return None
        from momagames.baselines import compiled

        seats = np.where(self._seats == NOBODY, 0, NOBODY)
        return Players(self.batch, [compiled(self.options.teacher, self.game)], seats, int(self.luck.integers(2**63)))

    def _meet(self) -> None:
        """Seat the opponents; the pool may have other versions and wishes than before."""
        pool = [
            NetworkPolicy(self.game, arrays).kernel(row, greedy=False)
            for arrays, row in zip(self.pool, self._wishes.tolist(), strict=True)
        ]
        known = getattr(self, "players", None)
        self.players = Players(self.batch, [*self._others, *pool], self._seats, self._word)
        if known is not None:
            self.players.take_up(known.kept())

    def _draw(self, *sizes: int) -> NDArray[np.float64]:
        """Weights float64[..., K]."""
        if self._aim is not None:
            return np.broadcast_to(self._aim, (*sizes, len(self._aim)))
        return self.luck.dirichlet(np.full(len(self.game.objectives), self.options.concentration), sizes)

    def _begin(self, fresh: NDArray[np.bool_]) -> None:
        """Begin some games anew, with new weights: one vector for each team."""
        if self._start is None:
            self.batch.reset(fresh)
        else:
            self.batch.load(self._start, fresh)
        teams = np.array(self.game.teams)
        self.weights[fresh] = self._draw(int(fresh.sum()), int(teams.max()) + 1)[:, teams]
        self._paid[fresh] = 0.0
        if self.options.self_imitation and self.archive.plans:
            self._again[fresh] = self.luck.random(int(fresh.sum())) < self.options.self_imitation
            for n in np.flatnonzero(self._again & fresh):
                plan = self._best(self.weights[n, 0])
                self._moves[n, : len(plan)] = plan

    def _best(self, weights: NDArray[np.float32]) -> tuple[int, ...]:
        """The moves of the game that suits these weights best, of all that were played."""
        values = self.archive.values
        return self.archive.plans[int(self._utility(values / self.scale, np.tile(weights, (len(values), 1))).argmax())].actions

    # ---------------------------------------------------------------------------------------------------- checkpoints

    def kept(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All that the next update depends on: plain facts, and arrays."""
        facts = {
            "steps": self.steps, "updates": self.updates, "seconds": self.seconds, "luck": self.luck.bit_generator.state,
            "scale": self.scale.tolist(), "archive": self.archive.state_dict(),
        }  # fmt: skip
        tensors = {name: tensor.detach().cpu().numpy() for name, tensor in self._tensors().items()}
        return facts, {name: np.array(array) for name, array in {**tensors, **self._arrays()}.items()}

    def _tensors(self) -> dict[str, Tensor]:
        """The network and what the optimizer remembers."""
        found: dict[str, Tensor] = {f"network/{name}": tensor for name, tensor in self.network.state_dict().items()}
        for i, state in self.optimizer.state_dict()["state"].items():
            found |= {f"optimizer/{i}/{name}": tensor for name, tensor in state.items()}
        return found

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Views of all else that training changes."""
        found = {f"batch/{name}": array for name, array in self.batch.kept().items()}
        found |= {f"players/{i}": array for i, array in enumerate(self.players.kept())}
        if self._teachers is not None:
            found |= {f"teachers/{i}": array for i, array in enumerate(self._teachers.kept())}
        found |= {f"pool/{i}/{name}": array for i, member in enumerate(self.pool) for name, array in member.items()}
        return found | {
            "weights": self.weights,
            "paid": self._paid,
            "utopia": self.utopia,
            "wishes": self._wishes,
            "moves": self._moves,
            "again": self._again,
            "lots": self.lots.get_state().numpy(),
        }

    def take_up(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the trainer of whom this was kept, which was made by the same arguments. InvalidFile if it was not."""
        self._warm_up()
        own, tensors = self._arrays(), self._tensors()
        if {*own, *tensors} != set(arrays):
            raise InvalidFile(f"a checkpoint of other training: {sorted({*own, *tensors} ^ set(arrays))[:3]} do not fit")
        given = {name: typed(arrays[name], array) for name, array in own.items()}
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(typed(arrays[name], tensor.cpu().numpy())))
        for i, member in enumerate(self.pool):
            self.pool[i] = {name: given[f"pool/{i}/{name}"] for name in member}
        self._wishes[...] = given["wishes"]
        self._meet()
        for name, array in self._arrays().items():
            if not name.startswith("pool/"):
                array[...] = given[name]
        self.lots.set_state(torch.from_numpy(given["lots"].copy()))
        self.batch.take_up(self.batch.kept())
        self.steps, self.updates, self.seconds = facts["steps"], facts["updates"], dict(facts["seconds"])
        self.luck.bit_generator.state = facts["luck"]
        self.scale = np.array(facts["scale"])
        self.archive.load_state_dict(facts["archive"])

    def _warm_up(self) -> None:
        """Let the optimizer make its arrays, if it has none yet."""
        if not self.optimizer.state:
            for parameter in self.network.parameters():
                parameter.grad = torch.zeros_like(parameter)
            self.optimizer.step()

    # ------------------------------------------------------------------------------------------------------ rollouts

    def _ask(
        self, games: NDArray[np.uint8], n: NDArray[np.int64], v: NDArray[np.int64], who: NDArray[np.int64],
        weights: NDArray[np.float32],
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The network's logits and values for R decisions.

        games      observations uint8[G, V, B], and int64[R] which of them: game n, view v
        who        int64[R], the agents that decide, and their weights float32[R, K]
        """
        agents = told_apart(self.game)
        last = np.zeros((len(n), agents + weights.shape[1]), np.float32)
        if agents:
            last[np.arange(len(n)), who] = 1.0
        last[:, agents:] = weights
        every = None if self.network.critic is None else self._see(games[n], last)
        own = self._see(games[n, v][:, None], last)
        found: tuple[Tensor, Tensor] = self.network(own, every)
        return found

    def _see(self, rows: NDArray[np.uint8], last: NDArray[np.float32]) -> Seen:
        """What a body is told: observations uint8[R, A, B] as boards and numbers, and what comes last float32[R, L]."""
        seen, (decisions, agents) = self._sight, rows.shape[:2]
        boards = np.empty((decisions * agents, seen.cells * len(seen.planes)), np.float32)
        numbers = np.empty((decisions * agents, len(seen.numbers)), np.float32)
        encode(rows.reshape(-1, rows.shape[2]), self._room, seen.planes, seen.numbers, boards, numbers)
        if agents > 1 and seen.cells:
            by_cell = boards.reshape(decisions, agents, seen.cells, -1).transpose(0, 2, 1, 3)
            boards = np.ascontiguousarray(by_cell)
        told = np.concatenate([numbers.reshape(decisions, -1), last], axis=1)
        return self._tensor(boards.reshape(decisions, -1)), self._tensor(told)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def _whose(self) -> NDArray[np.int64]:
        """The agent behind each view, int64[N, V]."""
        if self.game.sequential:
            return self.batch.to_move[:, None].astype(np.int64)
        return np.broadcast_to(np.arange(len(self.game.agents)), (self.batch.num_envs, len(self.game.agents)))

    def _roll_out(self, lesson: bool) -> Rollout:
        """Play on in all games; in a lesson the teacher plays."""
        batch = self.batch
        kept = Rollout(self.game, self.options.rollout, batch)
        ended = []
        for t in range(self.options.rollout):
            kept.taught[t] = (self._again | lesson)[:, None]
            actions = self._decide(kept, t, lesson)
            began = time.perf_counter()
            self._follow(actions, lesson)
            kept.actions[t] = actions
            self.players.act(actions)
            batch.step(actions)
            self.steps += batch.num_envs
            kept.rewards[t], kept.ended[t] = batch.rewards / self.scale, batch.finished
            self._paid += batch.rewards
            if batch.finished.any():
                ours = (self._seats == NOBODY) & ~self._again[:, None] & batch.finished[:, None]
                ended.append(batch.returns[ours])
                self._collect()
                self._begin(batch.finished.copy())
            self.seconds["games"] += time.perf_counter() - began
        self._judge(kept)
        kept.returns = np.concatenate(ended) if ended else kept.returns
        return kept

    def _decide(self, kept: Rollout, t: int, lesson: bool) -> NDArray[np.int64]:
        """What the learner would do in step t, int64[N, V, P]; in a lesson it is only asked what it expects."""
        batch, game, whose = self.batch, self.game, self._whose()
        kept.observations[t], kept.masks[t], kept.whose[t] = batch.observations, batch.masks, whose
        choices(batch.masks, self._parts, kept.acted[t])
        kept.acted[t] &= np.take_along_axis(self._seats, whose, 1) == NOBODY
        actions = _first_legal(batch.masks, game.actions)[:, : game.actors].copy()
        n, v = kept.acted[t].nonzero()
        if not len(n):
            return actions
        who = whose[n, v]
        kept.weights[t, n, v], kept.paid[t, n, v] = self.weights[n, who], self._paid[n, who] / self.scale
        began = time.perf_counter()
        with torch.no_grad():
            found = self._ask(batch.observations, n, v, who, self.weights[n, who])
            logits, values = found[0].cpu(), found[1].cpu()
            kept.values[t, n, v] = values.numpy()
            if not lesson:
                logs = _log_softmax(logits, torch.from_numpy(batch.masks[n, v]), game.actions)
                drawn = torch.stack([self._sample(part) for part in logs], 1)
                kept.logs[t, n, v] = _log_of(logs, drawn).numpy()
                actions[n, v] = drawn.numpy()
        self.seconds["network"] += time.perf_counter() - began
        return actions

    def _follow(self, actions: NDArray[np.int64], lesson: bool) -> None:
        """Put in what those play who are imitated: the teacher, and games that are played again, by their known course; the
        course of all others is written down."""
        if self._teachers is not None and lesson:
            self._teachers.act(actions)
        if self._moves.size:
            now = np.arange(len(actions)), self.batch.lengths
            actions[:, 0, 0] = self._moves[now] = np.where(self._again, self._moves[now], actions[:, 0, 0])

    def _sum_up(self, returns: NDArray[np.float64]) -> dict[str, float]:
        """Learn from the returns of a rollout how far returns reach. Returns what is worth logging of them."""
        if not len(returns):
            return {"games": 0.0}
        self.utopia = np.maximum(self.utopia, returns.max(axis=0))
        if self._rescales:
            share = min(1.0, len(returns) / REMEMBERED)
            squares = (returns**2).mean(axis=0)
            self.scale = np.where(squares > 0, np.sqrt((1 - share) * self.scale**2 + share * squares), self.scale)
        means = {f"return/{goal.name}": float(returns[:, k].mean()) for k, goal in enumerate(self.game.objectives)}
        return {"games": float(len(returns)), **means}

    def _collect(self) -> None:
        """Keep the best of the games that have just ended, if all began at one start."""
        if self._start is None:
            return
        ended = np.flatnonzero(self.batch.finished)

        def plan(i: int) -> Plan:
            moves = self._moves[ended[i], : self.batch.final_lengths[ended[i]]]
            return Plan(tuple(moves.tolist()), self.batch.returns[ended[i], 0].copy(), self.steps, self.options.name)

        self.archive.add(self.batch.returns[ended, 0], plan)

    def _sample(self, logs: Tensor) -> Tensor:
        """An index of each row, by its log probabilities (the Gumbel trick)."""
        noise = torch.rand(logs.shape, generator=self.lots).clamp_(1e-20)
        return (logs - torch.log(-torch.log(noise))).argmax(1)

    def _judge(self, kept: Rollout) -> None:
        """Fill in the advantages. What an agent expects behind the last step is known for those who are seen then."""
        options, batch = self.options, self.batch
        later = np.full((*self.weights.shape[:2], self.weights.shape[2]), np.nan, np.float32)
        later[batch.states["gone"][:, : later.shape[1]] != 0] = 0.0
        whose = self._whose()
        n, v = (np.take_along_axis(self._seats, whose, 1) == NOBODY).nonzero()
        who = whose[n, v]
        with torch.no_grad():
            _, values = self._ask(batch.observations, n, v, who, self.weights[n, who])
        here = batch.masks[n, v].any(axis=1)
        later[n[here], who[here]] = values.cpu().numpy()[here]
        sums = np.zeros((3, later.shape[2]))
        advantages(
            kept.rewards, kept.ended, kept.whose[:, :, 0].astype(np.int32), kept.acted, kept.values, later, options.gamma,
            options.trace, sums, kept.advantages, kept.good,
        )  # fmt: skip

    def play_out(self, members: Sequence[Member]) -> NDArray[np.float64]:
        """Let policies play a game each from the start, which counts as those of training do. Returns float64[n, K]."""
        assert self._start is not None
        batch = Batch(self.game, len(members), autoreset="disabled")
        batch.load(np.repeat(self._start[:1], len(members)))
        seats = np.repeat(np.arange(len(members))[:, None], len(self.game.agents), axis=1)
        players = Players(batch, kernels_of(members), seats, self._word)
        moves = []
        while not batch.states["over"].all():
            going = batch.states["over"] == 0
            moves.append(np.where(going, players.act()[:, 0, 0], -1))
            self.steps += int(going.sum())
            batch.step(batch.played)
        every = np.stack(moves, 1)

        def plan(i: int) -> Plan:
            return Plan(tuple(every[i][every[i] >= 0].tolist()), batch.returns[i, 0].copy(), self.steps, members[i].label)

        self.archive.add(batch.returns[:, 0], plan)
        return batch.returns[:, 0].copy()

    # ------------------------------------------------------------------------------------------------------ updates

    def _update(self, kept: Rollout) -> dict[str, float]:
        """Several epochs over the decisions of a rollout."""
        began = time.perf_counter()
        options, losses = self.options, []
        rows = np.flatnonzero((kept.acted & kept.good).reshape(-1))
        for _ in range(options.epochs):
            order = torch.randperm(len(rows), generator=self.lots).numpy()
            for chosen in np.array_split(rows[order], options.minibatches):
                if len(chosen) > 1:
                    losses.append(self._learn(kept, chosen))
        self.seconds["update"] += time.perf_counter() - began
        if not losses:
            return {"decisions": 0.0}
        means = np.mean(losses, axis=0)
        return {
            "decisions": float(len(rows)),
            **dict(zip(("loss/policy", "loss/value", "entropy", "kl"), means.tolist(), strict=True)),
        }

    def _learn(self, kept: Rollout, chosen: NDArray[np.int64]) -> tuple[float, float, float, float]:
        """One step of the optimizer, with the decisions of these numbers; those that were taught are imitated."""
        options, rows = self.options, kept.rows(chosen)
        n, v = np.divmod(chosen, kept.masks.shape[2])
        games = kept.observations.reshape(-1, *kept.observations.shape[2:])
        logits, values = self._ask(games, n, v, rows["whose"], rows["weights"])
        logs = _log_softmax(logits, self._tensor(rows["masks"]), self.game.actions)
        now = _log_of(logs, self._tensor(rows["actions"]))
        change = now - self._tensor(rows["logs"])
        ratio = change.exp()
        own = self._tensor(~rows["taught"])
        gain = torch.zeros_like(now)
        if own.sum() > 1:
            gain[own] = _normalized(self._tensor(self._gain(rows).astype(np.float32))[own])
        clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - options.clip, 1 + options.clip))
        policy_loss = -torch.where(own, clipped, now).mean()
        value_loss = (values - self._tensor(rows["advantages"] + rows["values"])).square().mean()
        entropy = -torch.stack([(part.exp() * part).sum(1) for part in logs], 1).sum(1).mean()
        loss = policy_loss + VALUE_SHARE * value_loss - options.entropy * self._left * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), MOST_NORM)
        self.optimizer.step()
        moved = (ratio - 1 - change)[own]
        return policy_loss.item(), value_loss.item(), entropy.item(), moved.mean().item() if len(moved) else 0.0

    def _gain(self, rows: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """What decisions brought more than was expected, in utility: of the return that came, less of that expected."""
        expected = rows["paid"] + rows["values"]
        return self._utility(expected + rows["advantages"], rows["weights"]) - self._utility(expected, rows["weights"])

    def _utility(self, returns: NDArray[np.float64], weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Utility float64[R] of scaled returns float64[R, K]."""
        if self.options.utility == "chebyshev":
            return augmented_chebyshev((returns * self.scale - self._floor) / (self.utopia - self._floor), weights)
        found: NDArray[np.float64] = (weights * returns).sum(axis=1)
        return found


class Rollout:
    """What happened in some steps of all games; see `Trainer` for the letters.

    acted     whether an agent that learns had a choice, and good: whether its advantage could be told
    whose     the agent of each view
    taught    whether somebody else chose, who is imitated
    paid      what the game had paid the agent before
    returns   float64[n, K], of agents that learn in games that have ended
    """

    def __init__(self, game: Game, steps: int, batch: Batch) -> None:
        views, goals = batch.masks.shape[1], len(game.objectives)
        lead = (steps, batch.num_envs, views)
        self.observations = np.zeros((*lead, game.observation_bytes), np.uint8)
        self.masks = np.zeros((*lead, game.mask_size), np.int8)
        self.whose, self.acted, self.good = np.zeros(lead, np.int64), np.zeros(lead, np.bool_), np.zeros(lead, np.bool_)
        self.actions, self.taught = np.zeros((*lead, len(game.actions)), np.int64), np.zeros(lead, np.bool_)
        self.logs, self.values = np.zeros(lead, np.float32), np.zeros((*lead, goals), np.float32)
        self.weights, self.advantages = np.zeros((*lead, goals), np.float32), np.zeros((*lead, goals), np.float32)
        self.paid = np.zeros((*lead, goals))
        self.rewards = np.zeros((*lead[:2], len(game.agents), goals), np.float32)
        self.ended = np.zeros(lead[:2], np.bool_)
        self.returns = np.zeros((0, goals))

    def rows(self, chosen: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Decisions by their number, in one row each."""
        names = ("masks", "whose", "actions", "logs", "values", "weights", "advantages", "paid", "taught")
        return {name: array.reshape(-1, *array.shape[3:])[chosen] for name in names for array in [getattr(self, name)]}


def _device(wanted: str) -> torch.device:
    """Where the network lies; InvalidParameter for a graphics card that is not there."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise InvalidParameter("moppo: device='cuda' is not possible here: PyTorch finds no CUDA; allowed: 'auto' or 'cpu'")
    return torch.device("cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu")


def _seats(game: Game, options: Moppo, ours: Sequence[int], others: int) -> NDArray[np.int64]:
    """Who plays each agent of each game, int64[N, A]: NOBODY for the learner, else an opponent or one of the pool."""
    seats = np.full((options.num_envs, len(game.agents)), NOBODY)
    rivals = others + options.pool
    first = round(options.self_play * options.num_envs) if rivals and len(set(game.teams)) > 1 else options.num_envs
    for n in range(first, options.num_envs):
        own = side(game, ours[n % len(ours)])
        seats[n] = [NOBODY if agent in own else (n // len(ours)) % rivals for agent in range(len(game.agents))]
    return seats


def _scale(game: Game, seed: int) -> NDArray[np.float64]:
    """The root mean square of what random play returns in each objective; 1 where that is nothing."""
    seeds = np.random.default_rng(seed).integers(2**63, size=(MEASURED, 1 + len(game.agents)), dtype=np.uint64)
    rules = np.full((MEASURED, len(game.agents)), RANDOM)
    weights = np.zeros((*rules.shape, len(game.objectives)))
    returns = play(game, deal(game, seeds[:, 0]), rules, weights, seeds[:, 1:].copy()).returns
    found: NDArray[np.float64] = np.sqrt((returns**2).mean(axis=(0, 1)))
    return np.where(found > 0, found, 1.0)


def _normalized(gain: Tensor) -> Tensor:
    return (gain - gain.mean()) / (gain.std() + 1e-8)


def _first_legal(masks: NDArray[np.int8], parts: Sequence[int]) -> NDArray[np.int64]:
    """The first legal value of each part, int64[N, V, P]: what those play who have no choice."""
    ends = np.cumsum(parts)
    return np.stack([masks[:, :, end - size : end].argmax(axis=2) for end, size in zip(ends, parts, strict=True)], axis=2)


def _log_softmax(logits: Tensor, masks: Tensor, parts: Sequence[int]) -> list[Tensor]:
    """Log probabilities of the values of each part, those that are illegal left out."""
    legal = torch.where(masks != 0, logits, ILLEGAL)
    return [part.log_softmax(1) for part in torch.split(legal, list(parts), 1)]


def _log_of(logs: Sequence[Tensor], actions: Tensor) -> Tensor:
    """The log probability of actions int64[R, P]."""
    picked: Iterator[Tensor] = (part.gather(1, actions[:, [p]])[:, 0] for p, part in enumerate(logs))
    return torch.stack(list(picked), 1).sum(1)
