"""Runs: the units of work of a suite, identified by a hash of their content."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Discriminator, Field, Tag, TypeAdapter

from momagames.benchmark.choices import GameChoice, MethodChoice, Opponent
from momagames.benchmark.data_models import UNLIMITED, Count, FrozenModel, NamingModel, Seconds
from momagames.contract import Game
from momagames.files.json_data import canonical_json
from momagames.plugins import USER, Origin

# Incremented when the meaning of rows changes, and the first version of momagames whose rows have this meaning
ROWS_FORMAT, ROWS_VERSION = 1, "0.1.0"


class HeadToHead(FrozenModel):
    """Games between the methods of an experiment, instead of episodes against its opponents.

    Each method trains against the opponents of the experiment, from its seats, and selects one policy, that with the most wins
    in the selection episodes. In the report episodes this policy plays from each seat of the games against the policy of each
    method, its own included, and responses are played against it (see `head_to_head`).

    seats              agents that the policies play in turn in these games; empty: every agent
    responses          methods whose policies are responses; those with training are trained against the policy
    response_budget    environment steps of the training of each response
    """

    seats: tuple[str, ...]
    responses: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    response_budget: Count

    def list_seats(self, game: Game) -> tuple[str, ...]:
        """Return the agents that the policies play in turn."""
        return self.seats or game.agents


class _Run(NamingModel):
    """One unit of work: everything that its result depends on, and its time limit, which the digest excludes.

    A field with a default came later: it is not in the digest where it has this default, so that digests of stored runs stay.

    budget       environment steps of a search or of training; None for policies that are not trained
    revisions    revisions of its methods by name (see `Method`); None: all have the first one
    version, rows_format    what rows mean: their format, and the first version of momagames that has it
    """

    game: GameChoice
    canonical: str
    method: MethodChoice
    seed: int
    budget: int | None
    revisions: dict[str, int] | None = None
    version: str
    rows_format: int
    seconds: Annotated[Seconds, Field(exclude=True)]

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of this run."""
        return hashlib.sha256(canonical_json(self.to_dict()).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True, exclude={"method": {"label"}})

    @property
    def folder(self) -> str:
        """Name of the run's directory: readable, and unique by content."""
        return f"{self.game.id}.{self.method.name.replace(':', '-')}.seed{self.seed}.{self.digest[:16]}"


class PlansRun(_Run):
    """A search for plans.

    cpu_seconds    CPU time of the search instead, with `budget` for the first trial; None: `budget` alone
    opponents, seats, select_episodes, report_episodes    of policies; a run of plans has none, as its digest says
    """

    kind: Literal["plans"]
    budget: Count
    cpu_seconds: Seconds | None = None
    opponents: tuple[()]
    seats: tuple[()]
    select_episodes: None
    report_episodes: None

    def count_units(self) -> int:
        """Return the units of work."""
        return self.budget

    def take_share(self, share: float) -> PlansRun:
        """Return a run with a share of the work of this one."""
        if self.cpu_seconds:
            return self.model_copy(update={"cpu_seconds": self.cpu_seconds * share})
        return self.model_copy(update={"budget": _reduce(self.budget, share)})


class PoliciesRun(_Run):
    """Episodes of the policies of a method against opponents, see `PoliciesExperiment`.

    plays    episodes of the method in each start position, and training on those of the selection episodes only (see
             `Generalization`); None: one episode of each policy, and new start positions in training
    stored_episodes    first episodes of each set whose rows are stored, beside sums over all; None: all, and no sums
    """

    kind: Literal["policies"]
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: int
    report_episodes: int
    episode_set: str | None = None
    plays: int | None = None
    stored_episodes: int | None = None

    @property
    def episodes(self) -> int:
        """Number of selection and report episodes."""
        return self.select_episodes + self.report_episodes

    def count_units(self) -> int:
        """Return the units of work: the budget of training, or without training the number of episodes."""
        return self.budget if self.budget is not None else self.episodes * max(1, len(self.opponents)) * len(self.seats)

    def take_share(self, share: float) -> PoliciesRun:
        """Return a run with a share of the work of this one."""
        names = ("budget", "select_episodes", "report_episodes")
        return self.model_copy(update={name: _reduce(getattr(self, name), share) for name in names})

    def play_alone(self, **changed: Any) -> PoliciesRun:
        """Return a run of a method against the opponents alone: this one with other values, without games between methods."""
        return PoliciesRun(**{name: getattr(self, name) for name in PoliciesRun.model_fields} | changed)


class HeadToHeadRun(PoliciesRun):
    """Games between the policy of a method and those of the others, see `HeadToHead`.

    players    methods that meet, the own one included
    """

    players: tuple[MethodChoice, ...]
    head_to_head: HeadToHead

    def take_share(self, share: float) -> PoliciesRun:
        budget = _reduce(self.head_to_head.response_budget, share)
        meeting = self.head_to_head.model_copy(update={"response_budget": budget})
        return super().take_share(share).model_copy(update={"head_to_head": meeting})


def _reduce(count: int | None, share: float) -> int | None:
    return count and max(1, round(count * share))


Run = PlansRun | PoliciesRun


def _name_kind(content: Mapping[str, Any]) -> Any:
    """Return the tag of the content of a run."""
    return "head_to_head" if "players" in content else content.get("kind")


_ANY_RUN: TypeAdapter[Run] = TypeAdapter(
    Annotated[
        Annotated[PlansRun, Tag("plans")]
        | Annotated[PoliciesRun, Tag("policies")]
        | Annotated[HeadToHeadRun, Tag("head_to_head")],
        Discriminator(_name_kind),
    ]
)


def parse_run(content: Mapping[str, Any], seconds: float = UNLIMITED, origin: Origin = USER) -> Run:
    """Return the run with this content."""
    return _ANY_RUN.validate_json(json.dumps({**content, "seconds": seconds}), context=origin)


class Versions(NamedTuple):
    """What computed results: the version of momagames, and the revisions of its methods by name where they are above 1."""

    version: str
    revisions: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join([self.version, *(f"{name} of revision {value}" for name, value in self.revisions.items())])
