"""Readers of files. Each example is written, with a change, where the reader expects it."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import socket
from importlib import resources
from itertools import count, islice
from pathlib import Path
from unittest import mock

import numpy as np
import yaml

import momagames
from momagames import datasets, fronts, tabular
from momagames.baselines import policy
from momagames.baselines.candidates.cross_entropy import CrossEntropy
from momagames.benchmark import load_suite, replays, run_suite, training
from momagames.benchmark.store import archive_file, packed_rows
from momagames.benchmark.store.check import check_store
from momagames.benchmark.store.checksums import CHECKSUMS
from momagames.benchmark.store.packing import pack
from momagames.benchmark.store.status import read_status
from momagames.benchmark.store.store import HASHED, Store
from momagames.datasets.manifest import name_shard
from momagames.engine.episode import Episode
from momagames.files.npz_data import read_arrays
from momagames.files.reading import hash_content
from momagames.games.pommerman.original.game_files import format_game_state, read_game_state
from momagames.games.pommerman.original.http_agent import HttpAgent
from momagames.games.robotmail.layouts import loader as layouts
from momagames.games.samegame import standard_boards
from momagames.games.tileblast.levels import loader as levels
from momagames.games.tileblast.serve.client import Client
from momagames.leaderboard import check_submission
from momagames.wrappers.recording import replay, replay_data
from tests.benchmark.tiny import INDICATORS, POLICIES, RANDOM, plans
from tests.datasets.small import part, recipe
from tests.hostile.inputs import encode_json, encode_npz, encode_text
from tests.hostile.targets import target

BOARD = {"board_width": 4, "board_height": 4, "num_colors": 2}
SMALL = {
    "mo-samegame-v0": BOARD,
    "mo-breakthrough-v0": {"board_width": 3, "board_height": 5},
    "mo-pommerman-duel-v0": {"max_steps": 20},
    "mo-robotmail-v0": {"max_step": 20, "layout": "mini6"},
    "mo-tileblast-v0": {"level": 4, "max_taps": 20},
}
TRAINED = {"name": "cross_entropy", "options": {"population": 4, "elites": 2, "episodes": 2}}


def play(env, rng, steps):
    """Play random legal actions in an AEC environment."""
    for _ in range(steps):
        if not env.agents:
            return
        observation, _, terminated, truncated, _ = env.last()
        ended = terminated or truncated
        env.step(None if ended else choose_action(env.game, observation["action_mask"], rng))


def choose_action(game, mask, rng):
    parts = np.split(mask, np.cumsum(game.actions)[:-1])
    chosen = [int(rng.choice(np.flatnonzero(part))) if part.any() else 0 for part in parts]
    return chosen[0] if len(chosen) == 1 else chosen


def seal(folder: Path, names) -> None:
    """Write the checksums of files, without waiting for the disk."""
    lines = [f"{hash_content((folder / name).read_bytes())}  {name}\n" for name in sorted(names) if (folder / name).is_file()]
    (folder / CHECKSUMS).write_text("".join(lines))


# ---------------------------------------------------------------------------------------------------------- YAML, CSV, text


def read_yaml(share_path, read, valid, text):
    """Return the feed of a format of YAML; changes of data are written as JSON, which is YAML."""

    def feed(source):
        as_data = source.choose((True, False))
        share_path.write_bytes(encode_json(source, valid) if as_data else encode_text(source, text))
        read(share_path)

    return feed


@target(2)
def suite(folder):
    valid = {"name": "x", "description": "", "experiments": [plans([RANDOM]), POLICIES], "indicators": INDICATORS}
    return read_yaml(folder / "suite.yaml", load_suite, valid, yaml.safe_dump(valid))


@target(2)
def collection(folder):
    member = {"name": "x", "description": "", "experiments": [plans([RANDOM])], "indicators": INDICATORS}
    (folder / "member.yaml").write_text(json.dumps(member))
    valid = {"name": "y", "description": "", "suites": ["member.yaml"], "seeds": [0, 1], "indicators": INDICATORS}
    return read_yaml(folder / "collection.yaml", load_suite, valid, yaml.safe_dump(valid))


@target(2)
def recipe_of_a_dataset(folder):
    valid = recipe()
    return read_yaml(folder / "recipe.yaml", datasets.load_recipe, valid, yaml.safe_dump(valid))


@target(3)
def level(folder):
    text = resources.files("momagames.games.tileblast.levels").joinpath("data/05.yaml").read_text(encoding="utf-8")

    def read(path):
        levels.list_problems(path)
        env = momagames.make("mo-tileblast-v0", level=str(path))
        env.reset(seed=0)
        play(env, np.random.default_rng(0), 2)

    return read_yaml(folder / "level.yaml", read, yaml.safe_load(text), text)


@target(6)
def layout(folder):
    data = resources.files("momagames.games.robotmail.layouts").joinpath("data")
    texts = {name: data.joinpath(f"mini6_{name}.csv").read_text(encoding="utf-8") for name in ("colors", "targets")}

    def feed(source):
        changed = source.choose((None, *texts))
        for name, text in texts.items():
            content = encode_text(source, text) if name == changed else text.encode()
            (folder / f"x_{name}.csv").write_bytes(content)
        layouts.list_problems(str(folder / "x"))
        if source.choose((True, False, False, False)):
            env = momagames.make("mo-robotmail-v0", layout=str(folder / "x"), max_step=20)
            env.reset(seed=0)
            play(env, np.random.default_rng(0), 3)

    return feed


@target(2)
def standard_boards_of_samegame(folder):
    """With boards of our own, as the package has no copy of those of the literature."""
    boards = np.random.default_rng(0).integers(0, 5, (20, 15, 15))
    standard_boards.DIGESTS = tuple(standard_boards.hash_board(board + 1) for board in boards)
    text = "\n".join(" ".join(map(str, row)) for board in boards for row in board)
    path = folder / "boards.txt"

    def feed(source):
        path.write_bytes(encode_text(source, text))
        standard_boards.read_boards(str(path))

    return feed


# ------------------------------------------------------------------------------------------------------ positions, replays


@target(40)
def position(folder):
    """As data, text and record, in every family; what is accepted is played on."""
    envs = {id: momagames.make(id, **params) for id, params in SMALL.items()}
    examples = {}
    for id, env in envs.items():
        env.reset(seed=1)
        play(env, np.random.default_rng(0), 4)
        state = env.unwrapped.episode.state
        examples[id] = {
            "data": json.loads(json.dumps(env.game.codec.save(state))), "text": env.game.codec.show(state),
            "record": state.copy(),
        }  # fmt: skip

    def feed(source):
        id = source.choose(SMALL)
        env, kind = envs[id], source.choose(("data", "data", "text", "record"))
        valid = examples[id][kind]
        if kind == "record":
            given = np.frombuffer((source.raw(valid.tobytes()) + valid.tobytes())[: valid.nbytes], valid.dtype).copy()
            given = given[0] if source.choose((True, True, False)) else given
        else:
            given = source.data(valid) if kind == "data" else source.text(valid)
        momagames.check_state(id, given, **SMALL[id])
        env.reset(seed=0, options={"state": given})
        play(env, np.random.default_rng(0), 3)

    return feed


@target(20)
def replay_file(folder):
    path, examples = folder / "replay.json", []
    for id, params in SMALL.items():
        env = momagames.make(id, **params)
        episode = env.unwrapped.episode
        episode.log = []
        env.reset(seed=1)
        play(env, np.random.default_rng(0), 5)
        data = replay_data(episode.game, episode.log, episode.returns, 1)
        examples.append(json.loads(json.dumps(data)))

    def feed(source):
        path.write_bytes(encode_json(source, source.choose(examples)))
        for _ in replay(path):
            pass

    return feed


@target(20)
def position_of_the_original_pommerman(folder):
    game, path = momagames.spec("mo-pommerman-ffa-v0", max_steps=20), folder / "000.json"
    env = momagames.make("mo-pommerman-ffa-v0", max_steps=20)
    env.reset(seed=0)
    play(env, np.random.default_rng(0), 40)
    valid = format_game_state(game, env.unwrapped.episode.state, None)

    def feed(source):
        inner = source.choose((None, *valid))
        data = {name: encode_json(source, json.loads(text)).decode("utf-8", "replace") if name == inner else text
                for name, text in valid.items()}  # fmt: skip
        path.write_bytes(encode_json(source, data) if inner is None else json.dumps(data).encode())
        env.reset(seed=0, options={"state": read_game_state(path, game)})
        play(env, np.random.default_rng(0), 4)

    return feed


# ------------------------------------------------------------------------------------------------------------- results


def run_small_suite(folder, *methods):
    """Run two small experiments into a results directory."""
    policies = {**POLICIES, "methods": list(methods), "select_episodes": 1, "report_episodes": 2, "seeds": [0]}
    policies |= {"budget": 8000} if TRAINED in methods else {}
    data = {"name": "x", "description": "", "experiments": [plans([RANDOM], seeds=[0]), policies], "indicators": INDICATORS}
    assert not run_suite(load_suite(data), folder).failed
    return Store(folder)


def list_files(store):
    """Return the content of the suite and of all files of runs, by path."""
    paths = [store.folder / "suite.json", *(path for run in sorted(store.runs.iterdir()) for path in sorted(run.iterdir()))]
    return {path: path.read_bytes() for path in paths}


def change_file(source, path, content):
    """Return the changed content of a file of a run."""
    if path.suffix == ".json":
        return encode_json(source, json.loads(content))
    if path.suffix == ".jsonl":
        lines = content.splitlines()
        i = source.choose(range(len(lines)))
        lines[i] = encode_json(source, json.loads(lines[i]))
        return b"\n".join(lines) + b"\n"
    return source.raw(content)


def use_results(store, source):
    """Read a results directory as the commands do."""
    for run in store.finished_runs():
        place = store.run_directory(run)
        store.read_metadata(run)
        for _ in store.read_rows(run):
            pass
        for one in replays.load_points(place)[:1]:
            replays.replay(place, one["point"])
    if source.choose((True, False, False)):
        read_status(store.folder)
        check_store(store)


@target(6)
def results_directory(folder):
    store = run_small_suite(folder / "results", RANDOM)
    files = list_files(store)

    def feed(source):
        path = source.choose([path for path in files if path.name != "SHA256SUMS"] * 4 + list(files))
        path.write_bytes(change_file(source, path, files[path]))
        sums = path.parent / CHECKSUMS
        try:
            if path.name in HASHED and source.choose((True, True, True, False)):
                seal(path.parent, HASHED)
            use_results(store, source)
        finally:
            path.write_bytes(files[path])
            if sums in files:
                sums.write_bytes(files[sums])

    return feed


@target(1)
def report_on_results(folder):
    from momagames.reports.data.report_data import collect_report_data

    store = run_small_suite(folder / "results", RANDOM)
    files = {path: content for path, content in list_files(store).items() if path.name != CHECKSUMS}

    def feed(source):
        path = source.choose(files)
        path.write_bytes(change_file(source, path, files[path]))
        try:
            if path.name in HASHED:
                seal(path.parent, HASHED)
            collect_report_data(store, store.read_suite())
        finally:
            path.write_bytes(files[path])
            if path.name in HASHED:
                seal(path.parent, HASHED)

    return feed


@target(3)
def packed_rows_of_results(folder):
    polars = packed_rows.import_polars("")
    store = run_small_suite(folder / "results", RANDOM)
    pack(store.folder)
    path, times = store.folder / packed_rows.PACKED, count(1)
    content = path.read_bytes()
    table = polars.read_parquet(path).to_dict(as_series=False)

    def feed(source):
        source.depths = (3,)  # polars takes seconds to make more
        if source.choose((True, False)):
            data = source.data(table)
            try:
                polars.DataFrame(data, strict=False).write_parquet(path)
            except BaseException as error:  # no table; polars has exceptions that are no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                path.write_bytes(source.raw(content))
        else:
            path.write_bytes(source.raw(content))
        os.utime(path, ns=(next(times), 0))  # so that it is read again
        os.utime(path, ns=(0, next(times)))
        if source.choose((True, True, False)):
            seal(store.folder, [packed_rows.PACKED])
        use_results(store, source)

    return feed


@target(3)
def archive_of_results(folder):
    store = run_small_suite(folder / "results", RANDOM)
    path = folder / "x.npz.xz"
    archive_file.pack_archive(store.folder, path)
    arrays = read_arrays(lzma.decompress(path.read_bytes()), "")

    def feed(source):
        if source.choose((True, True, True, False)):
            path.write_bytes(lzma.compress(encode_npz(source, arrays), preset=0))
        else:
            path.write_bytes(source.raw(lzma.compress(encode_npz(source, arrays), preset=0)))
        archived = archive_file.ArchivedStore(path)
        for run in archived.read_suite().list_runs(archived.read_versions()):
            if not archived.has_run(run):
                continue
            archived.read_metadata(run)
            if run.kind == "policies":
                archived.read_front(run)
            for _ in archived.read_rows(run):
                pass
        if source.choose((True, False)):
            shutil.rmtree(folder / "restored", ignore_errors=True)
            archive_file.unpack_archive(path, folder / "restored")

    return feed


@target(3)
def policies_of_a_run(folder):
    store = run_small_suite(folder / "results", TRAINED)
    [place] = {path.parent for path in store.runs.glob("*/policies.npz")}
    files = {name: (place / name).read_bytes() for name in HASHED}
    arrays = read_arrays(files["policies.npz"], "")
    known = json.loads(files["front.json"])

    def feed(source):
        content = encode_npz(source, arrays)
        (place / "policies.npz").write_bytes(content)
        if source.choose((True, True, True, False)):
            (place / "front.json").write_text(json.dumps({**known, "policies": hash_content(content)}))
            seal(place, HASHED)
        replays.replay(place, 0)

    return feed


# ------------------------------------------------------------------------------------------------------------ checkpoints


def choose_first_action(path, game):
    """Let a checkpoint play."""
    one = Episode(game)
    one.reset(0)
    one.choose_action(0, policy(str(path), game, 0), np.random.default_rng(0))


@target(3)
def checkpoint_of_a_training(folder):
    """It plays, is described as commands do, and is resumed."""
    game, path = momagames.spec("mo-samegame-v0", **BOARD), folder / training.CHECKPOINT
    one = training.Training(game, CrossEntropy(**TRAINED["options"]), 0, 3000, ("agent_0",), ())
    training.train(one, folder, 1, 1)
    arrays = read_arrays(path.read_bytes(), "")

    def feed(source):
        path.write_bytes(encode_npz(source, arrays))
        uses = {
            "plays": lambda: choose_first_action(path, game), "resumed": lambda: training.train(one, folder, 1, 1),
            "described": lambda: training.load_training(path)[0].make_opponents(game),
        }  # fmt: skip
        uses[source.choose(uses)]()

    return feed


@target(2)
def checkpoint_of_a_champion(folder):
    """Of n-tuples and networks: the packaged ones, which only play."""
    examples = []
    for id, name, params in (
        ("mo-breakthrough-v0", "breakthrough/champion-5x5", {"board_width": 5, "board_height": 5}),
        ("mo-pommerman-duel-v0", "pommerman/champion-duel", {}),
    ):
        content = resources.files("momagames.games").joinpath(f"{name}.npz").read_bytes()
        (folder / "x.npz").write_bytes(content)
        examples.append((momagames.spec(id, **params), read_arrays(content, "")))
        choose_first_action(folder / "x.npz", examples[-1][0])
    path = folder / "x.npz"

    def feed(source):
        game, arrays = source.choose(examples)
        path.write_bytes(encode_npz(source, arrays))
        choose_first_action(path, game)

    return feed


# ----------------------------------------------------------------------------------------------------------------- fronts


def feed_front(path, front):
    """Return the feed of a kind of fronts; the hash in the file is mostly that of the changed content."""
    content, kind = front.content(), type(front)

    def feed(source):
        text = encode_json(source, content)
        try:
            data = json.loads(text)
            digest = kind.model_validate_json(text).sha256 if source.choose((True, True, True, False)) else front.sha256
            text = json.dumps({**data, "sha256": digest}).encode()
        except Exception:  # no content that has a hash
            pass
        path.write_bytes(text)
        fronts.verify(fronts.read_front(path))

    return feed


@target(10)
def front_of_a_game(folder):
    return feed_front(folder / "front.json", fronts.load_front("mo-samegame-v0-7x7x3-0"))


@target(10)
def front_of_an_environment(folder):
    params = {"board_width": 3, "board_height": 3}
    choice = fronts.EnvironmentChoice(id="momagames/mo-samegame-v0", params=params, gamma="0.5", seed=0)
    return feed_front(folder / "front.json", fronts.solve_environment(choice, None, tabular.Limits()))


# --------------------------------------------------------------------------------------------------------------- datasets


def make_dataset(folder):
    """Make a dataset of two games with one file of data each, and return its manifest."""
    duel = {"id": "mo-breakthrough-v0", "params": SMALL["mo-breakthrough-v0"]}
    content = recipe(part("x", {"id": "mo-samegame-v0", "params": BOARD}, episodes=3), part("y", duel, episodes=2))
    datasets.make(content, folder)
    return json.loads((folder / "dataset.json").read_text())


@target(4)
def dataset_json(folder):
    manifest, path = make_dataset(folder), folder / "dataset.json"

    def feed(source):
        path.write_bytes(encode_json(source, manifest))
        found = datasets.open_dataset(folder)
        for _ in islice(found.episodes(), 10):
            pass
        datasets.verify(folder)

    return feed


@target(4)
def data_of_a_dataset(folder):
    import pyarrow
    import pyarrow.parquet as parquet

    manifest = make_dataset(folder)
    infos = manifest["shards"]
    paths = [folder / name_shard(info["part"], info["shard"]) for info in infos]
    contents = [path.read_bytes() for path in paths]
    tables = [parquet.read_table(pyarrow.BufferReader(content)).to_pydict() for content in contents]
    schemas = [parquet.read_schema(pyarrow.BufferReader(content)) for content in contents]

    def feed(source):
        k = source.choose(range(len(infos)))
        path = paths[k]
        if source.choose((True, False)):
            try:
                data = source.data(tables[k])
                schema = source.choose((schemas[k], schemas[k], None))
                parquet.write_table(pyarrow.table(data, schema=schema), path)
            except Exception:  # no table
                path.write_bytes(source.raw(contents[k]))
        else:
            path.write_bytes(source.raw(contents[k]))
        content = path.read_bytes()
        changed = {**infos[k], "sha256": hash_content(content), "bytes": len(content)}
        shards = [*infos[:k], changed, *infos[k + 1 :]]
        (folder / "dataset.json").write_text(json.dumps({**manifest, "shards": shards}))
        try:
            found = datasets.open_dataset(folder)
            found.read_shard(found.manifest.shards[k])
            datasets.verify(folder)
            for _ in islice(found.episodes(), 10):
                pass
        finally:
            path.write_bytes(contents[k])

    return feed


# ------------------------------------------------------------------------------------------------ submissions, connections


@target(3)
def submission(folder):
    from tests.leaderboard.submissions import write_plans, write_policies

    places = [write_plans(folder / "plans"), write_policies(folder / "policies", {"policy": "random", "options": {}})]
    files = {path: path.read_bytes() for place in places for path in sorted(place.iterdir())}

    def feed(source):
        path = source.choose(files)
        if path.suffix == ".yaml" and source.choose((True, False)):
            content = encode_json(source, yaml.safe_load(files[path]))
        else:
            content = (
                change_file(source, path, files[path]) if path.suffix == ".json" else encode_text(source, files[path].decode())
            )
        path.write_bytes(content)
        try:
            if path.name != CHECKSUMS and source.choose((True, True, True, False)):
                seal(path.parent, [one.name for one in files if one.parent == path.parent and one.name != CHECKSUMS])
            check_submission(path.parent)
        finally:
            path.write_bytes(files[path])
            (path.parent / CHECKSUMS).write_bytes(files[path.parent / CHECKSUMS])

    return feed


class Answer:
    """A connection over which one answer comes."""

    def __init__(self, content):
        self.content, self.read = content, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def recv(self, size):
        self.read += size
        return self.content[self.read - size : self.read]

    def makefile(self, *mode):
        import io

        return io.BytesIO(self.content)

    def settimeout(self, *given):
        pass

    sendall = setsockopt = close = settimeout


def encode_answer(source, data):
    """Return an answer of HTTP, with changes of its content or of its head."""
    body, is_body = encode_json(source, data), source.choose((True, True, False))
    length = len(body) if source.choose((True, True, False)) else source.data(len(body))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    content = head.encode("utf-8", "surrogatepass") + body
    return content if is_body else source.raw(content)


@target(40)
def answer_of_an_agent(folder):
    game = momagames.spec("mo-pommerman-radio-v0")
    from momagames.games.pommerman.original.observations import make_action_space, parse_action

    agent, space = HttpAgent.__new__(HttpAgent), make_action_space(game)
    agent.host, agent.port, agent.timeout, agent.num_late = "127.0.0.1", 1, 5.0, 0

    def feed(source):
        content = encode_answer(source, {"action": [0, 1, 2]})
        with mock.patch.object(socket, "create_connection", return_value=Answer(content)):
            parse_action(game, agent.act({}, space))

    return feed


@target(6)
def answer_of_a_simulator(folder):
    board = {"boardSize": [13, 9, 24], "board": [0] * 2808, "collectGoalRemaining": 3, "collectGoalRemainingList": [1, 2]}

    def feed(source):
        state = encode_json(source, board).decode("utf-8", "replace")
        answer = {"sessionId": "x", "levelMoveLimit": 9, "multichannelArrayState": state, "validActionPositions": "[[0, 0]]"}
        content = encode_answer(source, answer if source.choose((True, False)) else source.data(answer))
        with mock.patch.object(socket, "create_connection", return_value=Answer(content)):
            Client("http://localhost:1", 5.0).create(1, 0)

    return feed
