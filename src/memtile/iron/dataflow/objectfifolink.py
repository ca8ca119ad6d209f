"""Links of object FIFOs: objects go on from consumers to producers in one tile."""

from __future__ import annotations

from typing import Any

from memtile.iron.dataflow.endpoint import ObjectFifoEndpoint
from memtile.iron.device import AnyMemTile, Tile
from memtile.iron.dialects.aie import object_fifo_link
from memtile.iron.helpers.util import single_elem_or_list_to_list
from memtile.iron.ops.enums import AIETileType
from memtile.iron.ops.program_lines import program_line
from memtile.iron.resolvable import Resolvable


class ObjectFifoLink(ObjectFifoEndpoint, Resolvable):
    """Consumers whose objects go on to producers: one to one, one to many, or many to one."""

    def __init__(
        self,
        srcs: Any,
        dsts: Any,
        tile: Tile | None = AnyMemTile,
        src_offsets: list[int] | None = None,
        dst_offsets: list[int] | None = None,
    ) -> None:
        self._srcs, self._dsts = single_elem_or_list_to_list(srcs), single_elem_or_list_to_list(dsts)
        self._src_offsets, self._dst_offsets = src_offsets or [], dst_offsets or []
        names = ", ".join(str(each) for each in (*self._srcs, *self._dsts))
        if not self._srcs or not self._dsts or min(len(self._srcs), len(self._dsts)) > 1:
            raise ValueError(f"a link is from one to one, one to many or many to one: {names}")
        for offsets, ends in ((self._src_offsets, self._srcs), (self._dst_offsets, self._dsts)):
            if offsets and len(offsets) != len(ends):
                raise ValueError(f"a link of {len(ends)} ends has {len(offsets)} offsets: {names}")
        self._resolving, self._line = False, program_line()
        tile = AnyMemTile if tile is None else tile
        says_kind = tile.tile_type is not None or None not in (tile.col, tile.row)
        super().__init__(tile.copy() if says_kind else tile.with_type(AIETileType.MemTile))
        for handle in (*self._srcs, *self._dsts):
            handle.endpoint = self

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build the object FIFOs at its ends, then it."""
        if self._resolving:
            return
        self._resolving = True
        for handle in (*self._srcs, *self._dsts):
            handle.resolve()
        link = object_fifo_link(
            [each.op for each in self._srcs],
            [each.op for each in self._dsts],
            self._src_offsets,
            self._dst_offsets,
        )
        link.place = self._line or link.place

    def __str__(self) -> str:
        return f"link of {', '.join(map(str, self._srcs))} to {', '.join(map(str, self._dsts))}"
