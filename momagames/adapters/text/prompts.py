"""Prompts: texts for an agent about the game, its role and its preference, and about the position in its turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, State, split_mask
from momagames.contract.titles import describe_game, join_words
from momagames.errors import InvalidParameter, check_choice, invalid_value
from momagames.render.caption import describe_status, format_number
from momagames.render.position import describe_position
from momagames.render.text import plain

LISTINGS = ("names", "numbers", "none")
VIEWER = "viewer"  # render option of games whose agents do not see everything
GOALS = {
    "cooperative": "You play for the return of the team.",
    "individual": "Each agent plays for its own return.",
    "zero_sum": "What you gain, your opponent loses.",
    "teams": "Your team plays against the others.",
}


def check_listing(game: Game, listing: str) -> str:
    """Return how legal actions are listed: "names", "numbers" or "none". Raises InvalidParameter."""
    check_choice("legal_actions", listing, LISTINGS)
    if listing == "numbers" and len(game.actions) > 1:
        raise InvalidParameter(
            invalid_value("legal_actions", listing, f"'names' or 'none', because actions of {game.id} have several parts")
        )
    return listing


def check_preference(game: Game, preference: Any) -> NDArray[np.float64] | None:
    """Return the weights of a preference, float64[K] with sum 1, or None without one.

    preference    weights of the objectives: a sequence, or a mapping by name, in which missing ones are 0
    Raises        InvalidParameter
    """
    if preference is None:
        return None
    names = [objective.name for objective in game.objectives]
    expected = f"weights of {', '.join(names)}: at least 0, one of them above"
    given = preference
    if isinstance(preference, Mapping):
        if not set(preference) <= set(names):
            raise InvalidParameter(invalid_value("preference", dict(preference), expected))
        given = [preference.get(name, 0) for name in names]
    try:
        weights = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.zeros(0)
    if weights.shape != (len(names),) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() <= 0:
        raise InvalidParameter(invalid_value("preference", preference, expected))
    return np.asarray(weights / weights.sum())


def check_view(game: Game) -> None:
    """Raise InvalidParameter unless the text of a position can show what one agent sees."""
    if game.information == "partial" and not any(option.name == VIEWER for option in game.view.render_options):
        raise InvalidParameter(
            f"{game.id} has no text of what one agent sees: expected a game with perfect information, or a render option "
            f"{VIEWER!r}"
        )


def make_messages(instructions: str, turn: str) -> list[dict[str, str]]:
    """Return the messages that begin a conversation: instructions of the system, and what the agent sees."""
    return [{"role": "system", "content": instructions}, {"role": "user", "content": turn}]


def write_instructions(game: Game, agent: int, weights: NDArray[np.float64] | None, listing: str) -> str:
    """Return what an agent reads before the game: game, role, objectives, preference, and the form of an answer."""
    title = ": ".join(filter(None, [describe_game(game), game.summary]))
    lines = [f"The game is {title}.", _describe_role(game, agent), "", "Objectives:"]
    lines += [
        f"- {one.name}: {one.unit} (return of an episode {one.return_low:g} to {one.return_high:g})" for one in game.objectives
    ]
    if weights is not None:
        stated = ", ".join(f"{one.name} {weight:.3g}" for one, weight in zip(game.objectives, weights, strict=True))
        lines += ["", f"Your preference: weights {stated}. Maximize the sum of your returns times these weights."]
    form = "the number of a legal action" if listing == "numbers" else "an action"
    lines += ["", f"Answer with {form} between <action> and </action>, or alone on the last line."]
    return "\n".join(lines)


def write_turn(game: Game, state: State, agent: int, mask: NDArray[np.int8], returns: NDArray[np.float64], listing: str) -> str:
    """Return what an agent sees: position, its returns so far, float64[K], and the legal actions, from its mask int8[M]."""
    viewer = {VIEWER: game.agents[agent]} if game.information == "partial" else {}
    own = ", ".join(f"{one.name} {format_number(value)}" for one, value in zip(game.objectives, returns, strict=True))
    lines = [
        f"{describe_status(game, state)}; you are {game.agents[agent]}.",
        plain(describe_position(game, state, None, **viewer)).rstrip(),
        f"Your returns so far: {own}.",
    ]
    if not state["over"]:
        lines.append(_list_actions(game, state, mask, listing))
    return "\n".join(lines)


def _describe_role(game: Game, agent: int) -> str:
    name, team = game.agents[agent], game.teams[agent]
    if len(game.agents) == 1:
        return f"You are {name} and play alone."
    mates = [other for i, other in enumerate(game.agents) if game.teams[i] == team and i != agent]
    others = [other for i, other in enumerate(game.agents) if game.teams[i] != team]
    parts = [f"You are {name}"]
    if mates:
        parts.append(f"in a team with {join_words(mates)}")
    if others:
        parts.append(f"against {join_words(others)}")
    turns = "All agents act at once." if not game.sequential else "Agents act in turn."
    return f"{' '.join(parts)}. {turns} {GOALS[game.utility]}"


def name_example(game: Game, state: State, mask: NDArray[np.int8]) -> str:
    """Return ", such as '(3,1)'" with the first legal action, or nothing if there is none."""
    first = [np.flatnonzero(part)[:1] for part in split_mask(mask, game.actions)]
    if not all(len(part) for part in first):
        return ""
    action = int(first[0][0]) if len(first) == 1 else np.concatenate(first)
    return f", such as {game.human.action_name(state, action)!r}"


def _list_actions(game: Game, state: State, mask: NDArray[np.int8], listing: str) -> str:
    if listing == "none":
        return f"Choose an action{name_example(game, state, mask)}."
    if len(game.actions) > 1:
        parts = [", ".join(map(str, np.flatnonzero(part))) for part in split_mask(mask, game.actions)]
        values = "; ".join(f"part {i + 1}: {values}" for i, values in enumerate(parts))
        return f"Legal values: {values}. Choose an action{name_example(game, state, mask)}."
    names = [game.human.action_name(state, action) for action in np.flatnonzero(mask)]
    if listing == "numbers":
        return "\n".join([f"{len(names)} legal actions:", *(f"{i + 1}. {name}" for i, name in enumerate(names))])
    return f"{len(names)} legal actions: {' '.join(names)}"
