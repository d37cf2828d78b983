"""An example for the help page of each command, and the groups of the list of commands."""

from __future__ import annotations

import typer

from momagames.games import CROWD, VERSIONS

SOLO, DUEL = list(VERSIONS)[:2]  # ids of a game for one agent, and of one for two
# group -> commands, in the order of the list
GROUPS = {
    "Environments": ("list", "info", "play", "match", "warmup"),
    "Benchmark": ("bench", "replay", "leaderboard"),
    "Training": ("train", "eval", "exploit", "export-onnx", "dataset"),
    "Exact results": ("front", "exact", "equilibria"),
}
OTHERS = "Of single games"
EXAMPLES = {
    "list": "momagames list",
    "info": f"momagames info {SOLO} -p board_width=7",
    "warmup": f"momagames warmup {DUEL}",
    "exact": "momagames exact deep-sea-treasure-v0 --out front.json",
    "equilibria": f"momagames equilibria {CROWD} -p num_agents=20 --weights 1,0",
    "play": f"momagames play {DUEL} --against greedy",
    "match": f"momagames match {DUEL} greedy random --games 20",
    "replay": "momagames replay momagames-results/quick --point 0",
    "train": f"momagames train {DUEL} -p board_width=6 -p board_height=6 --budget 1e6",
    "eval": f"momagames eval training/{DUEL}-0",
    "exploit": f"momagames exploit training/{DUEL}-0 --weights win=1",
    "export-onnx": f"momagames export-onnx training/{SOLO}-0 policy.onnx",
    "bench list": "momagames bench list",
    "bench show": "momagames bench show policies",
    "bench init": 'momagames bench init mine.yaml --from policies --experiment "four colors" --method random --add mine:Player',
    "bench estimate": f"momagames bench estimate policies --game {DUEL}",
    "bench tradeoffs": "momagames bench tradeoffs policies",
    "bench quick": "momagames bench quick",
    "bench run": 'momagames bench run policies --experiment "four colors" --seed 0 --method random --add mine:Player',
    "bench resume": "momagames bench resume momagames-results/quick",
    "bench status": "momagames bench status momagames-results/quick",
    "bench check": "momagames bench check momagames-results/quick",
    "bench report": "momagames bench report momagames-results/quick --open",
    "bench compare": "momagames bench compare results-before results-after",
    "bench merge": "momagames bench merge shard-1 shard-2 --out results",
    "bench export": "momagames bench export momagames-results/quick --out rows.csv",
    "bench pack": "momagames bench pack momagames-results/quick",
    "bench archive": "momagames bench archive momagames-results/quick --out quick.npz.xz",
    "dataset make": "momagames dataset make recipe.yaml --out episodes",
    "dataset verify": "momagames dataset verify episodes",
    "dataset info": "momagames dataset info episodes",
    "front list": "momagames front list",
    "front show": f"momagames front show {SOLO}",
    "front make": f"momagames front make {SOLO} -p board_width=5 -p board_height=5 --seed 0 --out front.json",
    "front union": "momagames front union momagames-results/quick --out fronts",
    "front verify": "momagames front verify front.json",
    "leaderboard check": "momagames leaderboard check my-entry --run-code",
    "leaderboard build": "momagames leaderboard build benchmarks/leaderboard/entries/beam --out pages",
    "leaderboard commit": "momagames leaderboard commit seed.txt",
    "leaderboard seal": "momagames leaderboard seal my-entry",
    "leaderboard make": "momagames leaderboard make momagames-results/quick random --suite quick --out entries",
}


def add_examples(app: typer.Typer) -> None:
    """Give each command of the package its example and its group."""
    groups = {name: group for group, names in GROUPS.items() for name in names}
    for command in app.registered_commands:
        name = _name_command(command)
        command.epilog, command.rich_help_panel = _format_example(name), groups[name]
    for part in app.registered_groups:
        part.rich_help_panel = groups[str(part.name)]
        assert part.typer_instance
        for command in part.typer_instance.registered_commands:
            command.epilog = _format_example(f"{part.name} {_name_command(command)}")


def _name_command(command: typer.models.CommandInfo) -> str:
    assert command.callback
    return command.name or command.callback.__name__.replace("_", "-")


def _format_example(name: str) -> str:
    return f"Example: {EXAMPLES[name]}"
