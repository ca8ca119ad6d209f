"""Programs of cores."""

from __future__ import annotations

from dataclasses import dataclass
from memtile.mlir_writer.scene import Place, Scene


@dataclass(frozen=True)
class CoreProgram:
    name: str


def write_core(scene: Scene, place: Place, core: CoreProgram) -> None:
    pass
