"""The taskset and the environment of verifiers; the model is a stand-in, since its harnesses download programs."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

import momagames

pytestmark = pytest.mark.long
ID, ANSWER = "mo-samegame-v0", "<action>(0,0)</action>"
PARAMS = {"board_width": 4, "board_height": 4, "num_colors": 2, "illegal": "next"}


@pytest.fixture(scope="module")
def taskset():
    pytest.importorskip("verifiers.v1", exc_type=ImportError)
    return pytest.importorskip("momagames.integrations.verifiers")


class Model:
    """An agent with one answer; stands for `agents` and for its interaction."""

    def __init__(self):
        self.player, self.trace = self, SimpleNamespace(record_reward=self.record_reward, info={})
        self.turns, self.rewards = [], {}

    @asynccontextmanager
    async def interaction(self, task):
        yield self

    async def turn(self, message=None):
        self.turns.append(message)
        return SimpleNamespace(terminated=False, last_reply=ANSWER)

    def record_reward(self, name, value, weight):
        self.rewards[name] = value, weight


def test_an_episode_records_the_returns(taskset):
    config = taskset.GameConfig(game=ID, params=PARAMS, weights={"color_1": 0.5}, first_seed=5)
    task, model = next(iter(taskset.GameTaskset(config).load())), Model()
    asyncio.run(taskset.GameEnv.run(None, task, model))
    batch, steps = momagames.make_text_batch(ID, 1, **PARAMS), 1
    batch.reset(seed=5)
    while not (step := batch.step([ANSWER])).terminateds[0]:
        steps += 1
    returns = step.metadata[0]["returns"]
    assert model.rewards == {"color_1": (returns["color_1"], 0.5), "color_2": (returns["color_2"], 0)}
    assert model.trace.info["momagames"]["returns"] == returns
    assert len(model.turns) == steps
    assert model.turns[0] is None  # the task has the first message


def test_tasks_are_start_positions(taskset):
    config = taskset.GameConfig(game=ID, params=PARAMS, first_seed=5)
    task = next(iter(taskset.GameTaskset(config).load()))
    system, first = momagames.make_text_batch(ID, 1, **PARAMS).reset(seed=5)[0]
    assert (task.data.system_prompt, task.data.prompt) == (system["content"], first["content"])
    assert task.data.weights == {"color_1": 1, "color_2": 1}
