"""Targets with faults, for the test of the runner: about a third of the inputs of each have one."""

import os
import time

import numpy as np

from momagames.errors import InvalidFile
from tests.hostile.inputs import Hostile
from tests.hostile.targets import target

SHARE = 0.3


def plant(fault):
    """Return a target whose chosen inputs call a function, and whose other inputs are refused."""

    def make(folder):
        def feed(source):
            if isinstance(source, Hostile):
                if source.rng.random() < SHARE:
                    fault()
                raise InvalidFile("refused")

        return feed

    return make


def raise_another_error():
    {}["key"]


def wait():
    time.sleep(60)


def loop():
    while True:
        pass


def grow():
    np.ones(150 << 20, np.uint8)


FAULTS = {
    raise_another_error: "KeyError", wait: "hang", loop: "hang", grow: "memory", os.abort: "death",
    lambda: os._exit(3): "death",
}  # fmt: skip
NAMES = [f"planted {number}" for number in range(len(FAULTS))]
for name, fault in zip(NAMES, FAULTS, strict=True):
    make = plant(fault)
    make.__name__ = name
    target(1)(make)
