"""The log and the checkpoint of a training: nothing that is written is lost, and damaged ones are one typed error."""

import json
from pathlib import Path

import numpy as np
import pytest

from momagames.baselines.checkpoint import load_checkpoint, save_checkpoint
from momagames.benchmark import training as trainings
from momagames.benchmark.training import LOG, load_training, read_log
from momagames.benchmark.training_loggers import TensorBoardLogger
from momagames.errors import InvalidFile
from momagames.files import writing
from momagames.games import breakthrough

CHAMPION = Path(breakthrough.__file__).parent / "champion-5x5.npz"
LINES = [{"steps": 48, "loss": float("nan")}, {"steps": 96}, {"steps": 144}]
WHOLE = "".join(f"{json.dumps(line)}\n" for line in LINES)


@pytest.fixture
def resume(monkeypatch, tmp_path):
    """Resume a training at 100 steps."""
    monkeypatch.setattr(trainings, "make_loggers", lambda *given: [])
    return lambda: trainings._ProgressLog(tmp_path, 100, {}, None)


def test_lines_after_the_checkpoint_are_removed(resume, tmp_path):
    resume()
    assert (tmp_path / LOG).read_text() == ""
    for end in ("", '{"steps": 192, "evalu'):
        (tmp_path / LOG).write_text(WHOLE + end)
        resume().write({"steps": 150, "evaluation": {"hypervolume": 1.0}})
        assert [line["steps"] for line in read_log(tmp_path / LOG)] == [48, 96, 150]
    (tmp_path / LOG).write_text(WHOLE.rstrip())
    assert len(read_log(tmp_path / LOG)) == 3


def test_a_full_disk_does_not_empty_the_log(resume, tmp_path, monkeypatch):
    (tmp_path / LOG).write_text(WHOLE)

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "flush_file", fail)
    with pytest.raises(InvalidFile, match=f"{LOG}: cannot be written: No space left on device"):
        resume()
    assert (tmp_path / LOG).read_text() == WHOLE
    log = trainings._ProgressLog.__new__(trainings._ProgressLog)
    log._path = tmp_path / "no" / LOG
    with pytest.raises(InvalidFile, match=f"{LOG}: No such file"):
        log.write({"steps": 1})
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile, match="file: "):
        trainings._ProgressLog(tmp_path / "file", 0, {}, None)


@pytest.mark.parametrize("line", ['{"a": 1}', "5", "null", '{"steps": null}', '{"steps": true}', "[]", "{", "", "[" * 5000])
def test_damaged_lines_are_named(resume, tmp_path, line):
    damaged = f"{WHOLE}{line}\n{WHOLE}"
    (tmp_path / LOG).write_text(damaged)
    with pytest.raises(InvalidFile, match=rf"{LOG}: line 4: "):
        resume()
    assert (tmp_path / LOG).read_text() == damaged
    (tmp_path / LOG).write_bytes(b"\xff\n")
    with pytest.raises(InvalidFile, match="line 1: not UTF-8"):
        resume()


def test_events_that_cannot_be_written_are_named(tmp_path):
    def fail(*_):
        raise OSError(28, "No space left on device")

    logger = TensorBoardLogger.__new__(TensorBoardLogger)
    logger._directory = tmp_path
    logger._writer = type("Writer", (), {"add_scalar": fail, "close": fail})()
    for call in (lambda: logger.write({"loss": 1.0}, 1), logger.close):
        with pytest.raises(InvalidFile, match="No space left on device"):
            call()


def test_heads_of_the_package_are_read():
    for path in Path(breakthrough.__file__).parents[1].glob("*/champion*.npz"):
        assert load_training(path)[0].budget > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": None}, {"budget": 0}, {"steps": "many"}, {"steps": -1}, {"version": 5}, {"seed": -1}, {"seed": 1.5},
        {"instance_seed": "x"}, {"instance_seed": -5}, {"instance_seed": 2**64}, {"seats": []}, {"seats": ["x"]}, {"seats": 3},
        {"opponents": [1]}, {"opponents": [{"name": "random"}]}, {"opponents": {}}, {"weights": "x"}, {"weights": [1.0]},
        {"weights": [-1.0, 0.0, 0.0, 0.0]}, {"seconds": "x"}, {"canonical": None}, {"method": 5}, {"decisions": None},
        *({name: ...} for name in ("budget", "steps", "version", "seed", "seats", "opponents", "canonical", "method")),
    ],
    ids=str,
)  # fmt: skip
def test_damaged_heads_are_named(tmp_path, changes):
    checkpoint = load_checkpoint(CHAMPION)
    head = {name: value for name, value in {**checkpoint.head, **changes}.items() if value is not ...}
    save_checkpoint(tmp_path / "x.npz", head, checkpoint.policy, {"none": np.zeros(1)})
    with pytest.raises(InvalidFile, match=r"x\.npz: not a training checkpoint: "):
        load_training(tmp_path / "x.npz")
