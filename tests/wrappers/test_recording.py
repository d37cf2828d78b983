"""Record and replay."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.wrappers import MultiEpisodeEnv

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.errors import InvalidCall, InvalidFile, InvalidParameter, InvalidState, MissingExtra
from momagames.files import writing
from momagames.wrappers import Flatten, HandleIllegal, RecordEpisodeStatistics, RecordReplay, Scalarize, replay
from tests import meteors
from tests.wrappers.games import breakthrough, gemwalk, legal, play, rounds, samegame, samegames, steps


def load(path: Path) -> Any:
    return json.loads(path.read_text())


def end(path: Path) -> Any:
    *_, env = replay(path)
    return env


@pytest.mark.parametrize(
    "make", [lambda: samegame(num_agents=3, clear_bonus=2.0), lambda: breakthrough(objectives=["captures", "win"])]
)
def test_aec_api(make: Any, tmp_path: Path) -> None:
    env = RecordReplay(make(), tmp_path)
    for seed in range(2):
        list(play(env, seed))
        again = end(env.recorder.files[-1])
        assert again.get_state() == env.get_state()
        np.testing.assert_array_equal(again.returns, env.returns)
    assert [file.name for file in env.recorder.files] == ["episode-000000.json", "episode-000001.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["episode-000000.json", "episode-000001.json"]
    data = load(env.recorder.files[1])
    assert data["seed"] == 1
    assert data["game"].startswith(env.unwrapped.game.id + "(")
    assert len(data["actions"]) == again.get_state()["ply"]


def test_every_step_is_shown(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(), tmp_path)
    states = [env.get_state() for _ in play(env)]
    rendered = [one.get_state() for one in replay(env.recorder.files[0])]
    assert rendered[1:] == states
    assert rendered[0] == load(env.recorder.files[0])["start"]


def test_parallel_api_with_wrappers_in_between(tmp_path: Path) -> None:
    env = RecordEpisodeStatistics(RecordReplay(Scalarize(breakthrough("parallel"), [1, 2, 3, 4]), tmp_path, name="duel"))
    list(rounds(env))
    again = end(tmp_path / "duel-000000.json")
    np.testing.assert_allclose(again.returns @ np.array([1, 2, 3, 4]), list(env.episodes[0]["r"].values()))


@pytest.mark.parametrize("agent", ["player_0", "player_1"])
def test_gymnasium_api_with_moves_of_all_agents(agent: str, tmp_path: Path) -> None:
    env = RecordReplay(breakthrough("gymnasium", agent=agent), tmp_path)
    total = sum(step[1] for step in steps(env))
    again = end(env.recorder.files[0])
    np.testing.assert_allclose(again.returns[int(agent[-1])], total)
    assert again.get_state() == env.get_state()


@pytest.mark.parametrize("how", ["random", "forfeit"])
def test_replacements_of_illegal_actions_are_recorded(how: Any, tmp_path: Path) -> None:
    env = RecordReplay(HandleIllegal(breakthrough(), how), tmp_path)
    env.reset(seed=0)
    while env.agents:
        env.step(None if env.terminations[env.agent_selection] else -1)
    again = end(env.recorder.files[0])
    np.testing.assert_array_equal(again.returns, env.returns)
    assert (load(env.recorder.files[0])["actions"] == ["player_0"]) == (how == "forfeit")


@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
def test_the_agent_that_forfeits_a_round_is_recorded(api: Any, tmp_path: Path) -> None:
    """In simultaneous games any agent of a round may forfeit, not only the first."""
    options = {"agent": "agent_1"} if api == "gymnasium" else {}
    env = RecordReplay(momagames.make("mo-pommerman-duel-v0", api, illegal="forfeit", **options), tmp_path)
    env.reset(seed=0)
    if api == "aec":
        env.step(0)
    env.step({"agent_0": 0, "agent_1": 99} if api == "parallel" else 99)
    assert load(env.recorder.files[0])["actions"] == ["agent_1"]
    assert end(env.recorder.files[0]).returns[1].min() < 0


def test_a_forfeit_without_a_name_is_that_of_the_agent_to_move(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(illegal="forfeit"), tmp_path)
    env.reset(seed=0)
    env.step(-1)
    data = load(env.recorder.files[0])
    (path := tmp_path / "earlier.json").write_text(json.dumps({**data, "actions": [None]}))
    assert end(path).returns.tolist() == data["returns"]


def test_given_starts_and_unfinished_episodes(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(), tmp_path)
    list(play(env))
    middle = [*replay(env.recorder.files[0])][2].get_state()
    env.reset(seed=1)
    env.step(legal(env.observe("agent_0")["action_mask"], np.random.default_rng(0)))
    with pytest.raises(InvalidState):
        env.reset(options={"state": {"board": ["1"]}})  # changes nothing: the episode continues and is recorded
    while env.agents:
        env.step(None if env.terminations["agent_0"] else int(env.observe("agent_0")["action_mask"].argmax()))
    np.testing.assert_array_equal(end(env.recorder.files[-1]).returns, env.returns)
    env.reset(seed=2)  # dropped
    env.reset(options={"state": middle})
    while env.agents:
        env.step(None if env.terminations["agent_0"] else int(env.observe("agent_0")["action_mask"].argmax()))
    assert [file.name for file in env.recorder.files] == [f"episode-{n:06d}.json" for n in (0, 1, 3)]


def test_chosen_episodes_only(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(), tmp_path, when=lambda episode: episode % 2 == 1)
    for seed in range(4):
        list(play(env, seed))
    assert [file.name for file in env.recorder.files] == ["episode-000001.json", "episode-000003.json"]


def test_simultaneous_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(momagames.registry, "_entries", dict(momagames.registry._entries))
    momagames.register("meteors-v0", "tests.meteors:game")
    env = RecordReplay(
        MultiObjectiveAEC(meteors.game("meteors-v0", cells=4), render_mode="rgb_array"), tmp_path, ("gif", "json")
    )
    for seed in range(4):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            mask = observation["action_mask"]
            env.step(None if terminated or truncated else [int(mask[0].argmax()), int(agent[-1])])
        again = end(env.recorder.files[-1])
        np.testing.assert_array_equal(again.returns, env.returns)
        assert again.get_state() == env.get_state()
        assert len(env.recorder.frames) == env.get_state()["ply"] + 1  # not one for each agent


def test_gif(tmp_path: Path) -> None:
    from PIL import Image

    env = RecordReplay(gemwalk(render_mode="rgb_array"), tmp_path, ("json", "gif"), fps=10)
    shapes = [env.render().shape for _ in play(env)]
    picture = Image.open(tmp_path / "episode-000000.gif")
    assert picture.n_frames == len(shapes) + 1
    assert (picture.height, picture.width, 3) == shapes[0]
    assert picture.info["duration"] == 100


def test_mp4_needs_an_extra(tmp_path: Path) -> None:
    if find_spec("imageio") and find_spec("imageio_ffmpeg"):
        env = RecordReplay(gemwalk(render_mode="rgb_array"), tmp_path, "mp4")  # type: ignore[arg-type]
        list(play(env))
        assert (tmp_path / "episode-000000.mp4").stat().st_size > 0
    else:
        with pytest.raises(MissingExtra, match=r"pip install .imageio\[ffmpeg\]"):
            RecordReplay(gemwalk(render_mode="rgb_array"), tmp_path, ["mp4"])


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = RecordReplay(gemwalk(), tmp_path)

    def fail(*args: Any, **kwargs: Any) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(writing, "flush_file", fail)
    with pytest.raises(InvalidFile, match=r"000000\.json: cannot be written: disk full"):
        list(play(env))
    assert list(tmp_path.iterdir()) == []


def test_invalid_arguments(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="needs pictures: make the environment with render_mode='rgb_array'"):
        RecordReplay(gemwalk(), tmp_path, ["gif"])
    with pytest.raises(InvalidParameter, match=r"invalid formats=.*'jpg'.*: expected"):
        RecordReplay(gemwalk(), tmp_path, ["jpg"])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="expected the name of a file"):
        RecordReplay(gemwalk(), tmp_path, name="../up")
    with pytest.raises(InvalidParameter, match="fps=0"):
        RecordReplay(gemwalk(), tmp_path, fps=0)
    with pytest.raises(InvalidParameter, match="got a Gymnasium vector environment"):
        RecordReplay(samegames(), tmp_path)
    pettingzoo = pytest.importorskip("momaland.envs.breakthrough.mobreakthrough_v0")
    with pytest.raises(InvalidCall, match="needs an environment made by momagames"):
        RecordReplay(pettingzoo.raw_env(), tmp_path)


def test_broken_records_are_rejected(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(), tmp_path)
    list(play(env))
    good = load(env.recorder.files[0])
    path = tmp_path / "broken.json"
    changes: dict[str, Any] = {
        "line 1, column 2: Expecting": "{",
        "expected a JSON object, got list": [],
        "invalid format='x': expected 'momagames-record-1'": {**good, "format": "x"},
        "'actions' is not there or not a list": {**good, "actions": 3},
        "no game 'mo-chess-v0'": {**good, "id": "mo-chess-v0"},
        "board_width=99": {**good, "params": {**good["params"], "board_width": 99}},
        "a position needs 'board'": {**good, "start": {}},
        "step 0: invalid agent='x': expected 'agent_0'": {**good, "actions": ["x"]},
        r"step \d+: the game is already over": {**good, "actions": [*good["actions"], 0]},
        "the returns are": {**good, "returns": [[0.0, 0.0, 1.0]]},
    }
    for message, data in changes.items():
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        with pytest.raises(InvalidFile, match=message):
            end(path)
    with pytest.raises(InvalidFile, match="No such file"):
        end(tmp_path / "nowhere.json")


def play_aec(env: Any, steps: int) -> None:
    for _ in range(steps):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


def play_gymnasium(env: Any, steps: int) -> None:
    for _ in range(steps):
        env.step(int(env.get_wrapper_attr("action_masks")().argmax()))


def play_parallel(env: Any, steps: int) -> None:
    for _ in range(steps):
        masks = {agent: env.unwrapped.aec_env.observe(agent)["action_mask"] for agent in env.agents}
        env.step({agent: int(mask.argmax()) for agent, mask in masks.items()})


def limit(env: Any) -> Any:
    return gymnasium.wrappers.TimeLimit(env, 3)


PLAYS = {"aec": play_aec, "parallel": play_parallel, "gymnasium": play_gymnasium}
CUT = {
    "aec, max_cycles": lambda record: ("aec", record(gemwalk(max_cycles=3))),
    "aec of two agents, max_cycles": lambda record: ("aec", record(breakthrough(max_cycles=2))),
    "parallel, max_cycles": lambda record: ("parallel", record(breakthrough("parallel", max_cycles=3))),
    "gymnasium, max_cycles": lambda record: ("gymnasium", record(gemwalk("gymnasium", max_cycles=3))),
    "TimeLimit inside": lambda record: ("gymnasium", record(Scalarize(limit(gemwalk("gymnasium")), [1, 1]))),
}


@pytest.mark.parametrize("kind", ["json", "gif"])
@pytest.mark.parametrize("name", CUT)
def test_truncated_episodes_are_written(name: str, kind: Any, tmp_path: Path) -> None:
    def record(env: Any) -> Any:
        env.unwrapped.render_mode = "rgb_array"
        getattr(env.unwrapped, "aec_env", env.unwrapped).render_mode = "rgb_array"
        return RecordReplay(env, tmp_path, (kind,))

    api, env = CUT[name](record)
    steps = 4 if "two agents" in name else 3
    for seed in range(2):
        env.reset(seed=seed)
        PLAYS[api](env, steps)
        assert [path.name for path in env.recorder.files] == [f"episode-{n:06d}.{kind}" for n in range(seed + 1)]
        if kind == "json":
            again = end(env.recorder.files[-1])
            assert again.get_state() == env.get_state()
            assert again.get_state()["ply"] == steps
        else:
            assert len(env.recorder.frames) == steps + 1
    env.reset(seed=2)
    env.close()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("cut", ["reset", "close"])
@pytest.mark.parametrize("api", PLAYS)
def test_cut_episodes_are_written_if_they_have_steps(api: str, cut: str, tmp_path: Path) -> None:
    env = RecordReplay(gemwalk(api), tmp_path)
    env.reset(seed=0)
    PLAYS[api](env, 2)
    state = env.get_state()
    env.reset(seed=1) if cut == "reset" else env.close()
    assert end(env.recorder.files[0]).get_state() == state
    assert load(env.recorder.files[0])["seed"] == 0
    env.close()
    assert len(env.recorder.files) == 1


def test_a_time_limit_outside(tmp_path: Path) -> None:
    env = limit(RecordReplay(gemwalk("gymnasium"), tmp_path))
    for seed in range(2):
        env.reset(seed=seed)
        play_gymnasium(env, 3)
    env.close()
    assert [len(load(path)["actions"]) for path in sorted(tmp_path.iterdir())] == [3, 3]


def test_the_death_of_the_controlled_agent(tmp_path: Path) -> None:
    env = momagames.make("mo-pommerman-ffa-v0", api="gymnasium", dead="leave", others="random")
    env = RecordReplay(env, tmp_path)
    written = 0
    for seed in range(3):
        env.reset(seed=seed)
        over, step = False, 0
        while not over:
            *_, terminated, truncated, _ = env.step(5 if step == 0 else 0)  # it stays beside its bomb
            over, step = terminated or truncated, step + 1
        written += not env.state["over"]
        assert end(env.recorder.files[-1]).get_state() == env.get_state()
    assert written > 0
    assert len(env.recorder.files) == 3


def test_files_of_earlier_runs_stay(tmp_path: Path) -> None:
    (tmp_path / "episode-000007.gif").write_text("a picture")
    (tmp_path / "episodes-000009.json").write_text("of another name")
    for run in range(2):
        env = RecordReplay(gemwalk(), tmp_path, when=lambda episode: episode % 2 == 0)
        for seed in range(3):
            list(play(env, 10 * run + seed))
    names = [f"episode-{n:06d}.json" for n in (8, 10, 11, 13)]
    assert sorted(path.name for path in tmp_path.glob("episode-*.json")) == names
    assert [load(tmp_path / name)["seed"] for name in names] == [0, 2, 10, 12]
    assert (tmp_path / "episode-000007.gif").read_text() == "a picture"


def test_recorders_that_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    envs = [RecordReplay(gemwalk(), tmp_path) for _ in range(3)]
    for seed in range(3):
        for number, env in enumerate(envs):
            list(play(env, 10 * number + seed))
        monkeypatch.setattr(Path, "hardlink_to", _no_links)  # on some file systems
    files = [path for env in envs for path in env.recorder.files]
    assert len(set(files)) == 9
    assert sorted(load(path)["seed"] for path in files) == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert len(list(tmp_path.iterdir())) == 9


def _no_links(self: Path, target: Path) -> None:
    raise OSError("no links here")


@pytest.mark.long
def test_processes_that_share_a_folder(tmp_path: Path) -> None:
    code = """
import sys
from momagames.wrappers import RecordReplay
from tests.wrappers.games import gemwalk, play
env = RecordReplay(gemwalk(), sys.argv[1])
for seed in range(30):
    list(play(env, int(sys.argv[2]) + seed))
"""
    root = Path(__file__).parents[2]
    runs = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(100 * k)], cwd=root) for k in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    seeds = sorted(load(path)["seed"] for path in tmp_path.iterdir())
    assert seeds == [100 * k + seed for k in range(3) for seed in range(30)]


@pytest.mark.parametrize("api", PLAYS)
def test_recorders_around_each_other(api: str, tmp_path: Path) -> None:
    inner = RecordReplay(gemwalk(api), tmp_path, when=lambda episode: episode == 1)
    outer = RecordReplay(Scalarize(inner, [1, 1]), tmp_path, name="all")
    for seed in range(3):
        outer.reset(seed=seed)
        PLAYS[api](outer, 2)
    outer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "all-000000.json", "all-000001.json", "all-000002.json", "episode-000001.json",
    ]  # fmt: skip
    assert load(tmp_path / "all-000001.json") == load(tmp_path / "episode-000001.json")


@pytest.mark.parametrize("api", PLAYS)
@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_writes_files_of_its_own(api: str, make_copy: Any, tmp_path: Path) -> None:
    options = {"render_mode": "rgb_array"}
    env = RecordReplay(gemwalk(api, **options), tmp_path, ("json", "gif"), frames=1)
    env.reset(seed=1)
    PLAYS[api](env, 2)
    twin = make_copy(env)
    PLAYS[api](env, 1)
    assert twin.recorder.files == []
    PLAYS[api](twin, 1)
    for one in (env, twin):
        one.close()
    assert [path.name for path in env.recorder.files] == ["episode-000000.json", "episode-000000.gif"]
    assert [path.name for path in twin.recorder.files] == ["episode-000001.json", "episode-000001.gif"]
    assert load(env.recorder.files[0]) == load(twin.recorder.files[0])
    assert env.recorder.files[1].read_bytes() == twin.recorder.files[1].read_bytes()


def test_resets_inside_are_an_error(tmp_path: Path) -> None:
    env = RecordReplay(gymnasium.wrappers.Autoreset(gemwalk("gymnasium", max_cycles=2)), tmp_path)
    env.reset(seed=0)
    play_gymnasium(env, 2)
    with pytest.raises(InvalidCall, match="put RecordReplay inside that wrapper"):
        play_gymnasium(env, 1)
    assert len(env.recorder.files) == 1
    episodes = RecordReplay(MultiEpisodeEnv(gemwalk(max_cycles=2), 2), tmp_path)
    episodes.reset(seed=0)
    play_aec(episodes, 2)
    with pytest.raises(InvalidCall, match="put RecordReplay inside that wrapper"):
        episodes.step(None)
    assert len(episodes.recorder.files) == 1


def test_a_joint_agent_and_flat_observations(tmp_path: Path) -> None:
    env = RecordReplay(Flatten(gemwalk("gymnasium", max_cycles=2)), tmp_path)
    env.reset(seed=0)
    play_gymnasium(env, 2)
    assert len(env.recorder.files) == 1
