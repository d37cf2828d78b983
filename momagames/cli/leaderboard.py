"""Commands `momagames leaderboard`: check submissions, and make the pages from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import FAILED, AsJson, add_working_directory, console, print_facts, print_json, progress, table

if TYPE_CHECKING:
    from momagames.leaderboard import Entry, Row, Table

PAGES = Path("docs") / "leaderboard"

leaderboard = typer.Typer(
    help="Check submissions to the leaderboard, and make its pages.", no_args_is_help=True, callback=add_working_directory
)

Folders = Annotated[list[Path], typer.Argument(metavar="DIR...", help="Directories of submissions.")]
RunCode = Annotated[
    bool,
    typer.Option(
        "--run-code", help="Run policies that are code of a submission. They have all your rights: read the code first."
    ),
]


@leaderboard.command()
def check(
    folders: Folders,
    run_code: RunCode = False,
    fresh_seed: Annotated[
        int | None, typer.Option(help="Play policies in other episodes, of this seed, and print those rows.", min=0)
    ] = None,
    commitment: Annotated[
        str | None, typer.Option(help="Published hash of that seed, which is compared (`leaderboard commit`).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check submissions and print their rows: plans are replayed, policies play the episodes of their setting."""
    from momagames.leaderboard import make_tables
    from momagames.leaderboard.hidden_seeds import check_commitment

    if commitment is not None:
        check_commitment(fresh_seed, commitment)
    screen = console()
    entries = _check_submissions(folders, run_code, fresh_seed)
    tables = make_tables(entries)
    if as_json:
        print_json([row.to_json() for one in tables for row in one.rows])
    else:
        for one in tables:
            screen.print(_make_table(one))
            for row in one.rows:
                print_facts(screen, _list_facts(one, row))
    if len(entries) < len(folders):
        raise typer.Exit(FAILED)


@leaderboard.command()
def build(
    folders: Folders,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the pages.")] = PAGES,
    run_code: RunCode = False,
    archive: Annotated[
        list[Path] | None, typer.Option(help="Archive of a packaged suite, whose methods have rows, too; may be repeated.")
    ] = None,
) -> None:
    """Check submissions and write the pages of the leaderboard. Nothing is written if one of them fails."""
    from momagames.leaderboard.package_rows import read_package_rows
    from momagames.leaderboard.pages import make_pages, write_pages

    entries = _check_submissions(folders, run_code)
    if len(entries) < len(folders):
        raise typer.Exit(FAILED)
    pages = make_pages([*entries, *(entry for file in archive or () for entry in read_package_rows(file))])
    write_pages(pages, out)
    console().print(f"submissions: {len(entries)}, pages: {len(pages)}, in {out}", soft_wrap=True)


@leaderboard.command()
def commit(file: Annotated[Path, typer.Argument(help="New file for the seed; keep it secret.")]) -> None:
    """Draw a hidden seed of report episodes, and print its hash: publish it before the submissions, and the seed after."""
    from momagames.errors import InvalidFile
    from momagames.files.writing import write_file_atomically
    from momagames.leaderboard.hidden_seeds import compute_commitment, draw_seed

    if file.exists():
        raise InvalidFile(f"{file}: is there already: expected a new file")
    write_file_atomically(file, f"{(seed := draw_seed())}\n")
    console().print(f"commitment: {compute_commitment(seed)}", soft_wrap=True)
    check = "momagames leaderboard check DIR --fresh-seed SEED --commitment HASH"
    console().print(f"the seed is in {file}; later: {check}", soft_wrap=True)


@leaderboard.command()
def seal(folders: Folders) -> None:
    """Write the checksums of the files of submissions, after changes of your own."""
    from momagames.leaderboard import seal_submission

    for folder in folders:
        seal_submission(folder)
        console().print(f"sealed {folder}", soft_wrap=True)


@leaderboard.command()
def make(
    results: Annotated[Path, typer.Argument(help="Results directory with finished runs.")],
    method: Annotated[str, typer.Argument(help="Name of the method in the results.")],
    suite: Annotated[str, typer.Option(help="Packaged suite of the settings.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the new directories, one for each game.")],
    description: Annotated[str | None, typer.Option(help="One line [the options of the method].")] = None,
    paper: Annotated[str | None, typer.Option(help="Link of the paper.")] = None,
    code: Annotated[str | None, typer.Option(help="Link of the code.")] = None,
    hardware: Annotated[str | None, typer.Option(help="Hardware [that of the runs].")] = None,
    budget: Annotated[
        int | None, typer.Option(help="Environment steps of each run, earlier training included [those of the runs].", min=0)
    ] = None,
) -> None:
    """Make submissions from a results directory, one for each setting of a suite that a method finished."""
    from momagames.leaderboard.from_results import make_submissions

    texts = {"description": description, "paper": paper, "code": code, "hardware": hardware}
    for folder in make_submissions(results, suite, method, out, budget=budget, **texts):
        console().print(f"made {folder}", soft_wrap=True)


def _check_submissions(folders: Sequence[Path], run_code: bool, fresh_seed: int | None = None) -> list[Entry]:
    """Return the entries of the submissions that pass; print the errors of the others to stderr."""
    from momagames.leaderboard import check_submission
    from momagames.leaderboard.errors import InvalidSubmission

    entries, screen = [], console(stderr=True)
    with progress(screen, len(folders)) as advance:
        for folder in folders:
            try:
                entries.append(check_submission(folder, run_code, fresh_seed))
            except InvalidSubmission as error:
                screen.print(f"WRONG ({error.problem}) {error}", style="red", soft_wrap=True)
            advance(folder.name)
    return entries


def _make_table(one: Table) -> Any:
    from momagames.reports.text.labels import format_score

    listing = table("method", *(column.heading for column in one.indicators.values()))
    listing.title = f"{one.setting.suite}: {one.setting.heading}"
    for row in one.rows:
        cells = (" ".join(format_score(column, row.scores[name])).strip() for name, column in one.indicators.items())
        listing.add_row(row.entry.metadata.method, *cells)
    if one.provisional:
        names = ", ".join(one.indicators[name].heading for name in one.provisional)
        listing.caption = f"depends on the other entries of the table: {names}"
    return listing


def _list_facts(one: Table, row: Row) -> list[tuple[str, str]]:
    entry, metadata = row.entry, row.entry.metadata
    kind = "plans" if metadata.plans else "policies"
    over = f", more than the {one.setting.experiment.budget:,} of the setting" if entry.exceeds_budget else ""
    episodes = "" if entry.fresh_seed is None else f", in other episodes than the setting's: those of seed {entry.fresh_seed}"
    facts = [
        ("ok", f"{entry.name} ({metadata.method}){episodes}"),
        (kind, ", ".join(f"{count} in seed {seed}" for seed, count in entry.counts.items())),
        ("stated", f"budget {metadata.budget:,} environment steps{over}; {metadata.hardware}; {metadata.date}"),
    ]
    for name, claimed in metadata.claims.items():
        computed = row.scores[name].interval.value if name in row.scores else None
        facts.append(("claim", f"{name} {claimed!r}; computed: {computed!r}"))
    return [*facts, ("sha256", entry.sha256), ("returns", f"sha256 {entry.returns_sha256}")]
