"""Rules as CUDA kernels: PTX without a card, and the simulator, whose batches equal those of the compiled loops."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.errors import MissingExtra
from momagames.kernels.jit.cuda import import_cuda

ENVS, STEPS = 3, 4
FAMILIES = ("mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-radio-v0", "mo-tileblast-v0", "mo-robotmail-4-v0")
needs_numba_cuda = pytest.mark.skipif(find_spec("numba_cuda") is None, reason="needs the extra cuda")

SIMULATION = """
import sys

import numpy as np

import momagames
from momagames.engine.cuda_kernels import compile_cuda_kernels

id, file = sys.argv[1:]
recorded, game = np.load(file), momagames.spec(id)
kernels, states = compile_cuda_kernels(game), np.repeat(game.blank_state, len(recorded["words"]))
observations, masks = np.zeros_like(recorded["observations"][0]), np.zeros_like(recorded["masks"][0])
rewards, threads = np.zeros_like(recorded["rewards"][0]), len(states) + 1

def compare(k):
    kernels.observe[1, threads](states, observations, masks)
    assert states.tobytes() == recorded["states"][k].tobytes(), f"states differ after {k} steps"
    assert (observations == recorded["observations"][k]).all(), f"observations differ after {k} steps"
    assert (masks == recorded["masks"][k]).all(), f"masks differ after {k} steps"

kernels.start[1, threads](states, recorded["words"])
compare(0)
for k, actions in enumerate(recorded["actions"]):
    kernels.step[1, threads](states, actions, rewards)
    assert (rewards == recorded["rewards"][k]).all(), f"rewards differ in step {k}"
    compare(k + 1)
print("equal")
"""


def record_batch(id, file):
    """Play a batch by the compiled loops, and write all that the kernels should repeat."""
    batch = Batch(momagames.spec(id), ENVS)
    batch.seed(5)
    words, choices = batch.states["rng"].copy(), np.arange(ENVS, dtype=np.uint64)
    batch.reset()
    found = {name: [getattr(batch, name).copy()] for name in ("states", "observations", "masks")}
    found |= {"actions": [], "rewards": []}
    for _ in range(STEPS):
        found["actions"].append(batch.sample_actions(choices).copy())
        batch.step(found["actions"][-1])
        for name in ("states", "observations", "masks", "rewards"):
            found[name].append(getattr(batch, name).copy())
    assert not batch.finished.any()
    np.savez(file, words=words, **{name: np.array(arrays) for name, arrays in found.items()})


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

    names = ("step",) if id == "mo-tileblast-v0" else ("start", "step", "observe")  # the others of it take minutes
    texts = compile_rules_to_ptx(momagames.spec(id), names=names)
    assert tuple(texts) == names
    for text in texts.values():
        assert ".target sm_80" in text
        assert text.count(".entry") == 1


def test_without_numba_cuda(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(MissingExtra, match=r'pip install "momagames\[cuda\]"'):
        import_cuda()
