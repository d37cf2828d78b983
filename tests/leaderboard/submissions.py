"""Small submissions in the settings of the suite ten_seconds, shared by the tests of the leaderboard."""

import json
from importlib.metadata import version

import yaml

from momagames.leaderboard import seal_submission

BOARD = {"id": "mo-samegame-v0", "params": {"board_width": 4, "board_height": 4, "num_colors": 2}}
PLANS_SETTING = {"suite": "ten_seconds", "experiment": "tiny board", "game": BOARD}
POLICIES_SETTING = {
    "suite": "ten_seconds",
    "experiment": "tiny opponents",
    "game": {"id": "mo-breakthrough-v0", "params": {"board_width": 3, "board_height": 5}},
}
# the experiment's two start positions, and plans from them
RUNS = {"0": [{"actions": [1, 3], "return": [49.0, 81.0]}], "1": [{"actions": [0, 4], "return": [49.0, 81.0]}]}
STATED = {
    "schema": 1, "method": "mine", "paper": None, "code": "https://example.org/code", "date": "2026-01-31", "budget": 2000,
    "hardware": "1 core",
}  # fmt: skip
CODE = """
import numpy as np

print("loaded")


class Sampler:
    def __init__(self, game, agent, power=1):
        self.power = power

    def __call__(self, observation, mask, rng):
        weights = mask.astype(float) * np.arange(1, len(mask) + 1) ** self.power
        return int(rng.choice(len(mask), p=weights / weights.sum())) if observation.any() else None
"""


def write_submission(folder, files, **metadata):
    """Write a submission with its checksums, and return its directory."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "submission.yaml").write_text(yaml.safe_dump({**STATED, **metadata}, sort_keys=False))
    seal_submission(folder)
    return folder


def write_plans(folder, runs=None, **metadata):
    text = json.dumps({"schema": 1, "runs": RUNS if runs is None else runs})
    return write_submission(folder, {"plans.json": text}, **{"setting": PLANS_SETTING, "plans": "plans.json", **metadata})


def write_policies(folder, *policies, files=None, **metadata):
    return write_submission(folder, files or {}, **{"setting": POLICIES_SETTING, "policies": list(policies), **metadata})


def write_code(folder, text=CODE, lock=None, path="mine:Sampler", **options):
    """Write a submission whose policy is code."""
    files = {"mine.py": text, "lock.txt": lock or f"numpy=={version('numpy')}\n"}
    return write_policies(folder, {"code": path, "options": options}, files=files, lock="lock.txt")
