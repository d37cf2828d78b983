"""A person plays at the terminal, alone or against the built-in policies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from momagames import registry
from momagames.contract import Game, Policy, split_mask
from momagames.play.session import Session, choose_seed, human_agents
from momagames.render import caption
from momagames.render.position import describe_position

LISTED = 120  # legal moves that "?" shows at most
HELP = "Type a move, ? for the legal moves, u to take back your last move, q to quit."


def play(
    id: str,
    opponent: str | Policy = "random",
    seed: int | None = None,
    human: str | Sequence[str] | None = None,
    *,
    console: Console | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Play a game at the terminal.

    opponent   who plays the other agents: the name of a policy, or a policy
    seed       of the deal and of the opponents' luck; without one a new game each time
    human      the agent that the person at the terminal plays, or several (default: the first); none: only watch
    console    where to print
    params     of the game
    Returns    float64[A, K], the returns when the game was over or left
    Raises     UnknownId, InvalidParameter
    """
    game = registry.spec(id, **params)
    table = Table(game, opponent, choose_seed(seed), human_agents(game, human), console or Console())
    table.run()
    return table.play.returns.copy()


class Quit(Exception):
    """The person has left."""


class Table(Session):
    """A game at a terminal."""

    def __init__(self, game: Game, opponent: str | Policy, seed: int, humans: Sequence[str], console: Console) -> None:
        super().__init__(game, opponent, seed, humans)
        self.console = console
        self.say(self.title, "dim")
        if self.welcome:
            self.say(f"{self.welcome} {HELP}")

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style))

    def run(self) -> None:
        """Play until the game is over or the person leaves."""
        try:
            while not self.play.state["over"]:
                self.turn()
        except Quit:
            self.say("You have left the game.")
        self.show()

    def turn(self) -> None:
        """Ask the people who are to act, then move the game one step; or take a move back."""
        asked = self.human_turns()
        if asked:
            self.show()
        chosen: dict[int, Any] = {}
        for i in asked:
            answer = self.ask(i)
            if answer is None:
                self.undo()
                return
            chosen[i] = answer
        if asked:
            self.save_position()
        self.advance(chosen)

    def ask(self, agent: int) -> Any:
        """A legal action that the person has typed, or None to take a move back."""
        while True:
            typed = self.read(f"{self.game.agents[agent]}> ")
            if typed == "u":
                return None
            if typed == "q":
                raise Quit
            if typed in ("?", ""):
                self.list_moves(agent)
                continue
            try:
                action = self.game.human.parse_action(self.play.state, typed)
            except ValueError as error:
                self.say(f"{error}; ? lists the legal moves", "red")
                continue
            if self.play.is_legal(agent, action):
                return action
            self.say(f"{self.play.illegal_action_error(agent, action)}; ? lists them", "red")

    def read(self, prompt: str) -> str:
        """A line that the person has typed; Quit where there is no more."""
        try:
            typed = self.console.input(Text(prompt, "bold")).strip().lower()
        except (EOFError, KeyboardInterrupt):
            self.console.print()
            raise Quit from None
        if not sys.stdin.isatty():
            self.say(typed)
        return typed

    def list_moves(self, agent: int) -> None:
        """Legal moves, in a form that can be typed."""
        mask = self.play.mask(agent)
        if len(self.game.actions) == 1:
            legal = np.flatnonzero(mask)
            names = [self.game.human.action_name(self.play.state, action) for action in legal[:LISTED]]
            more = f" and {len(legal) - LISTED} more" if len(legal) > LISTED else ""
            self.say(f"{len(legal)} legal moves: {' '.join(names)}{more}")
            return
        for part, allowed in enumerate(split_mask(mask, self.game.actions)):
            self.say(f"part {part + 1}: {' '.join(map(str, np.flatnonzero(allowed)))}")

    def undo(self) -> None:
        """Take the last move of a person back, and say so."""
        if self.undo_move():
            self.say("Taken back.")
        else:
            self.say("There is no move to take back.", "red")

    def advance(self, chosen: dict[int, Any]) -> None:
        """Play the actions of people and those of the others, and say what they paid, as far as people may know that."""
        play, game = self.play, self.game
        before, known = play.state.copy(), self.humans if self.view_options() else game.agents
        named = [(game.agents[i], game.human.action_name(before, action)) for i, action in self.step(chosen).items()]
        moves = [f"{name} plays {move}" for name, move in named if name in known]
        gained = zip(game.agents, map(self.gains, play.reward), strict=True)
        paid = [f"{name} {gains}" for name, gains in gained if gains and name in known]
        self.say(f"{', '.join(moves) or 'nobody moves'}: {'; '.join(paid) or 'no reward'}")

    def gains(self, reward: NDArray[np.float32]) -> str:
        """A reward vector as text, without its zeros: "captures +0.062"."""
        named = zip(self.game.objectives, reward, strict=True)
        return ", ".join(f"{goal.name} {'+' if value > 0 else ''}{caption.number(value)}" for goal, value in named if value)

    def show(self) -> None:
        """The board, the situation and the returns."""
        state, look = self.play.state, self.view_options()
        self.console.print()
        for line in describe_position(self.game, state, self.last, **look):
            self.console.print(Text.assemble(*line), no_wrap=True, crop=False)
        self.console.print()
        returns = caption.seen_by(self.game, self.play.returns, look.get("viewer"))
        self.say(caption.text(self.game, state, returns, min(100, self.console.width)))
