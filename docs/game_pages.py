"""Pages of the environments: a gallery, and for each family of games its page and its specification.

All pages have the same headings. What stands under them is from the registry, from PAGE.md of the game, which says for people
what the rules, actions, observations, ends and policies are, and from SPEC.md, its specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from families import list_families, page_file, spec_file
from pictures import Legend, Picture, animations, legends, stills
from trained_policies import model_card

import momagames
from momagames.baselines import POLICIES, SAFE, policy
from momagames.baselines.checkpoint_policy import list_champions
from momagames.baselines.learners import find_learner
from momagames.benchmark.choices import Opponent
from momagames.benchmark.matches import has_winners
from momagames.cli.console import format_parameters
from momagames.contract import Game
from momagames.contract.titles import list_changed_parameters
from momagames.engine.playouts import generate_starts
from momagames.errors import MomagamesError

COLUMNS = 2  # positions side by side
MAX_NAMED_ACTIONS = 12  # of a table of actions
MAX_NAMED_FIELDS = 3  # of the observation at the top of a page
HEADINGS = (
    "Rules", "Actions", "Observations", "Rewards", "End of an episode", "Policies", "Variants and parameters",
    "Versions and sources",
)  # fmt: skip
OWN_HEADINGS = ("Rules", "Actions", "Observations", "End of an episode", "Policies")  # of PAGE.md


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows), ""]


def fold(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines that are seen when the reader opens them."""
    return [f":::{{dropdown}} {title}", "", *lines, ":::", ""] if lines else []


def hide_toctree(pages: Iterable[str]) -> list[str]:
    """Return a table of contents that only the side bar shows."""
    return ["```{toctree}", ":hidden:", "", *pages, "```", ""]


def image(picture: Picture | Legend) -> str:
    return f"![{picture.text}](../_static/{picture.file})"


def show_pictures(id: str, picture: Picture | None = None) -> list[str]:
    """Return the pictures of an id without one: animations, and positions side by side."""
    lines = [line for animation in animations(id)[1:] for line in (image(animation), "")]
    positions = [one for one in stills(id) if one != picture]
    for k in range(0, len(positions), COLUMNS):
        row = positions[k : k + COLUMNS]
        lines += table([one.text for one in row], [[image(one) for one in row]])
    return lines


# ------------------------------------------------------------------------------------------------------------ variants


def format_range(low: float, high: float) -> str:
    return f"{low:g} .. {high:g}"


def format_actions(game: Game) -> str:
    sizes = game.actions
    return f"`Discrete({sizes[0]})`" if len(sizes) == 1 else f"`MultiDiscrete({list(sizes)})`"


def summarize(game: Game, variants: int) -> list[str]:
    """Return the table at the top of the page of a family: one of its games in a few lines."""
    observation = f"{len(game.fields)} fields"
    if len(game.fields) <= MAX_NAMED_FIELDS:
        observation = ", ".join(f"`{one.name}`, {one.dtype} {list(one.shape)}" for one in game.fields)
    rows = [
        ("Make", f'`momagames.make("{game.id}")`'),
        ("Variants", f"[{variants} ids](#variants-and-parameters)" if variants > 1 else ""),
        ("Agents", f"{len(game.agents)}, {game.dynamics}; {game.information} information"),
        ("Actions", f"{format_actions(game)}: [meaning](#actions)"),
        ("Observation", f"{observation}, and an `action_mask`: [meaning](#observations)"),
        ("Rewards", ", ".join(f"`{one.name}`" for one in game.objectives)),
        ("Episode", f"at most {game.max_episode_steps} steps"),
    ]
    return table(("", ""), [row for row in rows if row[1]])


def list_facts(game: Game) -> list[str]:
    rows = [
        ("agents", ", ".join(f"`{agent}`" for agent in game.agents)),
        ("dynamics, chance, information, utility", f"{game.dynamics}, {game.chance}, {game.information}, {game.utility}"),
        ("longest episode", f"{game.max_episode_steps} steps"),
        ("reference point", ", ".join(f"{value:g}" for value in game.reference_point)),
    ]
    return table(("fact", "value"), rows)


def list_objectives(game: Game) -> list[str]:
    rows = [
        (f"`{one.name}`", one.unit, format_range(one.low, one.high), format_range(one.return_low, one.return_high), one.source)
        for one in game.objectives
    ]
    return table(("objective", "unit", "one step", "episode", "rule"), rows)


def list_fields(game: Game) -> list[str]:
    rows = [(f"`{one.name}`", one.dtype, list(one.shape), format_range(one.low, one.high)) for one in game.fields]
    return table(("field", "type", "shape", "values"), rows)


def list_actions(game: Game) -> list[str]:
    """Return the action space, with names of the actions where they are few."""
    lines, count = [f"Actions: {format_actions(game)}.", ""], game.actions[0]
    if len(game.actions) > 1 or count > MAX_NAMED_ACTIONS:
        return lines
    state = generate_starts(game, np.zeros(1, np.uint64))[0]
    names = [game.human.action_name(state, action) for action in range(count)]
    return lines if names == [str(i) for i in range(count)] else [*lines, *table(("action", "meaning"), list(enumerate(names)))]


def list_changed_defaults(game: Game, first: Game) -> list[str]:
    """Return the defaults that differ from those of the first id of a family."""
    others = {one.name: one.default for one in first.parameters}
    changed = [(f"`{one.name}`", one.default) for one in game.parameters if one.default != others.get(one.name)]
    return ["Defaults of its own:", "", *table(("parameter", "default"), changed)] if changed else []


def describe_variant(id: str, first: Game, picture: Picture | None = None) -> list[str]:
    """Return the content of the tab of an id."""
    game = momagames.spec(id)
    return [
        f"{game.summary[0].upper()}{game.summary[1:]}.",
        "",
        "```python",
        "import momagames",
        "",
        f'env = momagames.make("{id}")',
        "env.reset(seed=0)",
        "```",
        "",
        *list_objectives(game),
        *list_facts(game),
        *list_actions(game),
        "Observation:",
        "",
        *list_fields(game),
        *list_changed_defaults(game, first),
        *fold("Pictures", show_pictures(id, picture)),
        *fold("Canonical id", ["```text", momagames.canonical(id), "```"]),
    ]


def describe_champions(id: str) -> list[str]:
    """Return the model cards of the trained policies that come with the package and fit the game by default."""
    game = momagames.spec(id)
    found = []
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
        changed = list_changed_parameters(checkpoint.make_game()) if head["weights"] is None else ()  # or it serves all
        settings = {name: head["params"][name] for name in changed} or results[0]["params"]
        title = f"`{id}`: {head['method']}" + "".join(f", {name}={value}" for name, value in settings.items())
        serves = find_learner(head["method"]).serves
        in_play = '`policy("champion", game)` plays it' + (
            f", and `momagames play {id}{format_parameters(settings)} --against champion`." if several else "."
        )
        lines = [
            f"It is the {serves}: that option has the value `champion`." if serves else in_play,
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
        found += fold(title, lines)
    return found


# ------------------------------------------------------------------------------------------------------------ families


def find_section(text: str, number: int) -> str:
    """Return a numbered section of a specification without its heading."""
    found = re.search(rf"^## {number} [^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found
    return found.group(1).strip()


def find_table(text: str, first_column: str) -> list[str]:
    """Return the lines of the table with this first column."""
    found = re.search(rf"^\| {first_column} \|.*?(?=^[^|]|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found
    return [*found.group().strip().split("\n"), ""]


def find_lead(text: str) -> str:
    """Return the first paragraph of a specification, which says what the game is."""
    return find_section(text, 1).partition("\n\n")[0].replace("\n", " ")


def find_sources(text: str, game: Game) -> list[str]:
    """Return the source and the fidelity of the rules: the list in the first section, else the declared source."""
    found = re.search(r"^- .*?(?=\n\n|\Z)", find_section(text, 1), re.MULTILINE | re.DOTALL)
    return [found.group() if found else f"Source: {game.source}.", ""]


def show_differences(text: str) -> list[str]:
    """Return the section of the differences from the original, folded; its title alone if it has no text."""
    found = re.search(r"^## (\d+) (Differences[^\n]*)$", text, re.MULTILINE)
    assert found
    section = find_section(text, int(found[1]))
    return fold(found[2], [section]) if section else [f"{found[2]}.", ""]


def find_own_text(text: str, heading: str) -> list[str]:
    """Return the lines of PAGE.md under a heading."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found
    return [*found.group(1).strip().split("\n"), ""]


def can_play(name: str, game: Game) -> bool:
    """Whether a policy plays a game."""
    try:
        policy(name, game, 0)
    except MomagamesError:
        return False
    return True


def list_policies(game: Game) -> list[str]:
    """Return what plays the game by name, besides its own policies, and where such names are used."""
    names = [name for name in POLICIES if can_play(name, game)]
    names += [f"{SAFE}NAME"] if can_play(f"{SAFE}random", game) else []
    lines = [f"As in other games: {', '.join(f'`{name}`' for name in names)}; see [Methods](../methods.md).", ""]
    if len(game.agents) > 1:
        own = next(iter(game.policies), "greedy")
        has_matches = len(set(game.teams)) > 1 and has_winners(game)
        return [
            *lines,
            "All of them can be opponents: in environments, matches, suites and training, and against people."
            if has_matches
            else "All of them can play the other agents: in environments, suites and training, and beside people.",
            "",
            "```console",
            *([f"$ momagames match {game.id} {own} random"] if has_matches else []),
            f"$ momagames play {game.id} --against {'champion' if can_play('champion', game) else own}",
            "```",
            "",
        ]
    return [*lines, f'In code: `momagames.baselines.policy("greedy", momagames.spec("{game.id}"))`.', ""]


def show_position(id: str) -> Picture | None:
    """Return the picture of a position of an id, in which rows and columns have numbers."""
    return next(iter(stills(id)), None)


def family_page(family: str, ids: Sequence[str]) -> str:
    text, first = spec_file(ids[0]).read_text(encoding="utf-8"), momagames.spec(ids[0])
    own, picture = page_file(ids[0]).read_text(encoding="utf-8"), show_position(ids[0])
    specification = f"{family}-specification.md"
    tabs = [line for id in ids for line in (f"::::{{tab-item}} {id}", "", *describe_variant(id, first, picture), "::::", "")]
    champions = [line for id in ids for line in describe_champions(id)]
    known = dict.fromkeys(one for id in ids for one in legends(id))
    sections = {
        "Rules": [
            *find_own_text(own, "Rules"),
            f"The [specification]({specification}) has the rules in full, with the sources of every detail.",
            "",
            *(line for legend in known for line in fold(legend.text, [image(legend)])),
        ],
        "Actions": [
            *find_own_text(own, "Actions"),
            *([image(picture), "", f"*{picture.text}. The numbers at the board are rows and columns.*", ""] if picture else []),
        ],
        "Observations": [
            f"Of `{first.id}` with its default parameters. Every environment API gives the `action_mask` beside it.",
            "",
            *list_fields(first),
            *find_own_text(own, "Observations"),
        ],
        "Rewards": [
            f"A reward is a vector. The objectives of `{first.id}` with its default parameters:",
            "",
            *list_objectives(first),
            f"The last column names the section of the [specification]({specification}), which lists all objectives to choose "
            f"from. The reference point for hypervolumes is ({', '.join(f'{value:g}' for value in first.reference_point)}).",
            "",
        ],
        "End of an episode": [
            *find_own_text(own, "End of an episode"),
            f"With default parameters an episode of `{first.id}` has at most {first.max_episode_steps} steps.",
            "",
        ],
        "Policies": [
            *find_own_text(own, "Policies"),
            *list_policies(first),
            *(["Trained policies of the package, the `champion` of their ids:", "", *champions] if champions else []),
        ],
        "Variants and parameters": [
            *([":::::{tab-set}", "", *tabs, ":::::", ""] if len(ids) > 1 else describe_variant(ids[0], first, picture)),
            *find_table(find_section(text, 8), "name"),
            "Section signs refer to the "
            + f"[specification]({specification}){', which also has the defaults of the other ids' if len(ids) > 1 else ''}.",
            "",
        ],
        "Versions and sources": [
            *find_table(find_section(text, 8), "version"),
            *find_sources(text, first),
            *show_differences(text),
        ],
    }  # fmt: skip
    assert tuple(sections) == HEADINGS
    lines = [
        f"# {first.title}",
        "",
        find_lead(text),
        "",
        *[":::::{grid} 1 1 2 2", ":class-container: glance", ""],
        *(line for picture in animations(ids[0])[:1] for line in ("::::{grid-item}", image(picture), "::::", "")),
        *["::::{grid-item}", *summarize(first, len(ids)), "::::", ":::::", ""],
        *(line for heading, section in sections.items() for line in (f"## {heading}", "", *section)),
        *hide_toctree([f"{family}-specification"]),
    ]
    return "\n".join(lines)


def specification_page(family: str, ids: Sequence[str]) -> str:
    title, _, rest = spec_file(ids[0]).read_text(encoding="utf-8").partition("\n")
    name = momagames.spec(ids[0]).title
    return "\n".join(
        [
            f"# {name}: specification",
            "",
            f"Of {title.partition(' (')[2].rstrip(')')}. See also the [overview]({family}.md).",
            rest,
        ]
    )


def index_page(families: dict[str, list[str]]) -> str:
    cards = []
    for family, ids in families.items():
        game = momagames.spec(ids[0])
        count = f"{len(ids)} variants" if len(ids) > 1 else "1 variant"
        cards += [
            f":::{{grid-item-card}} {game.title}",
            f":link: {family}",
            ":link-type: doc",
            *(line for one in animations(ids[0])[:1] for line in (f":img-top: ../_static/{one.file}", f":img-alt: {one.text}")),
            "",
            find_lead(spec_file(ids[0]).read_text(encoding="utf-8")),
            "",
            f"{count}; {game.dynamics}, {game.information} information",
            ":::",
            "",
        ]
    rows = []
    for family, ids in families.items():
        for game in map(momagames.spec, ids):
            names = ", ".join(one.name for one in game.objectives)
            rows.append((f"[{game.id}]({family}.md)", len(game.agents), names, game.dynamics, game.summary))
    return "\n".join(
        [
            "# Environments",
            "",
            f"{len(families)} families of games. Their pages say how to make environments, and what agents see, do and earn.",
            "",
            "::::{grid} 1 2 2 3",
            ":gutter: 3",
            "",
            *cards,
            "::::",
            "",
            "All ids, with default parameters:",
            "",
            *table(("id", "agents", "objectives", "dynamics", "description"), rows),
            *hide_toctree([*families, "trained-policies"]),
        ]
    )


def write_pages(folder: Path) -> list[str]:
    """Write the pages that have changed, and remove others; return the names of the changed ones."""
    folder.mkdir(exist_ok=True)
    families = list_families()
    pages = {"index.md": index_page(families), "trained-policies.md": model_card()}
    for family, ids in families.items():
        pages |= {f"{family}.md": family_page(family, ids), f"{family}-specification.md": specification_page(family, ids)}
    for file in folder.glob("*.md"):
        if file.name not in pages:
            file.unlink()
    return [name for name, text in pages.items() if update_file(folder / name, text)]


def update_file(file: Path, text: str) -> bool:
    """Write a text unless the file has it; return whether it was written."""
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return False
    file.write_text(text, encoding="utf-8")
    return True
