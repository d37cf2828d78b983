"""`momagames warmup`, and the line that tells of a long compilation."""

import os
import subprocess
import sys

import pytest

PLAY = """
import momagames
from momagames.kernels.jit import compile_notice
compile_notice.NOTICE_AFTER = {after}
env = momagames.make("mo-breakthrough-v0")
for _ in range(2):
    env.reset(seed=0)
    env.step(int(env.observe("player_0")["action_mask"].argmax()))
momagames.make_vec("mo-breakthrough-v0", 2).reset(seed=0)
"""
WRAP = """
import momagames
from momagames.wrappers import NormalizeReward, RecordEpisodeStatistics, Scalarize
env = Scalarize(NormalizeReward(RecordEpisodeStatistics(momagames.make("mo-breakthrough-v0"))), weights=[1, 0, 0, 0])
env.reset(seed=0)
env.step(int(env.observe("player_0")["action_mask"].argmax()))
"""
NOTICE = (
    "momagames: compiling the code of breakthrough, once on this machine (up to half a minute); "
    "`momagames warmup` compiles ahead\n"
)


def run(folder, *command):
    env = {**os.environ, "MOMAGAMES_CACHE_DIR": str(folder), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout, done.stderr


@pytest.mark.compiled
@pytest.mark.long
def test_warmup_compiles_ahead(tmp_path):
    """Afterwards nothing is compiled, so that nothing is written to the cache. Ids with the same rules are compiled once."""
    out, _ = run(tmp_path, "-m", "momagames", "warmup", "mo-breakthrough-v0", "mo-breakthrough-v0")
    assert sorted(line.partition(":")[0] for line in out.splitlines()) == ["mo-breakthrough-v0", "wrappers"]
    written = sorted(tmp_path.iterdir())
    assert written
    assert run(tmp_path, "-c", PLAY.format(after=0) + WRAP) == ("", "")
    assert sorted(tmp_path.iterdir()) == written


@pytest.mark.compiled
@pytest.mark.long
def test_long_compilations_are_announced_once(tmp_path):
    assert run(tmp_path, "-c", PLAY.format(after=0)) == ("", NOTICE)


@pytest.mark.compiled
@pytest.mark.long
def test_short_compilations_are_silent(tmp_path):
    start, _, _ = PLAY.partition("    env.step")  # compiles less
    assert run(tmp_path, "-c", start.format(after=600)) == ("", "")
    assert list(tmp_path.glob("*.nbc"))
