"""Rules as CUDA kernels: PTX without a card; batches in the simulator, and on a card if there is one, equal compiled ones."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.engine.cuda_batch import CudaBatch
from momagames.errors import IllegalAction, InvalidParameter, MissingExtra
from momagames.kernels.jit.cuda import import_cuda
from momagames.kernels.rng import random_words

ENVS, STEPS = 3, 4
CARD_ENVS, CARD_STEPS = 1000, 520  # of a run on a card, in which games end and start again
FAMILIES = (
    "mo-samegame-v0", "mo-breakthrough-v0", "mo-connect4-v0", "mo-pommerman-radio-v0", "mo-tileblast-v0", "mo-robotmail-4-v0",
    "mo-ingenious-v0",
    "mo-item-gathering-v0",
    "mo-beach-v0",
    "mo-route-choice-v0",
)  # fmt: skip
HAS_CARD = find_spec("numba_cuda") is not None and import_cuda().is_available()
needs_card = pytest.mark.skipif(not HAS_CARD, reason="needs a CUDA card")
needs_numba_cuda = pytest.mark.skipif(find_spec("numba_cuda") is None, reason="needs the extra cuda")

SIMULATION = """
import copy
import pickle
import sys

import numpy as np

import momagames
from momagames.engine.cuda_batch import CudaBatch
from momagames.errors import IllegalAction

def compare(k):
    assert batch.states().tobytes() == recorded["states"][k].tobytes(), f"states differ after {k} steps"
    for name in ("observations", "masks"):
        assert (getattr(batch, name).copy_to_host() == recorded[name][k]).all(), f"{name} differ after {k} steps"
    assert (batch.to_move.copy_to_host() == recorded["states"][k]["to_move"]).all()
    assert not batch.over.copy_to_host().any()

id, file = sys.argv[1:]
recorded = np.load(file)
if id == "mo-samegame-v0":
    CudaBatch(momagames.spec(id, board_width=5, num_colors=3), 2).reset(1)  # the same rules on a smaller board
batch = CudaBatch(momagames.spec(id), recorded["states"].shape[1])
batch.reset(5)
compare(0)
for k, actions in enumerate(recorded["actions"]):
    illegal = actions.copy()
    illegal[1] = 1 << 20
    try:
        batch.step(illegal)
    except IllegalAction as error:
        assert str(error).endswith("in environment 1"), error
    batch.step(actions)
    assert (batch.rewards.copy_to_host() == recorded["rewards"][k]).all(), f"rewards differ in step {k}"
    compare(k + 1)
batch.step_randomly()
batch.load(recorded["states"][0])
compare(0)
batch.step_randomly()
before = batch.states().tobytes()
twins = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
for twin in twins:
    twin.step_randomly()
assert batch.states().tobytes() == before
batch.step_randomly()
for twin in twins:
    assert twin.states().tobytes() == batch.states().tobytes()
    for name in ("observations", "masks", "rewards", "to_move"):
        assert (getattr(twin, name).copy_to_host() == getattr(batch, name).copy_to_host()).all(), f"{name} of a copy differ"
batch.reset()
twin = CudaBatch(batch.game, batch.num_envs)
twin.reset()
assert len({*batch.states()["rng"].tolist(), *twin.states()["rng"].tolist()}) == 2 * batch.num_envs
print("equal")
"""


def record_batch(id, file):
    """Play a batch by the compiled loops, and write all that the kernels should repeat."""
    batch, choices = Batch(momagames.spec(id), ENVS), np.arange(ENVS, dtype=np.uint64)
    batch.seed(5)
    batch.reset()
    found = {name: [getattr(batch, name).copy()] for name in ("states", "observations", "masks")}
    found |= {"actions": [], "rewards": []}
    for _ in range(STEPS):
        found["actions"].append(batch.sample_actions(choices).copy())
        batch.step(found["actions"][-1])
        for name in ("states", "observations", "masks", "rewards"):
            found[name].append(getattr(batch, name).copy())
    assert not batch.finished.any()
    np.savez(file, **{name: np.array(arrays) for name, arrays in found.items()})


@needs_numba_cuda
@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize("id", FAMILIES)
def test_the_simulator_plays_as_the_compiled_loops(tmp_path, id):
    record_batch(id, tmp_path / "batch.npz")
    (tmp_path / "simulation.py").write_text(SIMULATION)
    switches = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "simulation.py", id, "batch.npz"]
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, **switches}, capture_output=True, text=True, timeout=300)
    assert done.stdout == "equal\n", done.stderr


@needs_numba_cuda
@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize("id", FAMILIES)
def test_rules_compile_to_ptx(id):
    from momagames.engine.cuda_kernels import compile_rules_to_ptx

    texts = compile_rules_to_ptx(momagames.spec(id))
    assert set(texts) == {"start", "step", "observe", "check", "sample"}
    for text in texts.values():
        assert ".target sm_80" in text
        assert text.count(".entry") == 1


@needs_card
@pytest.mark.compiled
@pytest.mark.parametrize("id", FAMILIES)
def test_a_card_plays_as_the_compiled_loops(id):
    card, batch = CudaBatch(momagames.spec(id), CARD_ENVS), Batch(momagames.spec(id), CARD_ENVS)
    choices, restarts = random_words(7, CARD_ENVS), 0
    batch.seed(7)
    batch.reset()
    card.reset(7)
    for k in range(CARD_STEPS):
        restarts += batch.finished.sum()
        batch.step(batch.sample_actions(choices))
        card.step_randomly()
        assert card.states().tobytes() == batch.states.tobytes(), f"states differ after {k + 1} steps"
        for name in ("observations", "masks", "rewards"):
            assert (getattr(card, name).copy_to_host() == getattr(batch, name)).all(), f"{name} differ after {k + 1} steps"
        assert (card.over.copy_to_host() == batch.finished).all()
        assert (card.to_move.copy_to_host() == batch.to_move).all()
    assert restarts


@needs_card
@pytest.mark.compiled
def test_a_card_takes_actions_from_pytorch():
    torch = pytest.importorskip("torch")
    card, batch = CudaBatch(momagames.spec("mo-breakthrough-v0"), 64), Batch(momagames.spec("mo-breakthrough-v0"), 64)
    batch.seed(3)
    batch.reset()
    card.reset(3)
    masks = torch.as_tensor(card.masks, device="cuda")[:, 0]
    assert (masks.cpu().numpy() == batch.masks[:, 0]).all()
    for _ in range(10):
        actions = masks.to(torch.int64).argmax(1)
        batch.step(batch.actions(actions.cpu().numpy()))
        card.step(actions)
        assert card.states().tobytes() == batch.states.tobytes()
    with pytest.raises(IllegalAction, match=r"expected contiguous int64 of shape \[64\]"):
        card.step(actions.to(torch.int32))
    with pytest.raises(IllegalAction, match="in environment"):
        card.step(torch.full_like(actions, 191))
    assert card.states().tobytes() == batch.states.tobytes()


@needs_numba_cuda
@pytest.mark.skipif(HAS_CARD, reason="needs a machine without a card")
def test_without_a_card():
    with pytest.raises(InvalidParameter, match="CudaBatch needs a CUDA card"):
        CudaBatch(momagames.spec("mo-breakthrough-v0"), 4)


def test_without_numba_cuda(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[cuda\]"'):
        import_cuda()
