"""Calls of every API with hostile arguments, commands with hostile words, and requests of the simulator."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from unittest import mock

import numpy as np

import momagames
from momagames import fronts, wrappers
from momagames.analysis import indicators, utilities
from momagames.baselines import POLICIES as POLICY_NAMES
from momagames.baselines import method, policy
from momagames.engine.episode import Episode
from tests.hostile.files import BOARD, SMALL, choose_action, make_dataset, play, run_small_suite
from tests.hostile.inputs import encode_json
from tests.hostile.targets import target

RNG = np.random.default_rng
OTHERS = {
    "illegal": "forfeit", "render_mode": "ansi", "max_cycles": 5, "numeric_infos": True, "render_options": {},
    "objectives": None,
    "agent": None, "team": None, "others": "random", "autoreset": "same_step", "views": "mover", "preference": None,
    "legal_actions": "names",
}  # fmt: skip


def choose_options(source, id):
    """Return parameters of a small game and options of the APIs, some of them hostile."""
    given = dict(SMALL[id])
    for _ in range(source.choose((0, 1, 1, 2))):
        known = {one.name: one.default for one in momagames.spec(id, **SMALL[id]).parameters} | OTHERS
        name = source.choose(known)
        given[name] = source.argument(known[name])
    return given


@target(40)
def parameters_of_games(folder):
    games = {id: momagames.spec(id) for id in momagames.ids()}

    def feed(source):
        id = source.choose(games)
        names = {one.name: one.default for one in games[id].parameters}
        given = {}
        for _ in range(source.choose((1, 1, 2))):
            name = source.choose(names)
            given[name] = source.argument(names[name])
        momagames.canonical(id, **given)

    return feed


@target(10)
def options_of_environments(folder):
    def feed(source):
        id, api = source.choose(SMALL), source.choose(("aec", "parallel", "gymnasium", "text", "vector", "batch"))
        given = choose_options(source, id)
        if api == "vector":
            momagames.make_vec(id, 2, **given).reset(seed=0)
        elif api == "batch":
            momagames.make_text_batch(id, 2, **given).reset(seed=0)
        else:
            momagames.make(id, api, **given).reset(seed=0)

    return feed


def choose_start(source, example):
    """Return seed and options of a reset."""
    options = {name: source.argument(value) for name, value in example.items() if source.choose((True, False))}
    return {"seed": source.argument(0), "options": source.choose((None, options, options, source.argument({})))}


def make_small(api):
    """Return the environments of all small games after a reset, and their start positions, by id."""
    envs = {id: momagames.make(id, api, **params) for id, params in SMALL.items()}
    for env in envs.values():
        env.reset(seed=0)
    return envs, {id: make_starts(env) for id, env in envs.items()}


def make_starts(env):
    """Return what `options` of reset may hold, from the current position."""
    state = env.unwrapped.get_state()
    board = {"board": state["board"]} if "board" in state else {}
    return [{"state": state}, {**board, "first_agent": env.game.agents[0]}]


@target(40)
def calls_of_the_aec_api(folder):
    envs = {id: momagames.make(id, render_mode="ansi", **params) for id, params in SMALL.items()}
    for env in envs.values():
        env.reset(seed=0)
    starts = {id: make_starts(env) for id, env in envs.items()}

    def feed(source):
        id = source.choose(envs)
        env = envs[id]
        env.reset(seed=0)
        play(env, RNG(0), source.choose((0, 1, 2)))
        valid = choose_action(env.game, env.last()[0]["action_mask"], RNG(0))
        calls = {
            "step": lambda: env.step(source.argument(valid)),
            "reset": lambda: env.reset(**choose_start(source, source.choose(starts[id]))),
            "observe": lambda: env.observe(source.argument(env.game.agents[0])), "last": env.last,
            "space": lambda: env.action_space(source.argument(env.game.agents[0])), "render": env.render, "state": env.state,
            "rewards": lambda: env.reward_space(source.argument(env.game.agents[0])), "truncate": env.truncate,
        }  # fmt: skip
        calls[source.choose(["step"] * 4 + ["reset"] * 4 + list(calls))]()
        play(env, RNG(0), 2)

    return feed


@target(20)
def calls_of_the_parallel_api(folder):
    envs, starts = make_small("parallel")

    def feed(source):
        id = source.choose(envs)
        env = envs[id]
        observations, _ = env.reset(seed=0)
        if source.choose((True, True, False)):
            valid = {agent: choose_action(env.game, seen["action_mask"], RNG(0)) for agent, seen in observations.items()}
            changed = source.choose((*valid, "all"))
            env.step(source.argument(valid) if changed == "all" else {**valid, changed: source.argument(valid[changed])})
        else:
            env.reset(**choose_start(source, source.choose(starts[id])))
        env.state()

    return feed


@target(20)
def calls_of_the_gymnasium_api(folder):
    envs, starts = make_small("gymnasium")

    def feed(source):
        id = source.choose(envs)
        env = envs[id]
        env.reset(seed=0)
        valid = choose_action(env.game, env.action_masks(), RNG(0))
        calls = {
            "step": lambda: env.step(source.argument(valid)), "peek": lambda: env.peek(source.argument(valid)),
            "reset": lambda: env.reset(**choose_start(source, source.choose(starts[id]))),
        }  # fmt: skip
        calls[source.choose(calls)]()
        env.action_masks()

    return feed


@target(30)
def calls_of_the_vector_api(folder):
    envs = {id: momagames.make_vec(id, 3, **params) for id, params in SMALL.items()}
    singles = {id: momagames.make(id, **params) for id, params in SMALL.items()}
    for env in singles.values():
        env.reset(seed=0)
    states = {id: env.get_state() for id, env in singles.items()}

    def feed(source):
        id = source.choose(envs)
        env = envs[id]
        env.reset(seed=0)
        valid = env.sample_actions()
        if source.choose((True, False)):
            actions = source.choose((valid, valid.tolist()))
            env.step(source.argument(actions))
        else:
            options = {"state": source.argument([states[id]] * 3), "reset_mask": source.argument(np.ones(3, bool))}
            chosen = {name: value for name, value in options.items() if source.choose((True, False))}
            env.reset(seed=source.argument([0, 1, 2]), options=source.choose((chosen, chosen, source.argument({}))))
        env.step(env.sample_actions())

    return feed


@target(20)
def answers_to_text_environments(folder):
    ids = [id for id in SMALL if id != "mo-tileblast-v0"]
    envs = {
        (id, listing): momagames.make(id, "text", legal_actions=listing, **SMALL[id])
        for id in ids
        for listing in ("names", "numbers")
    }
    batches = {id: momagames.make_text_batch(id, 2, **SMALL[id]) for id in ids}

    def feed(source):
        id = source.choose(ids)
        env = envs[id, source.choose(("names", "numbers"))]
        env.reset(seed=0)
        game, mask = env.game, env.episode.mask(0)
        valid = f"<action>{game.human.action_name(env.episode.state, choose_action(game, mask, RNG(0)))}</action>"
        answer = source.choose((source.text(valid), source.argument(valid)))
        if source.choose((True, True, False)):
            env.step(answer)
            env.observe(source.argument(env.game.agents[0]))
        else:
            batch = batches[id]
            batch.reset(seed=source.argument(0), group_size=source.argument(1))
            batch.step(source.choose(([valid, answer], source.argument([valid, valid]))))

    return feed


@target(20)
def policies_and_methods(folder):
    games = [momagames.spec(id, **params) for id, params in SMALL.items()]

    def feed(source):
        game = source.choose(games)
        name = source.choose([*POLICY_NAMES, *game.policies])
        if name in ("uct", "pareto_uct", "nested_rollouts", "champion"):  # play for long, or learn their weights at first
            name = "greedy"
        if source.choose((True, True, True, False)):
            options = {"weights": [1.0] * len(game.objectives)} if name == "greedy" else {}
            options = {key: source.argument(value) for key, value in options.items()}
            agent = source.argument(game.agents[0])
            chosen = policy(source.argument(name), game, agent, **options)
            one = Episode(game)
            one.reset(0)
            if isinstance(agent, str) and agent == game.agents[0]:
                one.choose_action(0, chosen, RNG(0))
        else:
            made = method(source.argument("greedy"), game)(divisions=source.argument(2))
            made.policies(game)

    return feed


WRAPPERS = {
    "Scalarize": {"weights": [1, 1, 1, 1], "utility": None}, "ShareTeamReward": {"teams": None},
    "SelectObjectives": {"objectives": [0]},
    "NormalizeReward": {"gamma": 0.9, "epsilon": 1e-8, "objectives": None, "state": None},
    "RecordEpisodeStatistics": {"buffer_length": 3},
    "HandleIllegal": {"policy": "next"}, "FixedInstance": {"seed": 0}, "TabularObservation": {"limit": 9},
    "Flatten": {"key": "x"},
    "Centralize": {"reward": "sum", "observation": "state"}, "RecordReplay": {"formats": ["json"], "name": "x", "fps": 4.0},
    "MergeColors": {}, "SplitColors": {},
}  # fmt: skip


@target(20)
def arguments_of_wrappers(folder):
    folders = folder / "replays"

    def feed(source):
        id, api = source.choose(("mo-breakthrough-v0", *SMALL)), source.choose(("aec", "parallel", "gymnasium", "vector"))
        env = momagames.make_vec(id, 2, **SMALL[id]) if api == "vector" else momagames.make(id, api, **SMALL[id])
        name = source.choose(WRAPPERS)
        valid = WRAPPERS[name]
        if name == "Scalarize":
            valid = {"weights": [1.0] * len(env.unwrapped.game.objectives)} if source.choose((True, False)) else valid
        given = {key: source.argument(value) for key, value in valid.items()}
        given |= {"folder": source.choose((str(folders), folders))} if name == "RecordReplay" else {}
        env = getattr(wrappers, name)(env, **given)
        if source.choose((True, False)):
            setters = {"Scalarize": "set_weights", "NormalizeReward": "load_state_dict"}
            if name in setters:
                getattr(env, setters[name])(source.argument(env.state_dict() if name == "NormalizeReward" else [1, 1, 1, 1]))
        env.reset(seed=0)
        if api == "vector":
            env.step(env.unwrapped.sample_actions())
        elif api == "gymnasium" and name not in ("Flatten", "Centralize"):
            env.step(choose_action(env.unwrapped.game, env.unwrapped.action_masks(), RNG(0)))

    return feed


@target(20)
def arguments_of_indicators(folder):
    points, weights = [[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]], [0.2, 0.3, 0.5]
    calls = {
        indicators.hypervolume: (points, [-1.0, -1.0, -1.0]),
        indicators.hypervolume_ratio: (points, [-1.0, -1.0, -1.0], points),
        indicators.igd_plus: (points, points), indicators.epsilon: (points, points), indicators.cardinality: (points,),
        indicators.rounded_cardinality: (points, 0.01), indicators.sparsity: (points,),
        utilities.expected_utility: (points, [weights]), utilities.delivered_utility: (points, [weights, weights]),
        utilities.utility_regret: (points, [weights, weights]), utilities.linear: (weights,), utilities.chebyshev: (weights,),
        utilities.threshold: (weights,), utilities.cobb_douglas: (weights,),
    }  # fmt: skip

    def feed(source):
        function = source.choose(calls)
        found = function(*map(source.argument, calls[function]))
        if callable(found):
            found(np.array(points))

    return feed


# ----------------------------------------------------------------------------------------------------------------- commands


@target(2)
def commands(folder):
    """Words of commands, in a folder with results, data and files; those that ask for amounts keep their amount."""
    import typer

    from momagames.cli.app import app

    here = folder / "here"
    here.mkdir()
    run_small_suite(here / "results", {"name": "random", "options": {}})
    make_dataset(here / "data")
    front = fronts.load_front("mo-samegame-v0-7x7x3-0")
    fronts.write_front(here / "front.json", front)
    texts = [f"{name}={value}" for name, value in BOARD.items()]
    parameters = [word for text in texts for word in ("-p", text)]
    examples = [
        ["info", "mo-samegame-v0", *parameters], ["info", "mo-pommerman-ffa-v0", "--json"], ["bench", "show", "ten_seconds"],
        ["bench", "status", "results"], ["bench", "check", "results"], ["bench", "compare", "results", "results"],
        ["bench", "export", "results", "x.csv"], ["dataset", "info", "data"], ["dataset", "verify", "data"],
        ["front", "show", "front.json"],
        ["front", "verify", "front.json"], ["level", "check", "level.yaml"], ["level", "show", "5"],
        ["layout", "check", "mini6"],
        ["layout", "show", "mini6"], ["match", "mo-samegame-v0", "random", "greedy", "--games", "1", *parameters],
        ["replay", "results"], ["eval", "x.npz"], ["leaderboard", "check", "data"], ["leaderboard", "seal", "nowhere"],
    ]  # fmt: skip
    words = [
        "", "-", "--", "-p", "x", "--json", "--out", "--seed", "--param", "-p", "=", "a=", "=1", "a=b", "board_width=-1",
        "level=../x", "[/x]",
        "[bold]x", "\x1b[31m", "\0", "é", "\udcff", "nan", "inf", "-1", "0", "1e308", "x" * 5000, "../x", "/proc/version",
        "results", "data",
        "front.json", "this:s", "a:b:c", "safe:random", "objectives=[[0]]", "objectives={", "clear_bonus=1e999",
        "board_width=" + "9" * 5000,
    ]  # fmt: skip
    command = typer.main.get_command(app)

    def feed(source):
        given = list(source.choose(examples))
        if source.choose((False, True)):
            for _ in range(source.choose((1, 1, 2))):
                place = source.choose(range(len(given)))
                match source.choose(("replace", "replace", "insert", "delete", "swap")):
                    case "replace":
                        given[place] = source.choose(words)
                    case "insert":
                        given.insert(place, source.choose(words))
                    case "delete" if len(given) > 1:
                        del given[place]
                    case _:
                        given[place], given[0] = given[0], given[place]
        if given[:1] in (["play"], ["serve"], ["train"]):
            return
        output = io.StringIO()
        with (
            contextlib.chdir(here), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output),
            mock.patch.object(sys, "path", [*sys.path]), contextlib.suppress(SystemExit),
        ):  # fmt: skip
            command.main(given, prog_name="momagames")

    return feed


# ---------------------------------------------------------------------------------------------------------------- simulator


@target(30)
def requests_of_the_simulator(folder):
    from momagames.games.tileblast.serve.app import app
    from momagames.games.tileblast.serve.health import Counters
    from momagames.games.tileblast.serve.hosts import HostCheck
    from momagames.games.tileblast.serve.limits import Limits
    from momagames.games.tileblast.serve.service import Service
    from momagames.games.tileblast.serve.sessions import Sessions
    from momagames.games.tileblast.serve.simulator import Levels

    service = Service(Levels(), Sessions(max_sessions=10))
    served = app(service, Limits(rate=0), HostCheck(["localhost"]), Counters())
    runner = asyncio.Runner()
    examples = {
        "/load": {"levelIndex": 1, "seed": 0}, "/click": {"state": '{"levelIndex":1,"seed":0,"taps":[]}', "x": 0, "y": 0},
        "/session/create": {"levelIndex": 1, "seed": 0, "returnFullState": True},
        "/session/click": {"sessionId": "", "x": 0, "y": 0, "dryRun": False}, "/session/status": {"sessionId": ""},
        "/session/destroy": {"sessionId": ""}, "/sessions/list": {}, "/health": {}, "/ping": {},
    }  # fmt: skip

    def feed(source):
        path = source.choose(examples)
        valid = dict(examples[path])
        if "sessionId" in valid:
            valid["sessionId"] = next(iter(service.sessions.ids()), "")
        if "state" in valid and source.choose((True, False)):
            valid["state"] = encode_json(source, json.loads(valid["state"])).decode("utf-8", "replace")
        body = encode_json(source, valid)
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        if source.choose((False, True, False, False)):
            k = source.choose(range(len(headers)))
            headers[k] = (source.choose((headers[k][0], b"origin", b"x")), source.raw(headers[k][1]))
        method = source.choose(("POST", "POST", "POST", "GET", "PUT", "x"))
        changed = path if source.choose((True,) * 9 + (False,)) else source.text(path)
        scope = {
            "type": "http",
            "method": method,
            "path": changed,
            "headers": headers,
            "query_string": b"",
            "client": ("127.0.0.1", 1),
        }
        parts = iter(
            [{"type": "http.request", "body": body[:9], "more_body": True}, {"type": "http.request", "body": body[9:]}]
        )

        async def receive():
            return next(parts, {"type": "http.disconnect"})

        async def send(message):
            pass

        runner.run(served(scope, receive, send))

    return feed
