"""Commands `momagames dataset`: make, check and describe datasets for offline learning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from momagames.cli.console import (
    FAILED,
    AllowCode,
    AsJson,
    add_working_directory,
    console,
    print_facts,
    print_json,
    progress,
    table,
)
from momagames.wording import count

dataset = typer.Typer(help="Make and check datasets for offline learning (extra `datasets`).", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a dataset.")]


@dataset.command()
def make(
    recipe: Annotated[str, typer.Argument(help="Recipe: a YAML file, or the name of a packaged one.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory of the dataset [datasets/NAME]; making resumes.")
    ] = None,
    processes: Annotated[int, typer.Option("--processes", "-j", help="Number of processes.", min=1)] = 1,
) -> None:
    """Make the dataset of a recipe. An interrupted command resumes when it is called again."""
    from momagames.datasets import load_recipe
    from momagames.datasets import make as make_dataset

    add_working_directory()
    chosen = load_recipe(recipe)
    folder = out or Path("datasets") / chosen.name
    screen = console(stderr=True)
    with progress(screen, len(chosen.list_shards())) as advance:
        made = make_dataset(chosen, folder, processes, lambda info, done, due: advance(info.file, done))
    console().print(
        f"{folder}: {count(len(made), 'episode')}, {count(made.num_steps, 'step')}, {count(made.num_bytes, 'byte')}",
        soft_wrap=True,
    )


@dataset.command()
def verify(
    folder: Folder,
    regenerate: Annotated[
        bool, typer.Option("--regenerate", help="Play episodes again from the recipe, and compare them to the bit.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(help="Number of files of data that are played again, drawn at random [all].", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the sample.", min=0)] = 0,
    allow_code: AllowCode = False,
) -> None:
    """Compare the files of a dataset with their checksums and, with --regenerate, with their recipe."""
    from momagames.datasets import verify as verify_dataset
    from momagames.datasets.manifest import read_manifest
    from momagames.errors import InvalidParameter

    if sample is not None and not regenerate:
        raise InvalidParameter("--sample needs --regenerate: it is the number of files that are played again")
    screen, files = console(stderr=True), len(read_manifest(folder).shards)
    again = min(sample or files, files) if regenerate else 0
    with progress(screen, files + again) as advance:
        found = verify_dataset(folder, again, seed, lambda name, done, due: advance(name))
    for problem in found.problems:
        screen.print(f"WRONG {problem}", style="red", soft_wrap=True)
    played = f"; {count(found.episodes, 'episode')} of {found.regenerated} of them played again" if regenerate else ""
    console().print(f"{folder}: {found.files} files of data{played}", soft_wrap=True)
    if found.problems:
        raise typer.Exit(FAILED)
    console().print("all are as they were made")


@dataset.command()
def info(folder: Folder, as_json: AsJson = False, allow_code: AllowCode = False) -> None:
    """Print what a dataset holds."""
    from momagames.datasets.manifest import read_manifest
    from momagames.registry import format_id

    manifest = read_manifest(folder)
    recipe, rows = manifest.recipe, list[dict[str, Any]]()
    for i, part in enumerate(recipe.parts):
        made = [one for one in manifest.shards if one.part == i]
        rows.append(
            {
                "game": format_id(part.game.id, part.game.make_game().params),
                "tier": part.tier,
                "methods": [choice.name for choice in part.methods],
                "policies": len(manifest.policies[i]),
                "episodes": sum(recipe.count_episodes(i, one.shard) for one in made),
                "due": part.episodes,
                "steps": sum(one.steps for one in made),
                "bytes": sum(one.bytes for one in made),
            }
        )
    if as_json:
        head = {"name": recipe.name, "version": manifest.version, "recipe_sha256": recipe.digest, "license": recipe.license}
        print_json({**head, "complete": manifest.is_complete, "parts": rows})
        return
    screen = console()
    state = "complete" if manifest.is_complete else f"{len(manifest.shards)} of {len(recipe.list_shards())} files are made"
    facts = [("name", recipe.name), ("version", manifest.version), ("recipe", f"sha256 {recipe.digest}"), ("files", state)]
    print_facts(screen, facts)
    listing = table("game", "tier", "methods", "policies", "episodes", "steps", "bytes")
    for row in rows:
        counts = (f"{row[name]:,}" for name in ("policies", "episodes", "steps", "bytes"))
        listing.add_row(row["game"], row["tier"], ", ".join(row["methods"]), *counts)
    screen.print(listing)
