"""Loggers of training metrics besides the log file: TensorBoard and Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from momagames.errors import InvalidFile, MissingExtra, RemoteError
from momagames.files.writing import write_file_atomically

TENSORBOARD, WANDB_ID = "tensorboard", "wandb-id"


class MetricsLogger(Protocol):
    """Destination of scalar metrics."""

    def write(self, metrics: dict[str, float], steps: int) -> None: ...

    def close(self) -> None: ...


def make_loggers(directory: Path, steps: int, config: dict[str, Any], project: str | None = None) -> list[MetricsLogger]:
    """Return a TensorBoard logger where it is installed, and a Weights & Biases logger if there is a project.

    directory  of the training; it exists
    steps      at which training resumes; 0 at the beginning
    config     JSON-able description of the training
    project    of Weights & Biases
    """
    loggers: list[MetricsLogger] = []
    if TensorBoardLogger.is_installed():
        loggers.append(TensorBoardLogger(directory / TENSORBOARD, steps))
    if project is not None:
        loggers.append(WandbLogger(directory, project, config))
    return loggers


def check_wandb(project: str | None) -> None:
    """Raise MissingExtra if there is a project, and Weights & Biases is not installed."""
    if project is not None:
        _import_wandb()


def _import_wandb() -> Any:
    try:
        module = import_module("wandb")
        assert module.init  # a directory named wandb, such as wandb itself creates, can be imported too
    except (ImportError, AttributeError):
        raise MissingExtra('Weights & Biases needs wandb: pip install "momagames[wandb]"') from None
    return module


class TensorBoardLogger:
    """Event files in a directory of their own; events after `steps` are purged."""

    def __init__(self, directory: Path, steps: int) -> None:
        self._directory = directory
        writer = import_module("torch.utils.tensorboard").SummaryWriter
        with self._name_errors():
            self._writer = writer(str(directory), purge_step=steps + 1 if steps else None)

    @staticmethod
    def is_installed() -> bool:
        return find_spec("tensorboard") is not None

    def write(self, metrics: dict[str, float], steps: int) -> None:
        with self._name_errors():
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, steps)
            self._writer.flush()

    def close(self) -> None:
        with self._name_errors():
            self._writer.close()

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        """Raise InvalidFile with the directory for events that cannot be written, such as on a full disk."""
        try:
            yield
        except OSError as error:
            raise InvalidFile(f"{self._directory}: {error.strerror or error}") from None


class WandbLogger:
    """A Weights & Biases run. Its id is stored in the directory, so that resumed training continues the same run."""

    def __init__(self, directory: Path, project: str, config: dict[str, Any]) -> None:
        wandb, path = _import_wandb(), directory / WANDB_ID
        run_id = path.read_text(encoding="utf-8").strip() if path.exists() else None
        try:
            self._run = wandb.init(
                project=project, name=directory.name, id=run_id, resume="allow", config=config, dir=str(directory)
            )
        except wandb.Error as error:
            raise RemoteError(f"Weights & Biases did not start a run in project {project!r}: {error}") from None
        write_file_atomically(path, f"{self._run.id}\n")

    def write(self, metrics: dict[str, float], steps: int) -> None:
        self._run.log(metrics, step=steps)

    def close(self) -> None:
        self._run.finish()
