"""Mutation tests of the test suite: planted faults in the package, and whether a test without --long notices them.

    python tests/mutants.py draw mutants.json                                   # needs cosmic-ray
    python tests/mutants.py run mutants.json before.json --tree old_checkout
    python tests/mutants.py run mutants.json after.json --tree new_checkout --before before.json
    python tests/mutants.py show after.json --before before.json

`draw` lists the mutants that cosmic-ray's operators make, and draws a sample of each part of the package. Left out are those
that change only annotations or the message of an exception. A mutant is stored with the lines that it replaces, so that it
fits later checkouts. `run` first runs each test file once on copies of the checkout and finds, by coverage, which tests touch
the lines of the mutants. Then it makes one mutant after the other in such a copy and runs the tests that touch its line, in
growing batches, until one fails. For a line that runs at import these are some of the tests of its part. A run that was
stopped is resumed. With --before the test that killed a mutant in the earlier run comes first. `show` prints the
numbers and the mutants that lived, or with --before those that were killed only then.

Rules and engine run without the compiler, with the tests of INTERPRETED_TESTS, so that tests marked `compiled`, or that play
more games with it, may kill some that live; analysis and store with it and with all tests.
Set MOMAGAMES_CACHE_DIR to a warm cache for these: its keys contain the sources, so that mutants do not affect each other. A
test that does not pass within LIMITS (CPU seconds) on the checkout itself is left out. What a test runs in a new process,
or finds in a cache that another test file's process filled, does not count as touched.
"""

import argparse
import ast
import collections
import contextlib
import difflib
import functools
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import coverage
import pytest

PARTS = {  # files, number of mutants, whether the compiler is used
    **{f"rules of {game}": (f"momagames/games/{game}/rules*", 38, False) for game in ("breakthrough", "samegame")},
    **{
        f"rules of {game}": (f"momagames/games/{game}/rules/*.py", 38, False)
        for game in ("pommerman", "robotmail", "tileblast")
    },
    "engine": ("momagames/engine/[!_c]*.py", 85, False),  # not cuda_*: needs a GPU
    "analysis": ("momagames/analysis/[!_]*.py", 75, True),
    "store": ("momagames/benchmark/store/[!_]*.py", 75, True),
}
INTERPRETED_TESTS = "adapters baselines contract engine games kernels perft play tabular wrappers"
INTERPRETED_TESTS += " test_errors.py test_every_game.py test_golden.py test_registry.py"
LIMITS = {False: 10, True: 120}
FAMILIES = ["Binary", "Comparison", "Unary", "And", "Or", "Not", "True", "False", "Break", "Continue"]
FAMILIES += ["Exception", "Number", "ZeroIteration"]
LIBRARIES = (
    "numba numpy scipy.stats scipy.optimize gymnasium pettingzoo moocore pydantic typer rich plotly.graph_objects PIL yaml"
)
BATCHES = (2, 8, 30, 100000)  # CPU seconds of the tests of a batch, as measured with coverage; the last for lines of functions
EVERY_LINE = 10**6
WIDER = 10  # CPU seconds of further tests, from the files with tests that touch the line, for a mutant that lives


class Code(ast.NodeTransformer):
    """Removes what no test should check: annotations, and the arguments of exceptions."""

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], self.visit(node.value)) if node.value else ast.Pass()

    def visit_Raise(self, node):
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def list_places(path):
    """Return the places of a file that operators change, each with the operators' names and the numbers that find it."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.plugins import get_operator, operator_names

    nodes, places = list(ast_nodes(get_ast_from_path(path))), collections.defaultdict(list)
    for name in operator_names():
        family = next((family for family in FAMILIES if family in name), None)
        to_is = name.endswith(("_Is", "_IsNot")) and "_Is" not in name[:-6]
        if family is None or to_is or name.endswith(("_Div", "_Pow")):  # nonsense for most operands
            continue
        positions = [start for node in nodes for start, _ in get_operator(name)().mutation_positions(node)]
        for occurrence, start in enumerate(positions):
            places[path, start, family].append((name, occurrence))
    return places


def make_mutant(path, operator, occurrence):
    """Return the changed lines of a mutant; None if it is not valid or differs only in what no test should check."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = path.read_text(encoding="utf-8")
    mutated = mutate_code(source, get_operator(operator)(), occurrence)
    try:
        if ast.dump(Code().visit(ast.parse(mutated))) == ast.dump(Code().visit(ast.parse(source))):
            return None
    except SyntaxError:
        return None
    old, new = source.splitlines(), mutated.splitlines()
    changes = [change for change in difflib.SequenceMatcher(None, old, new, False).get_opcodes() if change[0] != "equal"]
    _, first, _, new_first, _ = changes[0]
    _, _, last, _, new_last = changes[-1]
    return {"line": first + 1, "old": old[first:last], "new": new[new_first:new_last]}


def draw(arguments):
    choose, mutants = random.Random(arguments.seed), []
    for part, (pattern, number, _) in PARTS.items():
        places = {}
        for path in sorted(path for path in arguments.tree.glob(pattern) if path.is_file()):
            places |= list_places(path)
        drawn = []
        for place in choose.sample(list(places), len(places)):
            for operator, occurrence in choose.sample(places[place], len(places[place])):
                if len(drawn) < number and (mutant := make_mutant(place[0], operator, occurrence)):
                    name, kind = place[0].relative_to(arguments.tree).as_posix(), operator.partition("/")[2]
                    drawn.append({"part": part, "file": name, "operator": kind, "occurrence": occurrence, **mutant})
                    break
        print(f"{part}: {len(drawn)} mutants, {len(places)} places")
        mutants += sorted(drawn, key=lambda mutant: (mutant["file"], mutant["line"], mutant["operator"]))
    save(arguments.mutants, mutants)


def save(path, content):
    path.with_suffix(".tmp").write_text(json.dumps(content, indent=1), encoding="utf-8")
    path.with_suffix(".tmp").replace(path)


def find_line(source, mutant):
    """Return the index of the first replaced line in a checkout, or None; of equal places the nearest."""
    lines, old = source.splitlines(), mutant["old"]
    found = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
    return min(found, key=lambda i: abs(i - mutant["line"] + 1), default=None)


def find_statement(source, line):
    """Return the first and last line of the statement around a line (of a compound one the head); None: runs at import."""
    inside, found = False, None

    def visit(node, in_function):
        nonlocal inside, found
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)) and hasattr(child, "lineno"):
                body = getattr(child, "body", None)
                last = body[0].lineno - 1 if body else child.end_lineno
                if child.lineno <= line <= max(last, child.lineno):
                    inside, found = in_function, (child.lineno, max(last, child.lineno))
            visit(child, in_function or isinstance(child, ast.FunctionDef))

    visit(ast.parse(source), False)
    return found if inside else None


def group_by_file(tests):
    groups = collections.defaultdict(list)
    for test in tests:
        groups[test.partition("::")[0]].append(test)
    return groups


class Plugin:
    """Runs the chosen tests in their order, and says which failed and what each took; with coverage, each has a context."""

    def __init__(self, report, limit, chosen=None, measured=None):
        self.report, self.limit, self.chosen, self.measured = report, limit, chosen, measured
        self.current, self.failed, self.seconds, self.fixtures = "", {}, {}, {}

    def pytest_collection(self):
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])  # shrinking takes long
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        if self.chosen is not None:
            order = {test: i for i, test in enumerate(self.chosen)}
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])
        self.fixtures = {item.nodeid: item.fixturenames for item in items}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self.current, start = item.nodeid, time.process_time()
        self.enter(item.nodeid)
        signal.signal(signal.SIGPROF, self.stop)
        signal.setitimer(signal.ITIMER_PROF, self.limit(item.nodeid))
        result = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.enter("")
        self.seconds.setdefault(item.nodeid, time.process_time() - start)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        shared = fixturedef.scope != "function"
        if shared:
            self.enter(f"fixture {fixturedef.argname}")
        try:
            return (yield)
        finally:
            if shared:
                self.enter(self.current)

    def enter(self, context):
        if self.measured:
            self.measured.switch_context(context)

    def stop(self, *_):
        if self.measured:
            pytest.fail("too slow")
        self.report({"failed": self.current, "timeout": True})
        os._exit(0)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.setdefault(report.nodeid, report.when)
        elif report.skipped:
            self.seconds[report.nodeid] = None

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.setdefault(report.nodeid, "collect")


def call_pytest(tree, plugin, files, *options):
    temporary = f"{tree}.tmp"
    common = ["-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "--show-capture=no", "--basetemp", temporary]
    return pytest.main([*common, *options, *files], plugins=[plugin])


def touch(tree, report, file, limit, wanted):
    """Job: run a test file with coverage, and report the tests that pass and those that touch the lines of mutants."""
    measured = coverage.Coverage(
        data_file=f"{tree}.coverage",
        config_file=False,
        include=[str(tree / name) for names, _, _ in wanted.values() for name in names],
    )
    measured.start()
    plugin = Plugin(report, lambda test: limit, measured=measured)
    call_pytest(tree, plugin, [file])
    measured.stop()
    data, touched = measured.get_data(), {}
    users = collections.defaultdict(list)
    for test, names in plugin.fixtures.items():
        for context in [test, *(f"fixture {name}" for name in names)]:
            users[context].append(test)
    tests = {test: took for test, took in plugin.seconds.items() if took is not None and test not in plugin.failed}
    lines = functools.cache(lambda name: data.contexts_by_lineno(str(tree / name)))
    for number, (names, first, last) in wanted.items():
        found = [lines(name)[line] for name in names for line in lines(name) if first <= line <= last]
        contexts = {context for names in found for context in names}
        touched[number] = sorted({test for context in contexts for test in users[context] if test in tests})
    report({"tests": tests, "touched": touched, "failed": plugin.failed})


def try_tests(tree, report, chosen, seconds):
    """Job: run tests until one fails."""
    plugin = Plugin(report, lambda test: 5 + 10 * seconds.get(test, 0), chosen)
    code = call_pytest(tree, plugin, group_by_file(chosen), "-x")
    failed = next(iter(plugin.failed), None if code in (0, 5) else f"pytest ended with {code}")
    report({"failed": failed, "run": len(plugin.seconds)})


def start(job, tree, compiled):
    """Start a job in a new process, as in a shell in the copy of the checkout."""
    result = Path(f"{tree}.json")
    result.unlink(missing_ok=True)
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        os.chdir(tree)
        log = os.open(f"{tree}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        sys.path[0] = os.environ["PYTHONPATH"] = str(tree)
        os.environ["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
        sys.modules["numba"].config.reload_config()
        job(tree, lambda content: result.write_text(json.dumps(content)))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def schedule(tasks, trees):
    """Run tasks, one in each tree at a time. A task yields jobs, with a time limit, and gets their reports and CPU times."""
    tasks, free, running = iter(tasks), list(trees), {}

    def go_on(task, tree, *answer):
        try:
            job, compiled, limit = task.send(*answer)
        except StopIteration:
            free.append(tree)
        else:
            running[start(job, tree, compiled)] = task, tree, awake + limit

    awake, last = 0.0, time.monotonic()  # without the time in which all this is stopped (kill -STOP)
    while True:
        while free and (task := next(tasks, None)):
            tree = free.pop()
            go_on(task(tree), tree, None)
        if not running:
            return
        time.sleep(0.02)
        now = time.monotonic()
        awake, last = awake + min(now - last, 1), now
        for pid, (task, tree, limit) in list(running.items()):
            if late := awake > limit:
                os.killpg(pid, signal.SIGKILL)
            ended, _, usage = os.wait4(pid, 0 if late else os.WNOHANG)
            if ended:
                del running[pid]
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)  # processes that a test left behind
                try:
                    report = json.loads(Path(f"{tree}.json").read_text())
                except FileNotFoundError:
                    report = {"failed": "process", "timeout": late}
                go_on(task, tree, (report, usage.ru_utime + usage.ru_stime))


def run(arguments):
    mutants = json.loads(arguments.mutants.read_text(encoding="utf-8"))
    results = json.loads(arguments.results.read_text(encoding="utf-8")) if arguments.results.exists() else {}
    before = json.loads(arguments.before.read_text(encoding="utf-8")) if arguments.before else {}
    scratch = arguments.results.with_suffix("").absolute()
    trees = [scratch / f"tree{i}" for i in range(arguments.jobs)]
    for tree in trees:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(arguments.tree, tree, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__", "_build"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    sys.dont_write_bytecode = False
    for library in LIBRARIES.split():
        importlib.import_module(library)

    places = {}  # by number: the lines that the tests must touch, for what runs at import any lines of this part
    for number, mutant in enumerate(mutants):
        path, pattern = trees[0] / mutant["file"], PARTS[mutant["part"]][0]
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        if (line := find_line(source, mutant)) is not None:
            together = [path.relative_to(trees[0]).as_posix() for path in trees[0].glob(pattern) if path.is_file()]
            statement = find_statement(source, line + 1)
            places[str(number)] = ([mutant["file"]], *statement) if statement else (together, 1, EVERY_LINE)

    def measure(file, compiled, path):
        def task(tree):
            wanted = {number: place for number, place in places.items() if PARTS[mutants[int(number)]["part"]][2] == compiled}
            job = functools.partial(touch, file=file, limit=LIMITS[compiled], wanted=wanted)
            report, took = yield job, compiled, 3600
            print(
                f"{file}: {len(report.get('tests', ()))} tests, {took:.0f} s",
                *report["failed"] and ["FAILED", report["failed"]],
            )
            save(path, report)

        return task

    maps = {True: {}, False: {}}
    tasks = []
    modes = {PARTS[mutant["part"]][2] for mutant in mutants}
    for compiled, top in [(mode, top) for mode in modes for top in ("." if mode else INTERPRETED_TESTS).split()]:
        top = arguments.tree / "tests" / top
        for path in [top] if top.is_file() else sorted(top.rglob("test_*.py")):
            file = path.relative_to(arguments.tree).as_posix()
            maps[compiled][file] = scratch / f"{file.replace('/', '.')}.{compiled}.json"
            if not maps[compiled][file].exists():
                tasks.append(measure(file, compiled, maps[compiled][file]))
    schedule(tasks, trees)
    seconds, touching, passing = {}, {}, {}
    for compiled, files in maps.items():
        seconds[compiled], touching[compiled] = {}, collections.defaultdict(list)
        for file, path in files.items():
            report = json.loads(path.read_text())
            passing[compiled, file] = list(report.get("tests", ()))
            seconds[compiled] |= report.get("tests", {})
            for number, tests in report.get("touched", {}).items():
                touching[compiled][number] += tests

    def batches(number, compiled):
        """Yield growing lists of tests: first the one that killed the mutant before, then a cheap one of each test function."""
        took, tests = seconds[compiled], touching[compiled][number]
        if (first := before.get(number, {}).get("test")) in took:
            yield [first]
        counts, ranks = collections.Counter(), {}
        for test in sorted(tests, key=took.get):
            function = test.partition("[")[0]
            ranks[test] = counts[function], took[test]
            counts[function] += 1
        tests = collections.deque(sorted(tests, key=ranks.get))
        for limit in BATCHES if places[number][2] < EVERY_LINE else BATCHES[:-1]:
            batch, total = [], 0
            while tests and (not batch or total + took[tests[0]] <= limit):
                total += took[tests[0]]
                batch.append(tests.popleft())
            yield batch
        known, total = set(ranks), 0
        others = [test for file in group_by_file(known) for test in passing[compiled, file]]
        others = sorted(set(others) - known, key=took.get)
        yield [test for test in others if (total := total + took[test]) < WIDER]

    def plant(number, mutant):
        def task(tree):
            compiled, total, run, status, test = PARTS[mutant["part"]][2], 0, 0, "lived", None
            if number not in places:
                status = "does not fit"
            else:
                path = tree / mutant["file"]
                source = path.read_text(encoding="utf-8")
                first, lines = find_line(source, mutant), source.splitlines()
                lines[first : first + len(mutant["old"])] = mutant["new"]
                write(path, "\n".join(lines) + "\n")
                for batch in filter(None, batches(number, compiled)):
                    batch = [test for group in group_by_file(batch).values() for test in group]
                    planned = sum(map(seconds[compiled].get, batch))
                    job = functools.partial(try_tests, chosen=batch, seconds=seconds[compiled])
                    report, took = yield job, compiled, 180 + 15 * planned
                    total, run = total + took, run + report.get("run", 0)
                    if report["failed"]:
                        status, test = "timeout" if report.get("timeout") else "killed", report["failed"]
                        break
                write(path, source)
            touched = len(touching[compiled][number])
            result = {**mutant, "status": status, "test": test, "touching": touched, "run": run, "seconds": round(total, 1)}
            results[number] = result
            save(arguments.results, results)
            print(
                f"{len(results)}/{len(mutants)} {mutant['file']}:{mutant['line']} {status} {test or ''} {total:.0f} s",
                flush=True,
            )

        return task

    todo = [(str(i), mutant) for i, mutant in enumerate(mutants) if str(i) not in results]
    random.Random(0).shuffle(todo)
    schedule([plant(*item) for item in todo], trees)


def write(path, source):
    """Write a source file and remove its bytecode, which Python would use for an equally long file of the same second."""
    path.write_text(source, encoding="utf-8")
    for file in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        file.unlink()


def show(arguments):
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    before = json.loads(arguments.before.read_text(encoding="utf-8")) if arguments.before else {}
    columns = "killed", "timeout", "lived", "does not fit"
    for part in [*PARTS, None]:
        chosen = [result for result in results.values() if part in (None, result["part"])]
        numbers = ", ".join(f"{sum(result['status'] == column for result in chosen)} {column}" for column in columns)
        print(f"{part or 'all'}: {numbers}, {sum(result['seconds'] for result in chosen) / 60:.0f} CPU minutes")
    for number, result in sorted(results.items(), key=lambda item: (item[1]["file"], item[1]["line"])):
        was_killed = before.get(number, {}).get("status") in ("killed", "timeout")
        if result["status"] not in ("killed", "timeout") and (was_killed or not before):
            print(f"\n{result['file']}:{result['line']} {result['status']} ({result['operator']}, tests: {result['touching']})")
            print(*(f"- {line}" for line in result["old"]), *(f"+ {line}" for line in result["new"]), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for function, names in ((draw, ["mutants"]), (run, ["mutants", "results"]), (show, ["results"])):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        for name in names:
            command.add_argument(name, type=Path)
        command.add_argument("--tree", type=lambda path: Path(path).absolute(), default=Path(__file__).absolute().parents[1])
        command.add_argument("--before", type=Path)
        command.add_argument("--jobs", type=int, default=2)
        command.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.function(arguments)
