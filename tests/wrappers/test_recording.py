"""Record and replay."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.errors import InvalidCall, InvalidFile, InvalidParameter, InvalidState, MissingExtra
from momagames.files import writing
from momagames.wrappers import HandleIllegal, RecordEpisodeStatistics, RecordReplay, Scalarize, replay
from tests import meteors
from tests.wrappers.games import breakthrough, legal, play, rounds, samegame, samegames, steps


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
    env = RecordReplay(samegame(), tmp_path)
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
    assert (load(env.recorder.files[0])["actions"] == [None]) == (how == "forfeit")


def test_given_starts_and_unfinished_episodes(tmp_path: Path) -> None:
    env = RecordReplay(samegame(), tmp_path)
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
    env = RecordReplay(samegame(), tmp_path, when=lambda episode: episode % 2 == 1)
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

    env = RecordReplay(samegame(render_mode="rgb_array"), tmp_path, ("json", "gif"), fps=10)
    shapes = [env.render().shape for _ in play(env)]
    picture = Image.open(tmp_path / "episode-000000.gif")
    assert picture.n_frames == len(shapes) + 1
    assert (picture.height, picture.width, 3) == shapes[0]
    assert picture.info["duration"] == 100


def test_mp4_needs_an_extra(tmp_path: Path) -> None:
    if find_spec("imageio") and find_spec("imageio_ffmpeg"):
        env = RecordReplay(samegame(render_mode="rgb_array"), tmp_path, "mp4")  # type: ignore[arg-type]
        list(play(env))
        assert (tmp_path / "episode-000000.mp4").stat().st_size > 0
    else:
        with pytest.raises(MissingExtra, match=r"pip install .imageio\[ffmpeg\]"):
            RecordReplay(samegame(render_mode="rgb_array"), tmp_path, ["mp4"])


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = RecordReplay(samegame(), tmp_path)

    def fail(*args: Any, **kwargs: Any) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(writing, "flush_file", fail)
    with pytest.raises(InvalidFile, match=r"000000\.json: cannot be written: disk full"):
        list(play(env))
    assert list(tmp_path.iterdir()) == []


def test_invalid_arguments(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="needs pictures: make the environment with render_mode='rgb_array'"):
        RecordReplay(samegame(), tmp_path, ["gif"])
    with pytest.raises(InvalidParameter, match=r"invalid formats=.*'jpg'.*: expected"):
        RecordReplay(samegame(), tmp_path, ["jpg"])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="not the name of a file"):
        RecordReplay(samegame(), tmp_path, name="../up")
    with pytest.raises(InvalidParameter, match="fps=0"):
        RecordReplay(samegame(), tmp_path, fps=0)
    with pytest.raises(InvalidParameter, match="got a Gymnasium vector environment"):
        RecordReplay(samegames(), tmp_path)
    pettingzoo = pytest.importorskip("momaland.envs.breakthrough.mobreakthrough_v0")
    with pytest.raises(InvalidCall, match="needs an environment made by momagames"):
        RecordReplay(pettingzoo.raw_env(), tmp_path)


def test_broken_records_are_rejected(tmp_path: Path) -> None:
    env = RecordReplay(samegame(), tmp_path)
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
        "step 0: illegal action='x' of agent_0": {**good, "actions": ["x"]},
        r"step \d+: the game is already over": {**good, "actions": [*good["actions"], 0]},
        "the returns are": {**good, "returns": [[0.0, 0.0, 1.0]]},
    }
    for message, data in changes.items():
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        with pytest.raises(InvalidFile, match=message):
            end(path)
    with pytest.raises(InvalidFile, match="No such file"):
        end(tmp_path / "nowhere.json")
