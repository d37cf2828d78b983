"""A page for each id: what the registry declares about the game, then its SPEC.md."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pictures import Legend, Picture, animations, legends, stills
from trained_policies import model_card

import momagames
from momagames import registry
from momagames.baselines.checkpoint_policy import list_champions
from momagames.benchmark.plan import Opponent
from momagames.games import VERSIONS

COLUMNS = 2  # positions side by side


def spec_file(id: str) -> Path:
    """Return the SPEC.md of an id, which stands beside the module that makes the game."""
    module = import_module(registry.find_entry(id).factory.partition(":")[0])
    return Path(str(module.__file__)).parent / "SPEC.md"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows), ""]


def facts(id: str) -> list[str]:
    """Return the declared facts of the game with its default parameters."""
    game = momagames.spec(id)
    fields = ", ".join(f"`{f.name}` {f.dtype}{list(f.shape)}" for f in game.fields)
    actions = f"Discrete({game.actions[0]})" if len(game.actions) == 1 else f"MultiDiscrete({list(game.actions)})"
    rows = [
        ("agents", ", ".join(f"`{agent}`" for agent in game.agents)),
        ("dynamics, chance, information, utility", f"{game.dynamics}, {game.chance}, {game.information}, {game.utility}"),
        ("actions", actions),
        ("observation", fields),
        ("longest episode", f"{game.max_episode_steps} steps"),
        ("reference point", ", ".join(f"{value:g}" for value in game.reference_point)),
        ("source", game.source),
    ]
    objectives = [
        (f"`{g.name}`", g.unit, f"{g.low:g} .. {g.high:g}", f"{g.return_low:g} .. {g.return_high:g}") for g in game.objectives
    ]
    return [
        "## Overview",
        "",
        "With the default parameters:",
        "",
        *table(("fact", "value"), rows),
        "Canonical id:",
        "",
        "```text",
        momagames.canonical(id),
        "```",
        "",
        *table(("objective", "unit", "one step", "episode"), objectives),
        "```python",
        "import momagames",
        "",
        f'env = momagames.make("{id}")',
        "env.reset(seed=0)",
        "```",
        "",
    ]


def image(picture: Picture | Legend) -> str:
    return f"![{picture.text}](../_static/{picture.file})"


def gallery(id: str) -> list[str]:
    """Return the pictures of an id: animations, positions side by side, legends."""
    lines = [line for animation in animations(id) for line in (image(animation), "")]
    positions = stills(id)
    for k in range(0, len(positions), COLUMNS):
        row = positions[k : k + COLUMNS]
        lines += table([one.text for one in row], [[image(one) for one in row]])
    return lines + [line for legend in legends(id) for line in (f"{legend.text}:", "", image(legend), "")]


def champions(id: str) -> list[str]:
    """Return the model cards of the trained policies that come with the package and fit the game by default."""
    game = momagames.spec(id)
    lines = []
    for checkpoint in list_champions(game):
        head, card = checkpoint.head, checkpoint.head["card"]
        results = [one for one in card["results"] if one.get("game", head["game"]) == id]
        if not results:
            continue
        size = checkpoint.path.stat().st_size / 1000
        several = len(game.agents) > 1
        names = head["params"].get("objectives", [])
        has_other = names != list(game.params.get("objectives", []))  # than the game by default
        weights = "all weights of the objectives" if head["weights"] is None else f"the weights {head['weights']}"
        weights = weights.removesuffix(" of the objectives") + f" of {', '.join(names)}" if has_other else weights
        opponents = " and ".join(Opponent(**one).label for one in head["opponents"])
        is_split = len(results) > 1 and len(results[0].get("opponents", [])) == 1  # a result for each opponent
        default = momagames.spec(head["game"]).params
        params = checkpoint.make_game().params if head["weights"] is None else {}  # fixed weights serve all objectives
        changed = [name for name, value in params.items() if value != default[name]]
        lines += [
            "## Trained policy" + "".join(f", `{name}={head['params'][name]}`" for name in changed),
            "",
            '`policy("champion", game)` plays it' + (f", and `momagames play {id} --against champion`." if several else "."),
            "",
            f"- Training: `{head['method']}` for {weights}{f', against {opponents}' if is_split else ''}, seed {head['seed']}; "
            f"{head['decisions']:,} decisions, {head['steps']:,} environment steps with look-ahead, {head['seconds']:.0f} s on "
            f"{card['threads']} core{'s' if card['threads'] > 1 else ''}; momagames {head['version']}; {size:.0f} kB.",
            f"- Data: {card['data']}",
            f"- Limits: {card['limits']}",
            f"- Reproduction: `{card['command']}`.",
            "",
            f"Results: mean returns in {card['episodes']} episodes of each policy"
            + (" in each seat" if is_split else f" against {opponents}" if opponents else "")
            + f", seed {card['episodes_seed']}, which training did not use; the best policy of a set in each objective.",
            "",
        ]
        for result in results:
            if result["params"]:
                lines += [", ".join(f"`{name}={value}`" for name, value in result["params"].items()) + ":", ""]
            if is_split:
                lines += [f"Against `{result['opponents'][0]}`:", ""]
            lines += table(result["head"], result["rows"])
    return lines


def page(id: str) -> str:
    title, _, rest = spec_file(id).read_text().partition("\n")
    name = title.partition(" (")[0]  # all ids of these rules follow
    return "\n".join([f"{name} (`{id}`)", "", *gallery(id), *facts(id), *champions(id), rest])


def index(ids: Sequence[str]) -> str:
    games = [momagames.spec(id) for id in ids]
    rows = [(f"[{g.id}]({g.id}.md)", g.title, len(g.agents), len(g.objectives), g.dynamics, g.summary) for g in games]
    return "\n".join(
        [
            "# Environments",
            "",
            "With default parameters. The page of each environment lists its parameters.",
            "",
            *table(("id", "game", "agents", "objectives", "dynamics", "description"), rows),
            "```{toctree}",
            ":hidden:",
            "",
            *ids,
            "trained-policies",
            "```",
            "",
        ]
    )


def write_pages(folder: Path) -> None:
    """Write the pages that have changed."""
    folder.mkdir(exist_ok=True)
    pages = {f"{id}.md": page(id) for id in VERSIONS}
    pages |= {"index.md": index(tuple(VERSIONS)), "trained-policies.md": model_card()}
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
