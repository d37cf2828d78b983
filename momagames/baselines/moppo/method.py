"""MOPPO as a method of the benchmark: its options, and its policies one for each weight vector of a lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, Trained, check_certain, kernels_of
from momagames.baselines.moppo.encoder import sight
from momagames.baselines.moppo.network_policy import MAX_GOALS, NetworkPolicy, restored
from momagames.baselines.weight_lattice import label, simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import Member
from momagames.errors import InvalidParameter, MissingExtra, check_choice, check_range

if TYPE_CHECKING:
    from momagames.baselines.moppo.trainer import Trainer

MAX_POLICIES = 1024
# what `momagames train` takes where nothing is said; a suite leaves nothing to defaults
USUAL: dict[str, Any] = {
    "num_envs": 128, "rollout": 32, "epochs": 4, "minibatches": 4, "learning_rate": 1e-3, "gamma": 1.0, "trace": 0.95,
    "clip": 0.2, "entropy": 0.01, "concentration": 1.0, "channels": 32, "hidden": 128, "layers": 2, "self_play": 0.5,
    "pool": 2, "critic": "own", "utility": "linear", "teacher": None, "lessons": 0.1, "self_imitation": 0.0,
    "scaling": "random", "device": "auto", "divisions": 4, "greedy": True,
}  # fmt: skip
# option -> lowest, highest
RANGES: dict[str, tuple[float, float]] = {
    "num_envs": (1, 65_536),
    "rollout": (2, 65_536),
    "epochs": (1, 100),
    "minibatches": (1, 4096),
    "learning_rate": (1e-8, 1.0),
    "gamma": (0.0, 1.0),
    "trace": (0.0, 1.0),
    "clip": (1e-4, 10.0),
    "entropy": (0.0, 10.0),
    "concentration": (1e-3, 1000.0),
    "channels": (1, 1024),
    "hidden": (1, 8192),
    "layers": (1, 64),
    "self_play": (0.0, 1.0),
    "pool": (0, 64),
    "lessons": (0.0, 1.0),
    "self_imitation": (0.0, 1.0),
    "divisions": (1, 100),
}
CHOICES = {
    "critic": ("own", "central"),
    "utility": ("linear", "chebyshev"),
    "scaling": ("random", "running"),
    "device": ("auto", "cpu", "cuda"),
}


@dataclass(frozen=True)
class Moppo(Method):
    """Multi-objective PPO: one network for all weights, trained on many games at once (extra `learn`: PyTorch).

    The network sees the observation, which agent it plays, and weights that are drawn anew for each side and game; it has a
    value for each objective, and its advantages are weighted sums of theirs. All agents that learn share it (IPPO). What is
    illegal is masked. Rewards are brought to one scale (`scaling`), and weights are meant for that scale. A game
    that is cut off counts as ended there.

    num_envs        games side by side
    rollout         steps of each between two updates
    epochs, minibatches   of an update
    learning_rate   at the beginning; it falls to nothing over the budget, and `entropy` with it
    gamma           discount from one decision of an agent to its next
    trace           lambda of the advantages
    clip, entropy   how far a policy may move in an update; what variety is worth
    concentration   of the Dirichlet distribution of the weights: 1 is uniform, less favors single objectives
    channels, hidden, layers   of the network, see `network.Network`
    self_play       share of the games in which all sides learn, where there are several; in the others one does, and meets the
                    opponents of the experiment and the pool by turns
    pool            earlier versions of itself that it meets
    critic          "own": values come from what the agent sees (IPPO); "central": from what all agents see, by a network that
                    is left behind after training (MAPPO); only where all move at once
    utility         "linear": the weighted sum of the returns; "chebyshev": minus the largest weighted shortfall from the best
                    return of each objective so far, which also finds points in hollows of the front
    teacher         a policy that plays the first games, at all seats that learn, and is imitated; None: nobody
    lessons         share of the budget that goes there
    self_imitation  share of the games in which, where all begin at one start, the best game so far for their weights is played
                    again and imitated
    scaling         what rewards are divided by, the root mean square of returns: "random": those of random play; "running":
                    those of the games of training, which changes as these do
    device          where the network learns: "cpu", "cuda", or "auto": CUDA where there is one. Only on "cpu" is the same seed
                    the same training, to the bit
    divisions       of the simplex lattice of the weights that are offered as policies
    greedy          whether these take the likeliest action, instead of drawing one

    Source: proximal policy optimization, Schulman et al., 2017; conditioned on weights, Abels et al., "Dynamic weights in
    multi-objective deep reinforcement learning", ICML 2019; vector values and weighted advantages, Xu et al.,
    "Prediction-guided multi-objective reinforcement learning for continuous robot control", ICML 2020; masks, Huang and
    Ontañón, "A closer look at invalid action masking in policy gradient algorithms", 2020; shared by agents, de Witt et al.,
    "Is independent learning all you need in the StarCraft multi-agent challenge?", 2020; best games imitated, after Oh et al.,
    "Self-imitation learning", ICML 2018.
    """

    name: ClassVar[str] = "moppo"
    trains: ClassVar[bool] = True
    num_envs: int
    rollout: int
    epochs: int
    minibatches: int
    learning_rate: float
    gamma: float
    trace: float
    clip: float
    entropy: float
    concentration: float
    channels: int
    hidden: int
    layers: int
    self_play: float
    pool: int
    critic: str
    utility: str
    teacher: str | None
    lessons: float
    self_imitation: float
    scaling: str
    device: str
    divisions: int
    greedy: bool

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            check_range(f"{self.name}: {name}", getattr(self, name), low, high)
        for name, choices in CHOICES.items():
            check_choice(f"{self.name}: {name}", getattr(self, name), choices)

    def check_plan(self, game: Game) -> None:
        check_certain(self.name, game)
        self._check(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        """Train from this start alone. Every game counts, those of training and, at the end, one of each policy."""
        self.check_installed()
        self.check_plan(game)
        from momagames.baselines.moppo.trainer import Trainer

        with _one_thread():
            trainer = Trainer(game, self, range(len(game.agents)), (), budget, seed, start)
            while not trainer.done:
                trainer.advance()
        trainer.play_out(self.offered(trainer.policy()))
        archive = trainer.archive
        return Plans(archive.front(), trainer.steps, facts=_facts(trainer), passed=archive.passed)

    def policies(self, game: Game) -> tuple[Member, ...]:
        raise InvalidParameter(f"{self.name} finds its policies in training, with a budget")

    def check_installed(self) -> None:
        try:
            import_module("torch")
        except ImportError:
            raise MissingExtra(f'the method "{self.name}" needs PyTorch: pip install "momagames[learn]"') from None

    def check_train(self, game: Game) -> None:
        if self.self_imitation:
            raise InvalidParameter(
                f"{self.name}: self_imitation={self.self_imitation} is for training on one deal; allowed: 0, or a deal "
                "(`momagames train ID --deal SEED`)"
            )
        self._check(game)

    def _check(self, game: Game) -> None:
        goals = len(game.objectives)
        if goals > MAX_GOALS:
            raise InvalidParameter(f"{self.name}: {game.id} has {goals} objectives; allowed: at most {MAX_GOALS}")
        if self.critic == "central" and game.sequential:
            raise InvalidParameter(f"{self.name}: critic='central' is for games where all move at once; {game.id} allows 'own'")
        if self.teacher:
            from momagames.baselines import compiled

            compiled(self.teacher, game)
        count = len(simplex_lattice(goals, self.divisions))
        if count > MAX_POLICIES:
            raise InvalidParameter(
                f"{self.name}: divisions={self.divisions} gives {count:,} policies for {game.id}; allowed: {MAX_POLICIES:,}"
            )
        sight(game)

    def train(self, game: Game, ours: Sequence[int], others: Sequence[Member], budget: int, seed: int) -> Trained:
        self.check_installed()
        self.check_train(game)
        from momagames.baselines.moppo.trainer import Trainer

        with _one_thread():
            trainer = Trainer(game, self, ours, kernels_of(others), budget, seed)
            while not trainer.done:
                trainer.advance()
        return Trained(self.offered(trainer.policy()), trainer.steps, _facts(trainer))

    def offered(self, policy: NetworkPolicy) -> tuple[Member, ...]:
        """The policies of a network, one for each weight vector of the lattice."""
        lattice = simplex_lattice(len(policy.game.objectives), self.divisions)
        return tuple(policy.member(label(weights), weights.tolist(), self.greedy) for weights in lattice)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> Member:
        return restored(game, label, arrays)


@contextmanager
def _one_thread() -> Iterator[None]:
    """A run has one core, and the same sums on every executor."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _facts(trainer: Trainer) -> dict[str, Any]:
    return {"updates": trainer.updates, "numbers": trainer.size, "scale": trainer.scale.tolist()}
