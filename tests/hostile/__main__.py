"""The command, see the package."""

import argparse
import importlib
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random

from momagames.errors import MomagamesError
from tests.hostile import runner
from tests.hostile.inputs import Hostile, Valid
from tests.hostile.targets import TARGETS


def main(arguments):
    for module in runner.MODULES:
        importlib.import_module(module)
    names = [arguments.only] if arguments.only else list(TARGETS)
    if arguments.input is not None:
        return repeat(arguments.only, arguments.seed, arguments.input)
    faults, ends = runner.run(runner.share_inputs(arguments.inputs, names), arguments.seed, arguments.workers)
    print(f"\n{'target':40}{'inputs':>10}{'returned':>10}{'refused':>10}{'faults':>8}{'ms each':>9}")
    for name, each in ends.items():
        seconds = each.pop("seconds", 0.0)
        count = int(sum(each.values()))
        columns = "".join(f"{int(each[end]):>{width},}" for end, width in (("returned", 10), ("refused", 10), ("fault", 8)))
        print(f"{name:40}{count:>10,}{columns}{1000 * seconds / max(1, count):>9.2f}")
    total = int(sum(sum(each.values()) for each in ends.values()))
    print(f"{total:,} inputs of seed {arguments.seed}: {len(faults)} kinds of faults")
    return bool(faults)


def repeat(name, seed, number):
    """Feed one input in this process, after the example, and show what comes of it."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        feed = TARGETS[name].make(Path(folder))
        feed(Valid())
        try:
            feed(Hostile(Random(f"{seed} {name} {number}")))
        except MomagamesError as error:
            print(f"refused: {error!s:.2000}")
        except BaseException:  # as the processes do
            traceback.print_exc()
            return True
    return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="See tests/hostile/__init__.py.")
    parser.add_argument("--inputs", type=int, default=10_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--only", metavar="TARGET", help="one target")
    parser.add_argument("--input", type=int, metavar="N", help="one input of the target, in this process")
    sys.exit(main(parser.parse_args()))
