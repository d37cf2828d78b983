"""Front files of games: a Pareto front as plain data, with its claim and a witness for each point.

A file is one JSON object. Its `sha256` is the hash of all other keys in canonical form (sorted, without spaces), which detects
changed files. The witness of a point is a sequence of actions or a strategy that can be replayed (see `verify`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from momagames import registry
from momagames.benchmark.choices import GameChoice, Opponent
from momagames.benchmark.data_models import FrozenModel
from momagames.contract import Game
from momagames.errors import InvalidFile, MomagamesError, one_of
from momagames.files.json_data import canonical_json
from momagames.fronts.front_content import LISTS, FrontContent, Method, parse_content, read_content

Claim = Literal["returns", "clairvoyant", "guaranteed", "response", "equilibrium", "subgame-perfect"]
ALL = "all"  # the agent of a front with the returns of all agents, or of a team
PLAN_CLAIMS: tuple[Claim, ...] = ("returns", "clairvoyant")  # claims whose witnesses are sequences of actions
EQUILIBRIUM_CLAIMS: tuple[Claim, ...] = ("equilibrium", "subgame-perfect")  # claims about the returns of all agents
STATEMENTS: dict[Claim, str] = {
    "returns": "The Pareto front of the returns that {agent} can attain from this start position.",
    "clairvoyant": "The Pareto front of the returns that {agent} can attain from this start position with all random draws "
    "known in advance.",
    "guaranteed": "The Pareto front of the vectors that {agent} can guarantee from this start position: against every strategy "
    "of the opponent, the return of {agent} is at least the vector in every objective.",
    "response": "The expected returns that {agent} can attain from this start position against {opponent}: the vertices of the "
    "convex hull of the expected returns of all policies that are not dominated.",
    "equilibrium": "The returns of {agent} agents in the Pareto-Nash equilibria in pure strategies from this start position: "
    "no strategy of an agent, against that of the other, has a return that dominates its return.",
    "subgame-perfect": "The returns of {agent} agents in the subgame perfect equilibria in pure strategies from this start "
    "position: after any moves, no strategy of an agent, against that of the other, has a return that dominates its return.",
}
BEST_KNOWN = (
    "The union of the points of archived runs. Each point was attained. Better points may exist: it is not the true front."
)


def state_claim(kind: Literal["proven", "best known"], claim: Claim, agent: str, opponent: Opponent | None) -> str:
    """Return the claim of a front as a sentence."""
    if kind == "best known":
        return BEST_KNOWN
    if agent == ALL and claim in PLAN_CLAIMS:
        agent = "the team of all agents"
    return STATEMENTS[claim].format(agent=agent, opponent=opponent.label if opponent else "")


def list_subjects(game: Game, claim: Claim) -> tuple[str, ...]:
    """Return what a front can be about: the agents, ALL in equilibria, and in plans of a team."""
    if claim in EQUILIBRIUM_CLAIMS:
        return (ALL,)
    is_team = claim in PLAN_CLAIMS and len(game.agents) > 1 and game.utility == "cooperative"
    return (ALL, *game.agents) if is_team else game.agents


def list_columns(game: Game, claim: Claim) -> tuple[str, ...]:
    """Return the names of the values of a point: the objectives, in equilibria those of each agent."""
    names = tuple(objective.name for objective in game.objectives)
    return tuple(f"{agent}.{name}" for agent in game.agents for name in names) if claim in EQUILIBRIUM_CLAIMS else names


class Start(FrozenModel):
    """The start position.

    seed        the seed that generates the position; None for a given position
    position    the position as a dict of the game; None if the file may not hold it
    sha256      of the canonical JSON of a position that the file does not hold, which its seed generates; else None
    """

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    position: dict[str, Any] | None = None
    sha256: str | None = None

    @model_validator(mode="after")
    def _check_position(self) -> Self:
        if (self.position is None) == (self.sha256 is None) or (self.position is None and self.seed is None):
            raise ValueError("expected a position, or its sha256 and the seed that generates it")
        return self

    def without_position(self) -> Start:
        """Return the start named by its seed and the hash of its position."""
        return Start(seed=self.seed, sha256=hash_position(self.position or {}))


def hash_position(position: dict[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a position."""
    return hashlib.sha256(canonical_json(position).encode()).hexdigest()


class GameFront(FrontContent):
    """The content of a front file of a game.

    kind          "proven": the points are the Pareto front; "best known": the union of the points found so far
    canonical     the id with every parameter, as in results
    agent         the agent whose returns the points are; "all" for equilibria and teams
    opponent      the opponent of the agent, for the claim "response"
    runs          digests of the runs in the union, in best-known fronts
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    kind: Literal["proven", "best known"]
    claim: Claim
    game: GameChoice
    canonical: str
    start: Start
    agent: str
    opponent: Opponent | None
    method: Method | None
    runs: tuple[str, ...]

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.kind == "proven") != (self.method is not None) or (self.kind == "best known") != bool(self.runs):
            raise ValueError("expected a method in a proven front, and runs in a best-known front")
        if self.kind == "proven" and self.start.position is None:
            raise ValueError("expected the position of a proven front")
        if (self.claim == "response") != (self.opponent is not None):
            raise ValueError("expected an opponent for the claim response, and for no other claim")
        self.check_statement(state_claim(self.kind, self.claim, self.agent, self.opponent))
        return self

    def content(self) -> dict[str, Any]:
        data = super().content()
        return {**data, "start": {key: value for key, value in data["start"].items() if value is not None or key == "seed"}}

    @property
    def position(self) -> dict[str, Any]:
        """The start position; InvalidFile if the file does not hold it."""
        if self.start.position is None:
            raise InvalidFile("the file does not hold the start position, only its sha256")
        return self.start.position

    @property
    def subject(self) -> str:
        """Text that names the game."""
        return self.canonical

    def make_game(self) -> Game:
        """Return the game; InvalidFile if it differs from the content of the file."""
        try:
            game = self.game.make_game()
        except MomagamesError as error:
            raise InvalidFile(f"game: {error}") from None
        canonical = registry.format_id(game.id, game.params)
        if canonical != self.canonical:
            raise InvalidFile(f"invalid canonical={self.canonical!r}: expected {canonical!r}, the game of the file")
        subjects = list_subjects(game, self.claim)
        if self.agent not in subjects:
            raise InvalidFile(f"invalid agent={self.agent!r}: expected {one_of(subjects)}")
        names = list_columns(game, self.claim)
        if names != self.objectives:
            raise InvalidFile(f"invalid objectives={self.objectives}: expected {names}, those of the game")
        return game


def read_header(path: Path) -> dict[str, Any]:
    """Return the keys of a front file before its points and certificates, unchecked; faster than `read_front`."""
    found: dict[str, Any] = {}
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            key, colon, value = line.partition(": ")
            if key.strip(' "') in LISTS:
                break
            if colon:
                found[json.loads(key)] = json.loads(value.rstrip().rstrip(","))
    return found


def read_game_front(path: str | Path) -> GameFront:
    """Read a front file of a game; InvalidFile with the location of an error."""
    return parse_content(GameFront, *read_content(path), path)
