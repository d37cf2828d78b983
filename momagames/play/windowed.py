"""Play of a person in a window, with the keyboard or the mouse, alone or against policies."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters.render import MARGIN, Renderer
from momagames.contract import Game, Keys, Policy, split_mask
from momagames.errors import InvalidCall, InvalidParameter
from momagames.play.session import Session, choose_seed, human_agents
from momagames.render import canvas, caption

RATE = 4.0  # default steps per second
FASTEST = 30.0
LOOKS = 60  # polls of keys and pointer per second
LINE = 22  # pixels of a line below the picture
NO_KEYS = Keys({}, "")
Pixel = tuple[int, int]  # (x, y)
LEAVE, PAUSE, UNDO, AGAIN = ("escape", "q"), "p", "u", "r"
DOT = 12  # pixels of the mark where a click waits for another


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

    opponent   policy of the other agents, or its name
    seed       seed of the start position and of the opponents; None: a random one
    human      agent that the person plays (default: the first)
    rate       steps per second; 0: a step after each key that chooses an action. Games with the mouse wait for the person,
               and the policies move at this rate
    params     parameters of the game
    Returns    float64[A, K], the returns at the end of the game or when the person left
    Raises     UnknownId, InvalidParameter; MissingExtra or InvalidCall where no window can be opened
    """
    board = open_board(id, opponent, seed, human, rate, **params)
    board.run()
    return board.seats.play.returns.copy()


def open_board(id: str, opponent: str | Policy, seed: int | None, human: str | None, rate: float, **params: Any) -> Board:
    """Open the window for a game; see `play`."""
    game = registry.spec(id, **params)
    kind = MouseBoard if game.human.pick is not None else Board
    return kind(game, opponent, choose_seed(seed), human, rate)


def is_playable(game: Game) -> bool:
    """Return whether a game can be played in a window."""
    return game.human.keys is not None or game.human.pick is not None


class Board:
    """A game in a window. It waits for a first key; afterwards frequent calls of `look` handle input and steps."""

    def __init__(self, game: Game, opponent: str | Policy, seed: int, human: str | None, rate: float = RATE) -> None:
        if not is_playable(game):
            raise InvalidParameter(f"{game.id} has neither keys nor a mouse for a window; play it at the terminal")
        if not 0 <= rate <= FASTEST:
            raise InvalidParameter(f"invalid rate={rate!r}: expected numbers 0..{FASTEST:g} (steps per second)")
        self.keys, self.rate = game.human.keys or NO_KEYS, rate
        self.seats = Session(game, opponent, seed, human_agents(game, human))
        self.restricted = self.seats.view_options()
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
        if not self.window.is_visible():
            self.window.close()
            raise InvalidCall("no window can be seen here: there is no screen")

    @property
    def over(self) -> bool:
        return bool(self.seats.play.state["over"])

    def run(self) -> None:
        """Run until the person leaves or closes the window; the end of a game stays in view."""
        try:
            while not self.window.closed:
                time.sleep(1 / LOOKS)
                self.look(time.monotonic())
        finally:
            self.window.close()

    def look(self, now: float) -> None:
        """Handle input, step if it is time (`now`: seconds of a clock), draw changes."""
        for key in self.window.poll_keys():
            self.press(key, now)
        for pressed, released in self.window.clicks:
            self.click(pressed, released)
        if not self.window.closed and not self.paused and not self.over and self.is_time(now):
            self.step()
            period = 1 / (self.rate or RATE)
            self.due = max(self.due, now - period / 2) + period
        if not self.window.closed:
            self.draw()

    def is_time(self, now: float) -> bool:
        """Return whether to step: by the clock, or after an action was chosen. Watching needs the clock."""
        if self.rate or not self.seats.human_turns():
            return now >= self.due
        return self.fresh

    def press(self, key: str, now: float) -> None:
        """Handle a key; the first one also starts the clock."""
        if key in LEAVE:
            self.window.close()
        elif key == PAUSE:
            self.paused, self.due = not self.paused, now
        elif key in self.keys.choices:
            self.choose(key)
            if self.paused:
                self.paused, self.due = False, now
        elif not any(option[0] == key for option in self.restricted):
            self.renderer.cycle_option(key)

    def click(self, pressed: Pixel, released: Pixel) -> None:
        """Handle a click: nothing in games with keys."""

    def choose(self, key: str) -> None:
        """Set a part of the next action."""
        parts, value = self.keys.choices[key]
        turn = self.turn_of.get(parts, 0)
        part = parts[turn % len(parts)]
        self.turn_of[parts] = turn + 1
        self.chosen[part] = value
        self.fresh = self.fresh or part == 0

    def action(self) -> Any:
        """Return the action of the next step: the chosen one, that of a held key, or else the first legal one."""
        play, parts = self.seats.play, list(self.chosen)
        if not self.fresh:
            held = [self.keys.choices[key][1] for key in self.window.held if self.keys.choices.get(key, ((), 0))[0] == (0,)]
            parts[0] = held[-1] if held else 0
        legal = [np.flatnonzero(part) for part in split_mask(play.mask(self.me), self.seats.game.actions)]
        chosen = [part if part in allowed else int(allowed[0]) for part, allowed in zip(parts, legal, strict=True)]
        return chosen[0] if len(chosen) == 1 else np.array(chosen, np.int64)

    def step(self) -> None:
        """Advance the game by one step."""
        self.seats.step({self.me: self.action()} if self.seats.human_turns() else {})
        self.fresh = False
        if not self.seats.view_options():  # the person is out of the game and may see everything
            self.restrict({})

    def restrict(self, options: dict[str, Any]) -> None:
        """Set the render options that the person may not change from now on."""
        self.renderer.options.update({**dict.fromkeys(self.restricted), **options})
        self.restricted = options

    def summary(self) -> str:
        """Return the situation as text."""
        play = self.seats.play
        return caption.text(self.seats.game, play.state, play.returns)

    def draw(self) -> None:
        """Draw the position if it or a render option has changed."""
        seats = self.seats
        play, options = seats.play, tuple(self.renderer.options.items())
        pointed = tuple(self.renderer.pointer_options(play.state).items())
        now = (int(play.state["ply"]), options, pointed, self.paused, self.said())
        if now == self.drawn:
            return
        self.drawn = now
        picture = self.renderer.picture(play.state, seats.last, play.returns)
        sheet = canvas.blank(picture.shape[0] + 2 * LINE, picture.shape[1])
        sheet[: picture.shape[0]] = picture
        self.mark(sheet)
        y = picture.shape[0] - MARGIN / 2 + LINE / 2
        canvas.write(sheet, MARGIN, y, self.says())
        canvas.write(sheet, MARGIN, y + LINE, self.help(), ink=canvas.FAINT)
        self.window.show(sheet)

    def said(self) -> tuple[Any, ...]:
        """Return the person's input so far, as the window shows it."""
        return tuple(self.chosen), self.fresh, tuple(self.window.held)

    def mark(self, sheet: canvas.Picture) -> None:
        """Draw a pending input of the person into the picture: nothing in games with keys."""

    def help(self) -> str:
        """Return a line of help on the keys."""
        return ", ".join([self.keys.help, *self.looks(), f"{PAUSE}: pause, {LEAVE[0]}: leave"])

    def looks(self) -> list[str]:
        """Return the keys of render options, each with the option's name."""
        names = [option.name for option in self.seats.game.view.render_options if option.low is None]
        return [f"{name[0]}: {name}" for name in names if name not in self.restricted]

    def says(self) -> str:
        """Return a line on the situation of the person."""
        seats = self.seats
        if self.over:
            return f"The game is over; {LEAVE[0]} leaves."
        if not seats.human_turns():
            return f"{seats.humans[0]} is out of the game; the others continue."
        if self.paused:
            return f"{seats.welcome} A key of yours starts the {'clock' if self.rate else 'game'}."
        return f"{seats.humans[0]}: {seats.game.human.action_name(seats.play.state, self.action())} next"


class MouseBoard(Board):
    """A game of turns in a window, played with the mouse; it waits for the person, and moves can be taken back.

    `Human.pick` of the game maps a click to an action. A click without an action is the first of two, as from cell to cell.
    If the game has keys as well, each key is an action.
    """

    def __init__(self, game: Game, opponent: str | Policy, seed: int, human: str | None, rate: float = RATE) -> None:
        self.picked: Any = None  # the action of the next step
        self.first: Pixel | None = None  # a click that waits for another
        self.refused = ""  # reason why the last click was not a move
        super().__init__(game, opponent, seed, human, rate)
        self.paused = False

    def is_time(self, now: float) -> bool:
        """Return whether to step: after a click of the person; policies move by the clock."""
        return self.picked is not None if self.seats.human_turns() else now >= self.due

    def click(self, pressed: Pixel, released: Pixel) -> None:
        """Choose the action of this click, alone or together with the previous click."""
        if self.over or not self.seats.human_turns():
            return
        action = self.meant(pressed, released)
        if action is None and self.first is not None:
            action = self.meant(self.first, released)
        self.first, self.refused = released, ""
        if action is not None:
            self.take(action)

    def choose(self, key: str) -> None:
        """Choose the action of a key."""
        if not self.over and self.seats.human_turns():
            self.take(self.keys.choices[key][1])

    def take(self, action: Any) -> None:
        """Choose an action, or report that it is not possible."""
        self.first, self.refused = None, ""
        if self.allowed(action):
            self.picked = action
        else:
            self.refused = f"{self.seats.game.human.action_name(self.seats.play.state, action)} is not possible."

    def meant(self, pressed: Pixel, released: Pixel) -> Any:
        """Return the action of a click, or None."""
        pick, state = self.seats.game.human.pick, self.seats.play.state
        assert pick is not None
        (x, y), (end_x, end_y) = pressed, released
        return pick(state, (x - MARGIN, y - MARGIN), (end_x - MARGIN, end_y - MARGIN))

    def allowed(self, action: Any) -> bool:
        """Return whether the mask allows an action; misplaced clicks are ignored even where the rules allow them."""
        mask, parts = self.seats.play.mask(self.me), self.seats.game.actions
        return all(part[n] for part, n in zip(split_mask(mask, parts), np.atleast_1d(action), strict=True))

    def press(self, key: str, now: float) -> None:
        """Handle a key."""
        if key in LEAVE:
            self.window.close()
        elif key in (UNDO, AGAIN):
            self.seats.undo_move(to_start=key == AGAIN)
            self.picked, self.first, self.refused, self.drawn = None, None, "", None
            self.restrict(self.seats.view_options())
        elif key in self.keys.choices:
            self.choose(key)
        elif not any(option[0] == key for option in self.restricted):
            self.renderer.cycle_option(key)

    def step(self) -> None:
        """Play the move of the person, or of a policy."""
        if self.seats.human_turns():
            self.seats.save_position()
            self.seats.step({self.me: self.picked})
        else:
            self.seats.step({})
        self.picked = None
        if self.over:
            self.restrict({})

    def said(self) -> tuple[Any, ...]:
        """Return the pending clicks, and the action under the pointer."""
        return self.first, self.refused, self.pointed()

    def pointed(self) -> Any:
        """Return the action of a click at the pointer, or None."""
        pointer = self.window.pointer
        return None if pointer is None else self.meant(self.first or pointer, pointer)

    def mark(self, sheet: canvas.Picture) -> None:
        """Draw a dot at a click that waits for a second one."""
        if self.first is not None:
            canvas.line(sheet, self.first, self.first, DOT, canvas.INK)
            canvas.line(sheet, self.first, self.first, DOT // 2, canvas.WHITE)

    def help(self) -> str:
        """Return a line of help on mouse and keys."""
        play = ["mouse: play", *([self.keys.help] if self.keys.help else [])]
        return ", ".join([*play, *self.looks(), f"{UNDO}: take back, {AGAIN}: from the start, {LEAVE[0]}: leave"])

    def says(self) -> str:
        """Return a line on the situation of the person."""
        seats = self.seats
        if self.over:
            return f"The game is over; {UNDO} takes back, {AGAIN} starts again, {LEAVE[0]} leaves."
        if self.refused:
            return self.refused
        if not seats.human_turns():
            mover = seats.play.mover
            return f"{seats.game.agents[mover]} {'is to move' if seats.play.mask(mover).any() else 'can do nothing'}."
        action = self.pointed()
        name = "" if action is None else seats.game.human.action_name(seats.play.state, action)
        return f"{seats.humans[0]}: {name or 'your move'}"
