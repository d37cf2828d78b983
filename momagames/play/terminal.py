"""Play of a person at the terminal, alone or against policies."""

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
from momagames.wording import show_controls

MAX_LISTED = 120  # largest number of legal moves that "?" lists
HELP = "Type a move, ? for the legal moves, u to take back your last move, q to quit."


def play(
    id: str,
    opponent: str | Policy = "random",
    seed: int | None = None,
    human: str | int | Sequence[str | int] | None = None,
    *,
    console: Console | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Play a game at the terminal.

    opponent   policy of the other agents, or its name
    seed       seed of the start position and of the opponents; None: a random one
    human      names or indices of the agents that the person plays (default: the first); empty: only watch
    console    output console
    params     parameters of the game
    Returns    float64[A, K], the returns at the end of the game or when the person left
    Raises     UnknownId, InvalidParameter
    """
    game = registry.spec(id, **params)
    session = TerminalSession(game, opponent, choose_seed(seed), human_agents(game, human), console or Console())
    session.run()
    return session.episode.returns.copy()


class Quit(Exception):
    """Signal that the person leaves the game."""


class TerminalSession(Session):
    """A game at the terminal."""

    def __init__(self, game: Game, opponent: str | Policy, seed: int, humans: Sequence[str], console: Console) -> None:
        super().__init__(game, opponent, seed, humans)
        self.console = console
        self.say(self.title, "dim")
        if self.welcome:
            self.say(f"{self.welcome} {HELP}")

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(show_controls(text), style))

    def run(self) -> None:
        """Play until the game is over or the person leaves."""
        try:
            while not self.episode.state["over"]:
                self.play_turn()
        except Quit:
            self.say("You have left the game.")
        self.show_position()

    def play_turn(self) -> None:
        """Ask the human agents to move, then advance the game by one step; or undo a move."""
        agents = self.human_turns()
        if agents:
            self.show_position()
        chosen: dict[int, Any] = {}
        for i in agents:
            answer = self.ask_action(i)
            if answer is None:
                self.undo()
                return
            chosen[i] = answer
        if agents:
            self.save_position()
        self.advance(chosen)

    def ask_action(self, agent: int) -> Any:
        """Return a legal action that the person typed, or None to undo a move."""
        while True:
            typed = self.read_line(f"{self.game.agents[agent]}> ")
            if typed == "u":
                return None
            if typed == "q":
                raise Quit
            if typed in ("?", ""):
                self.list_moves(agent)
                continue
            try:
                action = self.game.human.parse_action(self.episode.state, typed)
            except (ValueError, OverflowError) as error:
                self.say(f"{error}; ? lists the legal moves", "red")
                continue
            if self.episode.is_legal(agent, action):
                return action
            self.say(f"{self.episode.illegal_action_error(agent, action)}; ? lists them", "red")

    def read_line(self, prompt: str) -> str:
        """Return a line that the person typed. Raises Quit at the end of the input."""
        try:
            typed = self.console.input(Text(prompt, "bold")).strip().lower()
        except (EOFError, KeyboardInterrupt):
            self.console.print()
            raise Quit from None
        if not sys.stdin.isatty():
            self.say(typed)
        return typed

    def list_moves(self, agent: int) -> None:
        """Print the legal moves, in a form that can be typed."""
        mask = self.episode.mask(agent)
        if len(self.game.actions) == 1:
            legal = np.flatnonzero(mask)
            names = [self.game.human.action_name(self.episode.state, action) for action in legal[:MAX_LISTED]]
            suffix = f" and {len(legal) - MAX_LISTED} more" if len(legal) > MAX_LISTED else ""
            self.say(f"{len(legal)} legal moves: {' '.join(names)}{suffix}")
            return
        for part, allowed in enumerate(split_mask(mask, self.game.actions)):
            self.say(f"part {part + 1}: {' '.join(map(str, np.flatnonzero(allowed)))}")

    def undo(self) -> None:
        """Undo the last move of a person, with a message."""
        if self.undo_move():
            self.say("Taken back.")
        else:
            self.say("There is no move to take back.", "red")

    def advance(self, chosen: dict[int, Any]) -> None:
        """Play the actions of people and policies, and print moves and rewards that people may know."""
        episode, game = self.episode, self.game
        before, visible_agents = episode.state.copy(), self.humans if self.view_options() else game.agents
        named = [(game.agents[i], game.human.action_name(before, action)) for i, action in self.step(chosen).items()]
        moves = [f"{name} plays {move}" for name, move in named if name in visible_agents]
        gained = zip(game.agents, map(self.format_rewards, episode.reward), strict=True)
        rewards = [f"{name} {amounts}" for name, amounts in gained if amounts and name in visible_agents]
        self.say(f"{', '.join(moves) or 'no move'}: {'; '.join(rewards) or 'no reward'}")

    def format_rewards(self, reward: NDArray[np.float32]) -> str:
        """Format the nonzero rewards: "captures +0.062"."""
        named = zip(self.game.objectives, reward, strict=True)
        return ", ".join(
            f"{objective.name} {'+' if value > 0 else ''}{caption.format_number(value)}" for objective, value in named if value
        )

    def show_position(self) -> None:
        """Print the board, the ply, the agent to move and the returns."""
        state, options = self.episode.state, self.view_options()
        has_view = self.game.view.text is not None  # the lines of a view fit together; other text may wrap
        self.console.print()
        for line in describe_position(self.game, state, self.last, **options):
            self.console.print(Text.assemble(*line), no_wrap=has_view, crop=False)
        self.console.print()
        returns = caption.visible_returns(self.game, self.episode.returns, options.get("viewer"))
        self.say(caption.format_caption(self.game, state, returns, min(100, self.console.width)))
