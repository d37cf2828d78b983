"""Command `momagames export-onnx`: write trained policies as an ONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momagames.cli.console import console, table


def export_onnx(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint of a training by moppo, grpo or cross_entropy (.npz).")],
    out: Annotated[Path, typer.Argument(help="Output file (.onnx).")],
) -> None:
    """Write trained policies as an ONNX model (extra `onnx`), and list its inputs and outputs."""
    from momagames.baselines.checkpoint import load_checkpoint
    from momagames.baselines.onnx_export import describe_values, export_onnx

    model = export_onnx(load_checkpoint(checkpoint), out)
    listing = table("value", "kind", "type", "shape")
    for row in describe_values(model):
        listing.add_row(*row)
    screen = console()
    screen.print(listing)
    screen.print(f"model: {out}", soft_wrap=True)
