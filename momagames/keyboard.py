"""A person plays in a window with the keyboard, against the built-in policies."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters.render import MARGIN, Renderer
from momagames.contract import Game, Policy
from momagames.errors import BadCall, BadParameter
from momagames.render import canvas, caption
from momagames.seating import Seating, people, some_seed

RATE = 4.0  # steps per second, unless something else is asked for
FASTEST = 30.0
LOOKS = 60  # times per second that keys and pointer are looked at
LINE = 22  # pixels of a line below the picture
LEAVE, PAUSE = ("escape", "q"), "p"


def play(
    id: str,
    opponent: str | Policy = "random",
    seed: int | None = None,
    human: str | None = None,
    *,
    rate: float = RATE,
    **params: Any,
) -> NDArray[np.float64]:
    """Play a game in a window.

    opponent   who plays the other agents: the name of a policy, or a policy
    seed       of the deal and of the opponents' luck; without one a new game each time
    human      the agent that the person plays (default: the first)
    rate       steps per second; 0: a step whenever a key has chosen an action
    params     of the game
    Returns    float64[A, K], the returns when the game was over or left
    Raises     UnknownId, BadParameter; MissingExtra or BadCall where no window can be opened
    """
    board = sit(id, opponent, seed, human, rate, **params)
    board.run()
    return board.seats.play.returns.copy()


def sit(id: str, opponent: str | Policy, seed: int | None, human: str | None, rate: float, **params: Any) -> Board:
    """Open the window for a game; see `play`."""
    return Board(registry.spec(id, **params), opponent, some_seed(seed), human, rate)


class Board:
    """A game in a window. It waits for a first key; afterwards `look`, called often, does what there is to do."""

    def __init__(self, game: Game, opponent: str | Policy, seed: int, human: str | None, rate: float = RATE) -> None:
        if game.keys is None:
            raise BadParameter(f"{game.id} has no keys for a window; play it at the terminal")
        if not 0 <= rate <= FASTEST:
            raise BadParameter(f"rate={rate!r} is not possible; allowed: numbers 0..{FASTEST:g} (steps per second)")
        self.keys, self.rate = game.keys, rate
        self.seats = Seating(game, opponent, seed, people(game, human))
        self.restricted = self.seats.look()
        self.renderer = Renderer(game, "human", dict(self.restricted))
        assert self.renderer.window is not None
        self.window = self.renderer.window
        self.me = game.agents.index(self.seats.humans[0])
        self.paused = True  # until the first key
        self.chosen = [0] * len(game.actions)
        self.fresh = False  # whether a key has chosen part 0 since the last step
        self.turn_of: dict[tuple[int, ...], int] = {}  # for keys that set several parts: which one is next
        self.due = 0.0  # when the clock makes the next step
        self.drawn: Any = None  # what the window shows
        self.draw()
        if not self.window.seen():
            self.window.close()
            raise BadCall("no window can be seen here: there is no screen")

    @property
    def over(self) -> bool:
        return bool(self.seats.play.state["over"])

    def run(self) -> None:
        """Until the person leaves or closes the window; the end of a game stays in view until then."""
        try:
            while not self.window.closed:
                time.sleep(1 / LOOKS)
                self.look(time.monotonic())
        finally:
            self.window.close()

    def look(self, now: float) -> None:
        """Take the keys, play a step if it is time (seconds of a clock), draw what has changed."""
        for key in self.window.poll():
            self.press(key, now)
        if not self.window.closed and not self.paused and not self.over and self.is_time(now):
            self.step()
            period = 1 / (self.rate or RATE)
            self.due = max(self.due, now - period / 2) + period
        if not self.window.closed:
            self.draw()

    def is_time(self, now: float) -> bool:
        """Whether to play a step: by the clock, or as soon as an action has been chosen. Who only watches needs the clock."""
        if self.rate or not self.seats.asked():
            return now >= self.due
        return self.fresh

    def press(self, key: str, now: float) -> None:
        """What a key does; the first one also starts the clock."""
        if key in LEAVE:
            self.window.close()
        elif key == PAUSE:
            self.paused, self.due = not self.paused, now
        elif key in self.keys.choices:
            self.choose(key)
            if self.paused:
                self.paused, self.due = False, now
        elif not any(option[0] == key for option in self.restricted):
            self.renderer.press(key)

    def choose(self, key: str) -> None:
        """Set a part of the next action."""
        parts, value = self.keys.choices[key]
        turn = self.turn_of.get(parts, 0)
        part = parts[turn % len(parts)]
        self.turn_of[parts] = turn + 1
        self.chosen[part] = value
        self.fresh = self.fresh or part == 0

    def action(self) -> Any:
        """The action of the next step: what was chosen, or what a key that is down says, or else as little as is legal."""
        play, parts = self.seats.play, list(self.chosen)
        if not self.fresh:
            held = [self.keys.choices[key][1] for key in self.window.held if self.keys.choices.get(key, ((), 0))[0] == (0,)]
            parts[0] = held[-1] if held else 0
        legal = [np.flatnonzero(part) for part in np.split(play.mask(self.me), np.cumsum(self.seats.game.actions)[:-1])]
        taken = [part if part in allowed else int(allowed[0]) for part, allowed in zip(parts, legal, strict=True)]
        return taken[0] if len(taken) == 1 else np.array(taken, np.int64)

    def step(self) -> None:
        """One step of the game."""
        self.seats.move({self.me: self.action()} if self.seats.asked() else {})
        self.fresh = False
        if not self.seats.look():  # the person is out of the game and may see everything
            self.renderer.options.update(dict.fromkeys(self.restricted))
            self.restricted = {}

    def summary(self) -> str:
        """How the game stands, as text."""
        play = self.seats.play
        return caption.text(self.seats.game, play.state, play.returns)

    def draw(self) -> None:
        """Show the position, if it or the way to look at it has changed."""
        seats = self.seats
        play, options = seats.play, tuple(self.renderer.options.items())
        keys = (tuple(self.chosen), self.fresh, tuple(self.window.held))
        now = (int(play.state["ply"]), options, self.window.pointer, self.paused, keys)
        if now == self.drawn:
            return
        self.drawn = now
        picture = self.renderer.picture(play.state, seats.last, play.returns)
        sheet = canvas.blank(picture.shape[0] + 2 * LINE, picture.shape[1])
        sheet[: picture.shape[0]] = picture
        y = picture.shape[0] - MARGIN / 2 + LINE / 2
        canvas.write(sheet, MARGIN, y, self.says())
        canvas.write(sheet, MARGIN, y + LINE, self.help(), ink=canvas.FAINT)
        self.window.put(sheet)

    def help(self) -> str:
        """A line on the keys."""
        looks = [option.name for option in self.seats.game.render_options if option.low is None]
        free = [f"{name[0]}: {name}" for name in looks if name not in self.restricted]
        return ", ".join([self.keys.help, *free, f"{PAUSE}: pause, {LEAVE[0]}: leave"])

    def says(self) -> str:
        """A line on the situation of the person."""
        seats = self.seats
        if self.over:
            return f"The game is over; {LEAVE[0]} leaves."
        if not seats.asked():
            return f"{seats.humans[0]} is out of the game; the others go on."
        if self.paused:
            return f"{seats.welcome} A key of yours starts the {'clock' if self.rate else 'game'}."
        return f"{seats.humans[0]}: {seats.game.action_name(seats.play.state, self.action())} next"
