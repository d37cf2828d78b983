"""Options of MOPPO: their defaults, ranges and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from momagames.baselines.utilities import UTILITIES
from momagames.errors import check_choice, check_range

# defaults of `momagames train`; suites state every option
DEFAULT_OPTIONS: dict[str, Any] = {
    "num_envs": 128, "num_steps": 32, "update_epochs": 4, "num_minibatches": 4, "learning_rate": 1e-3, "gamma": 1.0,
    "gae_lambda": 0.95, "clip_coef": 0.2, "ent_coef": 0.01, "concentration": 0.4, "channels": 32, "hidden": 128, "layers": 2,
    "self_play": 0.5, "opponent_pool_size": 2, "critic": "decentralized", "utility": "linear", "expert": None,
    "bc_fraction": 0.1, "self_imitation_coef": 0.0, "reward_scaling": "random", "device": "auto", "divisions": 4,
    "greedy": True, "network": "auto", "precision": "float32", "caution": 0, "modulation": 0.7, "advantage_scaling": "common",
}  # fmt: skip
# option -> lowest and highest value
RANGES: dict[str, tuple[float, float]] = {
    "num_envs": (1, 65_536),
    "num_steps": (2, 65_536),
    "update_epochs": (1, 100),
    "num_minibatches": (1, 4096),
    "learning_rate": (1e-8, 1.0),
    "gamma": (0.0, 1.0),
    "gae_lambda": (0.0, 1.0),
    "clip_coef": (1e-4, 10.0),
    "ent_coef": (0.0, 10.0),
    "concentration": (1e-3, 1000.0),
    "channels": (1, 1024),
    "hidden": (1, 8192),
    "layers": (1, 64),
    "self_play": (0.0, 1.0),
    "opponent_pool_size": (0, 64),
    "bc_fraction": (0.0, 1.0),
    "self_imitation_coef": (0.0, 1.0),
    "divisions": (1, 100),
    "caution": (0, 2),
    "modulation": (0.0, 100.0),
}
CHOICES = {
    "critic": ("decentralized", "centralized"),
    "utility": UTILITIES,
    "reward_scaling": ("random", "expert", "running"),
    "device": ("auto", "cpu", "cuda"),
    "network": ("auto", "convolutional", "egocentric", "candidates"),
    "precision": ("float32", "bfloat16"),
    "advantage_scaling": ("common", "weights"),
}


@dataclass(frozen=True)
class MoppoOptions:
    """Options of MOPPO. A value out of range raises InvalidParameter.

    num_envs             environments of the batch
    num_steps            steps of each environment per rollout
    update_epochs        epochs of an update
    num_minibatches      minibatches of an epoch
    learning_rate        initial learning rate of Adam; it is annealed linearly to 0 over the budget, like `ent_coef`
    gamma                discount between consecutive decisions of an agent
    gae_lambda           lambda of the generalized advantage estimates
    clip_coef            clipping range of the probability ratio
    ent_coef             initial coefficient of the entropy bonus
    concentration        parameter of the symmetric Dirichlet distribution of the weights: 1 is uniform, smaller values favor
                         single objectives
    channels, hidden, layers    sizes of the network, see `network.Network`; behind an egocentric view there are two dense
                         layers of 2 * hidden and hidden units; candidate actions are scored by one of hidden units, at most
                         MAX_HIDDEN, see `candidate_network.CandidateNetwork`
    self_play            fraction of the environments in which all teams learn. In the others one team learns and plays in turn
                         against the opponents of the experiment and the opponent pool
    opponent_pool_size   number of earlier versions of the network in the opponent pool
    critic               "decentralized": the critic sees the observation of the agent (IPPO); "centralized": a separate critic
                         sees the observations of all agents (MAPPO), only in games with simultaneous moves
    utility              "linear": weighted sum of the returns; "log": of their logarithms, a concave utility for balanced
                         returns; "chebyshev": augmented Chebyshev distance to the ideal point, which also reaches points in
                         concave regions of the front, see `momagames.baselines.utilities`
    expert               name of a policy that is imitated first (behavior cloning): it plays for the learning agents; None: off
    bc_fraction          fraction of the budget spent on behavior cloning
    self_imitation_coef  fraction of the episodes, when all start from one position, that replay the best episode found for
                         their weights, which is imitated
    reward_scaling       rewards are divided by the root mean square of the returns of "random" play, of the "expert", or of a
                         "running" estimate over the training episodes
    device               device of the network: "cpu", "cuda", or "auto" (CUDA if available). Training is reproducible only on
                         "cpu"
    divisions            divisions of the simplex lattice of the weights of the returned policies
    greedy               whether these policies play the most likely action instead of sampling one
    network              "egocentric": dense layers read the egocentric view that a game declares; "convolutional": convolutions
                         read the observation; "candidates": a hidden layer scores each distinct action by features of one step
                         of look-ahead, in games with perfect information in which agents move in turn; "auto": egocentric where
                         it is declared, but not with a centralized critic; else candidates where the game declares features
                         for each objective (`ObjectiveFeatures`, or heuristics `present` or `optimistic`); else convolutional
    precision            of the network's products in training: "float32", or "bfloat16", which is faster on processors that
                         have it (avx512_bf16, amx_bf16) and on CUDA. Parameters and the returned policies are float32
    caution              level on which actions that the game declares unsafe are masked, in training and in the returned
                         policies: 0 (none), 1 or 2, see `contract.LearningSupport.clear_unsafe_actions`
    modulation           0: the weights are inputs of the network like any others; above 0: they also multiply the units of its
                         dense layers, by factors whose initial standard deviation is this for the weights of one objective. The
                         scorer of candidate actions has no such factors, since the weights multiply its features
    advantage_scaling    "common": advantages are divided by their standard deviation in the minibatch; "weights": each is first
                         divided by the standard deviation there of sums of all advantages with its weights, so that weights on
                         objectives that vary little learn as fast as others
    """

    name: ClassVar[str] = "moppo"
    num_envs: int
    num_steps: int
    update_epochs: int
    num_minibatches: int
    learning_rate: float
    gamma: float
    gae_lambda: float
    clip_coef: float
    ent_coef: float
    concentration: float
    channels: int
    hidden: int
    layers: int
    self_play: float
    opponent_pool_size: int
    critic: str
    utility: str
    expert: str | None
    bc_fraction: float
    self_imitation_coef: float
    reward_scaling: str
    device: str
    divisions: int
    greedy: bool
    network: str
    precision: str
    caution: int
    modulation: float = 0.0
    advantage_scaling: str = "common"

    def __post_init__(self) -> None:
        check_choice(f"{self.name}: greedy", self.greedy, (True, False))
        for name, (low, high) in RANGES.items():
            check_range(f"{self.name}: {name}", getattr(self, name), low, high)
        for name, choices in CHOICES.items():
            check_choice(f"{self.name}: {name}", getattr(self, name), choices)
