"""What a change can affect: what a run of the gate adds to the checks that it always makes.

    python .ci/affected.py [--base COMMIT] [--all]     prints the choice with its reasons on stderr, and as shell variables:

    TESTS    JSON: test files to run with their long tests, those of their tests that are not affected, other games, whose names
             leave a long test out, which eighth of all other long tests to run, and of which long tests a third of the cases
    GAMES    folders of games whose rules are played without the compiler and with bounds checks
    SITE     results (pages of results are made anew), pages (they are taken as they are) or nothing

A test depends on the files that it reaches (see repository.py); a changed file that no test reaches affects everything.

The change is what differs, in the working tree, from the last commit whose gate passed: --base, MOMAGAMES_GATE_BASE, the
newest one that a gate has noted on this machine (PASSED), or else the newest commit that is HOURS older than the last.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from repository import Repository, matches, run_git

HOURS = 8  # a working day
PARTS = 8  # of the long tests, one of which runs whatever has changed
SAMPLES = 3  # of the cases of a long test, one of which runs if a change reaches all games, with the cases of changed games
PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "momagames-gate" / "passed"
GAME_FOLDER = re.compile(r"(?:momagames|tests)/games/(\w+)/")
EVERYTHING = ("pyproject.toml", ".ci/*")
NOTHING = (  # lint and the tests that always run read them
    ".devcontainer/*", ".dockerignore", ".gitattributes", ".github/*", ".pre-commit-config.yaml", "Dockerfile",
)  # fmt: skip
RULES = (  # what the rules of every game and their tests use
    "momagames/contract/*", "momagames/engine/*", "momagames/games/__init__.py", "momagames/kernels/*", "tests/cases.py",
    "tests/conftest.py", "tests/kernels/*",
)  # fmt: skip
SITE = ("docs/*", "*.md", "momagames/*.py")  # what the pages of the site are made of
RESULTS = ("docs/make_results.py", "docs/results/*", "benchmarks/fronts/*")
PLAYED = ("momagames/games/*/rules*",)  # pages of results show stored rows, which tests of archived rows play again


def find_base(root: Path, given: str | None) -> tuple[str, str]:
    """Return the commit to compare with, "" if there is none, and the reason."""
    if given:
        known = subprocess.run(["git", "-C", str(root), "cat-file", "-e", f"{given}^{{commit}}"], capture_output=True)
        return ("", f"{given} is no commit here") if known.returncode else (given, "given")
    noted = set(PASSED.read_text().split()) if PASSED.is_file() else set()
    if passed := next((commit for commit in run_git(root, "rev-list", "HEAD") if commit in noted), ""):
        return passed, "the last commit whose gate passed on this machine"
    last = int(run_git(root, "log", "-1", "--format=%ct")[0])
    older = run_git(root, "rev-list", "-1", f"--before={last - HOURS * 3600}", "HEAD")
    return (older[0], f"{HOURS} hours older than the last commit") if older else ("", "no commit to compare with")


def list_changes(root: Path, base: str) -> list[str]:
    changed = run_git(root, "diff", "--name-only", "--no-renames", base)
    return sorted({*changed, *run_git(root, "ls-files", "--others", "--exclude-standard")})


@dataclass(frozen=True)
class Choice:
    """What the gate checks in addition.

    why        the reason, if it is everything
    tests      test files
    left_out   tests in these files that are not affected
    games      folders of games
    others     folders of games that are not affected, if all changes are in folders of games: a long test named after one of
               them and none of `games` is left out
    sampled    the test files in which a part of the cases of a long test is enough, if the change reaches all games
    changed    folders of games with changes, of which no case is left out for that
    site       "results", "pages" or ""
    """

    why: str
    tests: list[str]
    left_out: list[str]
    games: list[str]
    others: list[str]
    sampled: list[str]
    changed: list[str]
    site: str


def choose(repository: Repository, changes: Collection[str]) -> Choice:
    """Return what changed files can affect."""
    files, changed = repository.files, set(changes)
    closures = {path: repository.find_closure(path) for path in files if fnmatch(path, "tests/*test_*.py")}
    results = repository.find_closure(*(path for path in files if matches(path, RESULTS)))
    known = results.union(*closures.values())
    why = ""
    for path in changes:
        is_removed_test = fnmatch(path, "tests/*test_*.py") and path not in files
        if matches(path, EVERYTHING) or not (path in known or matches(path, NOTHING) or is_removed_test):
            why = f"{path} can affect everything"
    games = [PurePosixPath(path).parts[2] for path in files if fnmatch(path, "momagames/games/*/SPEC.md")]
    homes = [found[1] if (found := GAME_FOLDER.match(path)) else "" for path in changes]
    shared = any(matches(path, RULES) or PurePosixPath(path).parent.as_posix() == "tests/games" for path in changes)
    if any(not matches(path, PLAYED) for path in changed & results):
        site = "results"
    else:
        site = "pages" if any(matches(path, (*SITE, *PLAYED)) for path in changes) else ""
    tests = [path for path, closure in closures.items() if why or closure & changed]
    return Choice(
        why=why,
        tests=tests,
        left_out=[]
        if why
        else [test for path in tests for test in repository.list_tests(path) if not repository.find_closure(test) & changed],
        games=[name for name in games if why or shared or name in homes],
        others=[] if why or "" in homes else [name for name in games if name not in homes],
        sampled=[path for path in tests if path not in changed] if why or shared else [],
        changed=[name for name in games if name in homes],
        site="results" if why else site,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", default=os.environ.get("MOMAGAMES_GATE_BASE"), help="Commit to compare with.")
    parser.add_argument("--all", action="store_true", help="Everything, whatever has changed.")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    base, reason = find_base(root, options.base)
    changes = list_changes(root, base) if base else []
    is_all = options.all or not base
    chosen = choose(Repository(root), EVERYTHING if is_all else changes)
    sampled = [] if is_all else chosen.sampled
    part = int(run_git(root, "rev-parse", "HEAD")[0][:8], 16) % PARTS
    why = "asked for" if options.all else chosen.why if base else reason
    lines = (
        f"compared with {base[:12]} ({reason}): {', '.join(changes[:4])}{' ...' * (len(changes) > 4)}" if base else "",
        f"everything: {why}" if why else "",
        f"tests: {len(chosen.tests)} affected files, and part {part + 1} of {PARTS} of the long tests of all others",
        f"left out: {len(chosen.left_out)} of their tests, which use nothing affected" if chosen.left_out else "",
        f"left out: tests named after {', '.join(chosen.others)}" if chosen.others else "",
        f"of the cases of long tests: those named after {', '.join(chosen.changed) or 'no game'}, and a third of the others, "
        f"in {len(sampled)} files"
        if sampled
        else "",
        f"rules without the compiler and with bounds checks: {' '.join(chosen.games) or 'none'}",
        f"site: {chosen.site or 'not built'}",
    )
    print("\n".join(filter(None, lines)), file=sys.stderr)
    selection = json.dumps(
        {
            "files": chosen.tests,
            "left_out": chosen.left_out,
            "games": chosen.games,
            "others": chosen.others,
            "sampled": sampled,
            "changed": chosen.changed,
            "samples": SAMPLES,
            "part": part,
            "parts": PARTS,
        }
    )
    print(f"TESTS={shlex.quote(selection)}\nGAMES={shlex.quote(' '.join(chosen.games))}\nSITE={chosen.site}")


if __name__ == "__main__":
    main()
