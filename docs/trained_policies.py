"""The model card of the trained policies that come with the package, from the cards in their files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from families import find_family

import momagames
from momagames.baselines.checkpoint import Checkpoint
from momagames.baselines.checkpoint_policy import list_champions
from momagames.benchmark.choices import Opponent

HEADING = (
    "# Trained policies",
    "",
    "The package contains trained policies, one or more for each family of games. "
    '`policy("champion", game)` plays the one that fits a game. '
    "The page of each environment has its results beside other policies.",
    "",
    "- **Use.** Opponents, points of comparison with stated training, and examples of the checkpoint format. "
    "They play these games and nothing else.",
    "- **Limits.** Each was trained once, with one seed, so that results say nothing about the spread of its method. "
    "In some settings other policies are better: [results](../results/index.md).",
    "- **Data.** Games that the policies played in the environments of this package; no data of people.",
    "- **Evaluation.** Mean returns in episodes whose seeds training did not use, stored in each file "
    "together with the command that trains it.",
    "- **Format and license.** NumPy archives without pickle, read within limits, with a JSON header; MIT, as the package.",
    "",
)


def collect_checkpoints() -> dict[Path, tuple[Checkpoint, list[str]]]:
    """Return the trained policies by path, each with the ids whose results it holds."""
    found: dict[Path, tuple[Checkpoint, list[str]]] = {}
    for id in momagames.ids():
        for checkpoint in list_champions(momagames.spec(id)):
            head = checkpoint.head
            if any(result.get("game", head["game"]) == id for result in head["card"]["results"]):
                found.setdefault(checkpoint.path, (checkpoint, []))[1].append(id)
    return found


def describe_checkpoint(checkpoint: Checkpoint, ids: Sequence[str]) -> list[str]:
    """Return the section of a trained policy."""
    head, card, content = checkpoint.head, checkpoint.head["card"], checkpoint.path.read_bytes()
    objectives = head["params"].get("objectives", [])
    weights = "all weights" if head["weights"] is None else f"the weights {head['weights']}"
    opponents = ", ".join(f"`{Opponent(**one).label}`" for one in head["opponents"])
    place = checkpoint.path.relative_to(Path(momagames.__file__).parent).as_posix()
    return [
        f"## `{place}`",
        "",
        f"- Environments: {', '.join(f'[{id}]({find_family(id)}.md)' for id in ids)}.",
        f"- Method: `{head['method']}` for {weights}"
        + (f" of {', '.join(objectives)}" if objectives else "")
        + f"; seed {head['seed']}.",
        f"- Training: {head['decisions']:,} decisions, {head['steps']:,} environment steps with look-ahead, "
        f"{head['seconds']:.0f} s, threads: {card['threads']}; momagames {head['version']}.",
        f"- Data: {card['data']}",
        f"- Limits: {card['limits']}",
        f"- Evaluation: {card['episodes']} episodes of each policy{f' with {opponents}' if opponents else ''}, "
        f"seed {card['episodes_seed']}.",
        f"- Reproduction: `{card['command']}`.",
        f"- File: {len(content):,} bytes, SHA-256 `{hashlib.sha256(content).hexdigest()}`.",
        "",
    ]


def model_card() -> str:
    """Return the page."""
    return "\n".join([*HEADING, *(line for one in collect_checkpoints().values() for line in describe_checkpoint(*one))])
