"""Play of a person in a window, with the keyboard or the mouse, alone or against policies."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.adapters.render import MARGIN, SLIDE_TIME, Renderer
from momagames.contract import Game, Keys, Policy, split_mask
from momagames.errors import InvalidCall, InvalidParameter
from momagames.play.session import Session, choose_seed, human_agents
from momagames.render import canvas, caption

RATE = 4.0  # default steps per second
MAX_RATE = 30.0
POLL_RATE = 60  # polls of keys and pointer per second
LINE_HEIGHT = 22  # height in pixels of a line of text below the picture
NO_KEYS = Keys({}, "")
Pixel = tuple[int, int]  # (x, y)
LEAVE, PAUSE, UNDO, RESTART = ("escape", "q"), "p", "u", "r"
DOT = 12  # diameter in pixels of the dot at the first of two clicks


def play(
    id: str,
    opponent: str | Policy = "random",
    seed: int | None = None,
    human: str | int | None = None,
    *,
    rate: float = RATE,
    **params: Any,
) -> NDArray[np.float64]:
    """Play a game in a window.

    opponent   policy of the other agents, or its name
    seed       seed of the start position and of the opponents; None: a random one
    human      name or index of the agent that the person plays (default: the first)
    rate       steps per second; 0: a step after each key that chooses an action. Games with the mouse wait for the person,
               and the policies move at this rate
    params     parameters of the game
    Returns    float64[A, K], the returns at the end of the game or when the person left
    Raises     UnknownId, InvalidParameter; MissingExtra or InvalidCall where no window can be opened
    """
    board = open_game_window(id, opponent, seed, human, rate, **params)
    board.run()
    return board.session.episode.returns.copy()


def open_game_window(
    id: str, opponent: str | Policy, seed: int | None, human: str | int | None, rate: float, **params: Any
) -> GameWindow:
    """Open the window for a game; see `play`."""
    game = registry.spec(id, **params)
    kind = MouseGameWindow if game.human.pick is not None else GameWindow
    return kind(game, opponent, choose_seed(seed), human, rate)


def is_playable(game: Game) -> bool:
    """Return whether a game can be played in a window."""
    return game.human.keys is not None or game.human.pick is not None


class GameWindow:
    """A game in a window. It waits for a first key; afterwards frequent calls of `update` handle input and steps."""

    def __init__(self, game: Game, opponent: str | Policy, seed: int, human: str | int | None, rate: float = RATE) -> None:
        if not is_playable(game):
            raise InvalidParameter(f"{game.id} has neither keys nor a mouse for a window; play it at the terminal")
        if not 0 <= rate <= MAX_RATE:
            raise InvalidParameter(f"invalid rate={rate!r}: expected numbers 0..{MAX_RATE:g} (steps per second)")
        self.keys, self.rate = game.human.keys or NO_KEYS, rate
        self.session = Session(game, opponent, seed, human_agents(game, human))
        self.fixed_options = self.session.view_options()
        self.session.compile()  # before the window opens, as it would stand still
        self.renderer = Renderer(game, "human", dict(self.fixed_options))
        assert self.renderer.window is not None
        self.window = self.renderer.window
        self.human_index = game.agents.index(self.session.humans[0])
        self.paused = True  # until the first key
        self.chosen = [0] * len(game.actions)
        self.has_new_choice = False  # whether a key has set part 0 since the last step
        self.part_turns: dict[tuple[int, ...], int] = {}  # index of the next part, for keys that set several parts
        self.next_step_time = 0.0  # time of the next step
        self.drawn_content: Any = None  # the content of the window
        self.slides: list[canvas.Picture] = []  # pictures between the position before the last step and this one
        self.slide_start = 0.0  # time of the first of them
        self.draw()
        if not self.window.is_visible():
            self.window.close()
            raise InvalidCall("cannot show a window: there is no screen")

    @property
    def over(self) -> bool:
        return bool(self.session.episode.state["over"])

    def run(self) -> None:
        """Run until the person leaves or closes the window; a finished game stays visible."""
        try:
            while not self.window.closed:
                time.sleep(1 / POLL_RATE)
                self.update(time.monotonic())
        finally:
            self.window.close()

    def update(self, now: float) -> None:
        """Handle input, step if it is time (`now`: seconds of a clock), draw changes."""
        keys, clicks = self.window.poll_keys(), self.window.clicks
        if keys or clicks:
            self.slides = []
        for key in keys:
            self.press(key, now)
        for pressed, released in clicks:
            self.click(pressed, released)
        if not self.window.closed and not self.paused and not self.over and self.is_step_due(now):
            episode = self.session.episode
            before = episode.state.copy()
            self.step()
            if self.rate * SLIDE_TIME < 1:  # in a faster game they would take longer than a step
                self.slides = self.renderer.draw_slides(before, episode.state, self.session.last, episode.returns)
            self.slide_start, self.drawn_content = now, None
            period = 1 / (self.rate or RATE)
            self.next_step_time = max(self.next_step_time, now - period / 2) + period
        if not self.window.closed and not self.draw_slide(now):
            self.draw()

    def is_step_due(self, now: float) -> bool:
        """Return whether to step: by the clock, or with rate 0 after an action was chosen."""
        if self.rate or not self.session.human_turns():
            return now >= self.next_step_time
        return self.has_new_choice

    def press(self, key: str, now: float) -> None:
        """Handle a key; the first one also starts the clock."""
        if key in LEAVE:
            self.window.close()
        elif key == PAUSE:
            self.paused, self.next_step_time = not self.paused, now
        elif key in self.keys.choices:
            self.handle_choice(key)
            if self.paused:
                self.paused, self.next_step_time = False, now
        elif not any(option[0] == key for option in self.fixed_options):
            self.renderer.cycle_option(key)

    def click(self, pressed: Pixel, released: Pixel) -> None:
        """Handle a click: nothing in games with keys."""

    def handle_choice(self, key: str) -> None:
        """Set a part of the next action."""
        parts, value = self.keys.choices[key]
        turn = self.part_turns.get(parts, 0)
        part = parts[turn % len(parts)]
        self.part_turns[parts] = turn + 1
        self.chosen[part] = value
        self.has_new_choice = self.has_new_choice or part == 0

    def action(self) -> Any:
        """Return the action of the next step: the chosen one, that of a held key, or else the first legal one."""
        episode, parts = self.session.episode, list(self.chosen)
        if not self.has_new_choice:
            held = [
                self.keys.choices[key][1] for key in self.window.held_keys if self.keys.choices.get(key, ((), 0))[0] == (0,)
            ]
            parts[0] = held[-1] if held else 0
        legal = [np.flatnonzero(part) for part in split_mask(episode.mask(self.human_index), self.session.game.actions)]
        chosen = [part if part in allowed else int(allowed[0]) for part, allowed in zip(parts, legal, strict=True)]
        return chosen[0] if len(chosen) == 1 else np.array(chosen, np.int64)

    def step(self) -> None:
        """Advance the game by one step."""
        self.session.step({self.human_index: self.action()} if self.session.human_turns() else {})
        self.has_new_choice = False
        if not self.session.view_options():  # the person has left the game and may see the whole state
            self.fix_options({})

    def fix_options(self, options: dict[str, Any]) -> None:
        """Set the render options that the person may not change from now on."""
        self.renderer.options.update({**dict.fromkeys(self.fixed_options), **options})
        self.fixed_options = options

    def summary(self) -> str:
        """Return the caption of the position as text."""
        episode = self.session.episode
        return caption.format_caption(self.session.game, episode.state, episode.returns)

    def draw_slide(self, now: float) -> bool:
        """Draw the picture of this time between two positions. Return whether there is one."""
        k = int((now - self.slide_start) / SLIDE_TIME * len(self.slides))
        if not 0 <= k < len(self.slides):
            self.slides = []
            return False
        self.window.show(self.add_lines(self.slides[k]))
        return True

    def draw(self) -> None:
        """Draw the position if it or a render option has changed."""
        session = self.session
        episode, options = session.episode, tuple(self.renderer.options.items())
        pointer = tuple(self.renderer.pointer_options(episode.state).items())
        content = (int(episode.state["ply"]), options, pointer, self.paused, self.input_state())
        if content == self.drawn_content:
            return
        self.drawn_content = content
        picture = self.renderer.draw_picture(episode.state, session.last, episode.returns)
        sheet = self.add_lines(picture)
        self.draw_first_click(sheet)
        self.window.show(sheet)

    def add_lines(self, picture: canvas.Picture) -> canvas.Picture:
        """Return a picture with lines of text below it."""
        sheet = canvas.pixels(canvas.blank(picture.shape[0] + 2 * LINE_HEIGHT, picture.shape[1]))
        sheet[: picture.shape[0]] = picture
        y = picture.shape[0] - MARGIN / 2 + LINE_HEIGHT / 2
        canvas.write(sheet, MARGIN, y, self.status_text())
        canvas.write(sheet, MARGIN, y + LINE_HEIGHT, self.help_text(), ink=canvas.FAINT)
        return sheet

    def input_state(self) -> tuple[Any, ...]:
        """Return the input since the last step, as the window shows it."""
        return tuple(self.chosen), self.has_new_choice, tuple(self.window.held_keys)

    def draw_first_click(self, sheet: canvas.Picture) -> None:
        """Draw a dot at the first of two clicks: nothing in games with keys."""

    def help_text(self) -> str:
        """Return a line of help on the keys."""
        return ", ".join([self.keys.help, *self.option_help(), f"{PAUSE}: pause, {LEAVE[0]}: leave"])

    def option_help(self) -> list[str]:
        """Return the keys of render options, each with the option's name."""
        names = [option.name for option in self.session.game.view.render_options if option.low is None]
        return [f"{name[0]}: {name}" for name in names if name not in self.fixed_options]

    def status_text(self) -> str:
        """Return a line on the state of the game."""
        session = self.session
        if self.over:
            return f"The game is over; {LEAVE[0]} leaves."
        if not session.human_turns():
            return f"{session.humans[0]} is out of the game; the others continue."
        if self.paused:
            return f"{session.welcome} Press a key to start the {'clock' if self.rate else 'game'}."
        return f"{session.humans[0]}: {session.game.human.action_name(session.episode.state, self.action())} next"


class MouseGameWindow(GameWindow):
    """A sequential game in a window, played with the mouse; it waits for the person, and moves can be undone.

    `Human.pick` of the game maps a click to an action. A click without an action is the first of two: a start and a target.
    If the game has keys as well, each key is an action.
    """

    def __init__(self, game: Game, opponent: str | Policy, seed: int, human: str | int | None, rate: float = RATE) -> None:
        self.picked_action: Any = None  # the action of the next step
        self.first_click: Pixel | None = None  # the first of two clicks
        self.click_error = ""  # message on the last click if it was not a legal action
        super().__init__(game, opponent, seed, human, rate)
        self.paused = False

    def is_step_due(self, now: float) -> bool:
        """Return whether to step: after a click of the person; policies move by the clock."""
        return self.picked_action is not None if self.session.human_turns() else now >= self.next_step_time

    def click(self, pressed: Pixel, released: Pixel) -> None:
        """Choose the action of this click, alone or together with the previous click."""
        if self.over or not self.session.human_turns():
            return
        action = self.find_click_action(pressed, released)
        if action is None and self.first_click is not None:
            action = self.find_click_action(self.first_click, released)
        self.first_click, self.click_error = released, ""
        if action is not None:
            self.choose_action(action)

    def handle_choice(self, key: str) -> None:
        """Choose the action of a key."""
        if not self.over and self.session.human_turns():
            self.choose_action(self.keys.choices[key][1])

    def choose_action(self, action: Any) -> None:
        """Choose a legal action, or set the message on an illegal one."""
        self.first_click, self.click_error = None, ""
        if self.is_in_mask(action):
            self.picked_action = action
        else:
            self.click_error = f"{self.session.game.human.action_name(self.session.episode.state, action)} is illegal."

    def find_click_action(self, pressed: Pixel, released: Pixel) -> Any:
        """Return the action of a click, or None."""
        pick, state = self.session.game.human.pick, self.session.episode.state
        assert pick is not None
        (x, y), (end_x, end_y) = pressed, released
        return pick(state, (x - MARGIN, y - MARGIN), (end_x - MARGIN, end_y - MARGIN))

    def is_in_mask(self, action: Any) -> bool:
        """Return whether the mask allows an action, also in games that play illegal actions."""
        mask, parts = self.session.episode.mask(self.human_index), self.session.game.actions
        return all(part[n] for part, n in zip(split_mask(mask, parts), np.atleast_1d(action), strict=True))

    def press(self, key: str, now: float) -> None:
        """Handle a key."""
        if key in LEAVE:
            self.window.close()
        elif key in (UNDO, RESTART):
            self.session.undo_move(to_start=key == RESTART)
            self.picked_action, self.first_click, self.click_error, self.drawn_content = None, None, "", None
            self.fix_options(self.session.view_options())
        elif key in self.keys.choices:
            self.handle_choice(key)
        elif not any(option[0] == key for option in self.fixed_options):
            self.renderer.cycle_option(key)

    def step(self) -> None:
        """Play the move of the person, or of a policy."""
        if self.session.human_turns():
            self.session.save_position()
            self.session.step({self.human_index: self.picked_action})
        else:
            self.session.step({})
        self.picked_action = None
        if self.over:
            self.fix_options({})

    def input_state(self) -> tuple[Any, ...]:
        """Return the first click, the message and the action under the pointer."""
        return self.first_click, self.click_error, self.find_pointer_action()

    def find_pointer_action(self) -> Any:
        """Return the action of a click at the pointer, or None."""
        pointer = self.window.pointer
        return None if pointer is None else self.find_click_action(self.first_click or pointer, pointer)

    def draw_first_click(self, sheet: canvas.Picture) -> None:
        """Draw a dot at the first of two clicks."""
        if self.first_click is not None:
            canvas.draw_line(sheet, self.first_click, self.first_click, DOT, canvas.INK)
            canvas.draw_line(sheet, self.first_click, self.first_click, DOT // 2, canvas.WHITE)

    def help_text(self) -> str:
        """Return a line of help on mouse and keys."""
        play = ["mouse: play", *([self.keys.help] if self.keys.help else [])]
        return ", ".join([*play, *self.option_help(), f"{UNDO}: take back, {RESTART}: from the start, {LEAVE[0]}: leave"])

    def status_text(self) -> str:
        """Return a line on the state of the game."""
        session = self.session
        if self.over:
            return f"The game is over; {UNDO} takes back, {RESTART} starts again, {LEAVE[0]} leaves."
        if self.click_error:
            return self.click_error
        if not session.human_turns():
            mover = session.episode.mover
            can_move = session.episode.mask(mover).any()
            return f"{session.game.agents[mover]} {'moves next' if can_move else 'has no legal action'}."
        action = self.find_pointer_action()
        name = "" if action is None else session.game.human.action_name(session.episode.state, action)
        return f"{session.humans[0]}: {name or 'your move'}"
