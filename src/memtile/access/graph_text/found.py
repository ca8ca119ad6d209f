"""A tiling of a C++ text, and what the text says of its port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memtile.access.tiling import TilingParameters
from memtile.errors import TransferError

ASSUMED = "int32"
"""Element type where the text names no buffer of the port."""


@dataclass(frozen=True, slots=True)
class GraphTiling:
    """A tiling of a text.

    Attributes:
        name: port or variable, class and line: ``mtxin.out[0] (Graph1, line 52)``.
        line: of its first brace.
        tiling: the parameters; None = they could not be read.
        error: why not.
        access: ``read`` or ``write``.
        memory: as in a tiling's JSON: ``memtile``, ``aie_ml_data_memory`` or
            ``external_ddr_via_interface_tile``.
        element_type: of the buffer; empty = the text does not say.
    """

    name: str
    line: int
    tiling: TilingParameters | None = None
    error: TransferError | None = None
    access: str = "read"
    memory: str = "memtile"
    element_type: str = ""

    @property
    def assumed(self) -> str:
        """What is assumed where the text says nothing; empty = no assumption."""
        return "" if self.element_type else f"{ASSUMED}, because the text names no buffer with another type"

    def case(self) -> dict[str, Any]:
        """The tiling as ``parse_tiling`` reads it.

        Raises:
            TransferError: the tiling could not be read.
        """
        if self.tiling is None:
            raise self.error or TransferError(self.name)
        given = self.tiling
        members: dict[str, Any] = {
            name: list(getattr(given, name))
            for name in ("buffer_dimension", "tiling_dimension", "offset", "boundary_dimension")
            if getattr(given, name)
        }
        loops = [{"dimension": x.dimension, "stride": x.stride, "wrap": x.wrap} for x in given.tile_traversal]
        numbers = {name: getattr(given, name) for name in ("packet_port_id", "repetition", "phase")}
        site = {"access": self.access, "memory": self.memory}
        typed = {"element_type": self.element_type.removesuffix("_t") or ASSUMED}
        return {"name": self.name, **members, "tile_traversal": loops, **numbers, **site, **typed}
