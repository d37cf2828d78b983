"""Answers of a language model: the action that a text names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from momagames.adapters.text.prompts import name_example
from momagames.engine.episode import Episode
from momagames.errors import IllegalAction, shorten

TAG = re.compile(r"<(/?)action>", re.IGNORECASE)
MAX_ANSWER = 1_000_000  # characters
MAX_ACTION = 200


def extract_action(answer: str) -> str:
    """Return the part of an answer that names the action: within the last <action> tags, else the last line with text.

    Takes a time that is linear in the length of the answer: a model may repeat an opening tag without end.
    """
    start, found = -1, None
    for tag in TAG.finditer(answer):
        if not tag[1]:
            start = tag.end()
        elif start >= 0:
            found, start = answer[start : tag.start()], -1
    if found is None:
        found = next((line for line in reversed(answer.splitlines()) if line.strip()), "")
    return " ".join(found.split())


def parse_answer(episode: Episode, agent: int, answer: Any, is_numbered: bool) -> Any:
    """Return the legal action of an agent that an answer names: an int, or P of them for several parts.

    is_numbered    whether actions are named by their numbers in the list of the prompt, from 1, not by their names
    Raises         IllegalAction, with the answer and what is expected
    """
    game, state, mask = episode.game, episode.state, episode.mask(agent)
    name = game.agents[agent]
    if not isinstance(answer, str) or len(answer) > MAX_ANSWER:
        given = (
            f"{len(answer):,} characters" if isinstance(answer, str) else f"{type(answer).__name__} {shorten(repr(answer), 80)}"
        )
        raise IllegalAction(f"illegal answer of {name}: {given}: expected a text of at most {MAX_ANSWER:,} characters")
    text = extract_action(answer)
    quoted = shorten(repr(text), 80)
    if is_numbered:
        legal = np.flatnonzero(mask)
        number = int(text.rstrip(".")) if re.fullmatch(r"\d{1,9}\.?", text) else 0
        if not 1 <= number <= len(legal):
            raise IllegalAction(f"illegal answer {quoted} of {name}: expected the number of a legal action, 1 to {len(legal)}")
        return int(legal[number - 1])
    try:
        action = game.human.parse_action(state, text[:MAX_ACTION].lower())
    except (ValueError, OverflowError) as error:
        raise IllegalAction(f"illegal answer {quoted} of {name}: {error}") from None
    if not episode.is_legal(agent, action):
        raise IllegalAction(
            f"illegal answer {quoted} of {name}: expected one of the legal actions{name_example(game, state, mask)}"
        )
    return action
