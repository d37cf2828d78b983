"""Where training shows its numbers while it runs, besides its own log: TensorBoard, Weights & Biases."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from momagames.errors import InvalidFile, MissingExtra, RemoteError

TENSORBOARD, WANDB_ID = "tensorboard", "wandb-id"


class Board(Protocol):
    """What shows numbers by name over the steps of training."""

    def write(self, numbers: dict[str, float], steps: int) -> None: ...

    def close(self) -> None: ...


def boards(folder: Path, steps: int, head: dict[str, Any], project: str | None = None) -> list[Board]:
    """TensorBoard where it is installed, and Weights & Biases if it is asked for.

    folder    of the training; it is there
    steps     from which training goes on, 0 for the beginning
    head      what is trained, as plain data
    project   of Weights & Biases
    """
    chosen: list[Board] = [TensorBoard(folder / TENSORBOARD, steps)] if TensorBoard.installed() else []
    return chosen if project is None else [*chosen, Wandb(folder, project, head)]


def check_project(project: str | None) -> None:
    """MissingExtra if Weights & Biases is asked for and not there."""
    if project is not None:
        _wandb()


def _wandb() -> Any:
    try:
        module = import_module("wandb")
        assert module.init  # a folder of this name, such as it makes itself, can be imported as well
    except (ImportError, AttributeError):
        raise MissingExtra('Weights & Biases needs wandb: pip install "momagames[wandb]"') from None
    return module


class TensorBoard:
    """Event files in a folder of their own; what was written behind `steps` is left out."""

    def __init__(self, folder: Path, steps: int) -> None:
        writer = import_module("torch.utils.tensorboard").SummaryWriter
        self._writer = writer(str(folder), purge_step=steps + 1 if steps else None)

    @staticmethod
    def installed() -> bool:
        return find_spec("tensorboard") is not None

    def write(self, numbers: dict[str, float], steps: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, steps)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class Wandb:
    """A run of Weights & Biases; its id stays in the folder, so that training that goes on is the same run."""

    def __init__(self, folder: Path, project: str, head: dict[str, Any]) -> None:
        wandb, place = _wandb(), folder / WANDB_ID
        known = place.read_text().strip() if place.exists() else None
        try:
            self._run = wandb.init(project=project, name=folder.name, id=known, resume="allow", config=head, dir=str(folder))
        except wandb.Error as error:
            raise RemoteError(f"Weights & Biases takes no run for the project {project!r}: {error}") from None
        try:
            place.write_text(f"{self._run.id}\n")
        except OSError as error:
            raise InvalidFile(f"{place}: {error.strerror or error}") from None

    def write(self, numbers: dict[str, float], steps: int) -> None:
        self._run.log(numbers, step=steps)

    def close(self) -> None:
        self._run.finish()
