"""Designs as agents write them, each with one mistake, what a tool answers, and the repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.mlir.mlir_texts import PASSTHROUGH

RING = """import numpy as np

from memtile import MemoryTile, view


def design():
    tile = MemoryTile("npu1")
    block = tile.buffer("block", (4, 8), np.int32)
    empty, full = tile.lock(1, "empty"), tile.lock(0, "full")
    data = np.arange(1, 65, dtype=np.int32).reshape(2, 4, 8)
    into = tile.write(block, view((4, 8))).guarded(empty.acquire(), full.release())
    out = tile.read(block, view((4, 8))).guarded(full.acquire(), empty.release())
    tile.s2mm[0].start(into, repeat=2)
    tile.mm2s[0].start(out, repeat=2)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile
"""
WORKER = """import numpy as np

from memtile import Array


def design():
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    data = np.arange(64, dtype=np.int32)
    source, target = memory.buffer("source", 64, data=data), memory.buffer("target", 64)
    given, made = worker.buffer("given", 16), worker.buffer("made", 16)
    empty, full = worker.lock(1, "empty"), worker.lock(0, "full")
    room, done = worker.lock(1, "room"), worker.lock(0, "done")
    array.connect(memory.mm2s[0], worker.s2mm[0])
    array.connect(worker.mm2s[0], memory.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    memory.s2mm[0].start(memory.write(target))
    worker.s2mm[0].start(worker.write(given).guarded(empty.acquire(), full.release()), repeat=4)
    worker.mm2s[0].start(worker.read(made).guarded(done.acquire(), room.release()), repeat=4)

    def kernel(core):
        for _ in range(4):
            yield core.acquire(full)
            yield core.acquire(room)
            yield core.cycles(20)
            core.write(made, core.read(given) + 1)
            yield core.release(done)
            yield core.release(empty)

    worker.run_kernel(kernel)
    memory.expect(target, data + 1)
    return array
"""
TILING = {
    "buffer_dimension": [16, 8],
    "tiling_dimension": [4, 4],
    "offset": [0, 0],
    "tile_traversal": [{"dimension": 0, "stride": 4, "wrap": 4}],
    "element_bits": 32,
}
FIELDS = {"tile": "memory", "length": 64, "address": 131072, "dims": [[1, 8], [8, 8]]}


@dataclass(frozen=True, slots=True)
class Broken:
    """A call with a mistake in it.

    Attributes:
        name: what is wrong.
        tool: that is asked.
        good: the arguments without the mistake.
        mistake: of a text what is replaced by what; of other arguments the values that are wrong.
        names: the codes of all findings, or the reason of the error.
        says: a part of the first message.
        fix: a part of the first repair; empty where the message says it.
    """

    name: str
    tool: str
    good: dict[str, Any]
    mistake: Any
    names: tuple[str, ...]
    says: str = ""
    fix: str = ""

    @property
    def bad(self) -> dict[str, Any]:
        """The arguments with the mistake."""
        if isinstance(self.mistake, dict):
            (key,) = self.good
            return {key: {**self.good[key], **self.mistake}}
        before, after = self.mistake
        assert self.good["text"].count(before) == 1, (self.name, before)
        return {**self.good, "text": self.good["text"].replace(before, after)}


def ring(name: str, tool: str, before: str, after: str, *found: Any, **more: Any) -> Broken:
    """A mistake in a ring of one buffer."""
    return Broken(name, tool, {"text": RING}, (before, after), *found, **more)


def worker(name: str, tool: str, before: str, after: str, *found: Any, **more: Any) -> Broken:
    """A mistake in a core between two transfers."""
    return Broken(name, tool, {"text": WORKER}, (before, after), *found, **more)


def mlir(name: str, tool: str, before: str, after: str, *found: Any, **more: Any) -> Broken:
    """A mistake in a text of mlir-aie."""
    return Broken(name, tool, {"text": PASSTHROUGH, "kind": "mlir"}, (before, after), *found, **more)


def lowered(name: str, mistake: dict[str, Any], *found: Any, **more: Any) -> Broken:
    """A mistake in a tiling."""
    return Broken(name, "lower", {"tiling": TILING}, mistake, *found, **more)


BROKEN = (
    ring(
        "the empty lock begins at 0",
        "check",
        "tile.lock(1",
        "tile.lock(0",
        ("MT0106",),
        says="Deadlock, each waits for a lock that only the next one releases",
        fix="Give one of the locks an initial value.",
    ),
    ring(
        "the writer does not tell",
        "check",
        "empty.acquire(), full.release()",
        "empty.acquire(), None",
        ("MT0103",),
        says="MM2S 0 (BD 1) waits for lock 1 'full' (needs 1)",
        fix="an initial value, or release it in a DMA task",
    ),
    ring(
        "no locks at the reader",
        "check",
        "guarded(full.acquire(), empty.release())",
        "guarded(None, None)",
        ("MT0105", "MT0103"),
        says="nothing orders the two",
        fix="Let the first release a lock that the second acquires",
    ),
    ring(
        "the reader does not wait",
        "run",
        "guarded(full.acquire(), empty.release())",
        "guarded(None, None)",
        ("MT0302", "MT0201"),
        says="waits for lock 0 'empty' (needs 1, has 0), and nothing releases it",
        fix="Let MM2S 0 ('block'), BD 1, release lock 0 'empty'.",
    ),
    ring(
        "a buffer larger than the tile",
        "check",
        "(4, 8), np.int32)",
        "(400, 800), np.int32)",
        ("MT0101",),
        says="design.py, line 8, memory tile, buffer block",
        fix="524288 bytes are free.",
    ),
    ring(
        "a lock that begins too high",
        "check",
        "tile.lock(1",
        "tile.lock(100",
        ("MT0100",),
        says="design.py, line 9, memory tile, lock empty: initial is 100, allowed are 0..63",
    ),
    ring(
        "less comes in than is taken",
        "run",
        "feed(data)",
        "feed(data[:1])",
        ("MT0304",),
        says="no more are fed",
        fix="Feed as many words as are received.",
    ),
    ring(
        "the order of the other side",
        "run",
        "tile.read(block, view((4, 8)))",
        "tile.read(block, view((4, 8)).T)",
        ("MT0401",),
        says="MM2S 0 has dimensions 1 and 2 of the expected (2, 4, 8) elements exchanged.",
        fix="Exchange these dimensions of the reader or of the writer.",
    ),
    ring(
        "a method that is not there",
        "check",
        "tile.buffer(",
        "tile.bufer(",
        ("MT0100",),
        says="design.py, line 8: AttributeError",
    ),
    ring(
        "nothing is returned",
        "run",
        "    return tile\n",
        "",
        ("design",),
        says="design.py: design() returned",
    ),
    ring(
        "no function design",
        "run",
        "def design",
        "def ring",
        ("input_file",),
        says="design.py: there is no function design()",
    ),
    ring(
        "a channel that is not there",
        "run",
        "tile.mm2s[0].start",
        "tile.mm2s[6].start",
        ("channel",),
        says="MM2S channel is 6, allowed are 0..5",
    ),
    ring(
        "a device that is not there",
        "check",
        '"npu1"',
        '"npu7"',
        ("MT0100",),
        says="design.py, line 7, device table: device is 'npu7'",
        fix="Did you mean npu2?",
    ),
    worker(
        "a stream that is not connected",
        "check",
        "    array.connect(worker.mm2s[0], memory.s2mm[0])\n",
        "",
        ("MT0109",),
        says="compute(0,2) MM2S 0 has a task, and its stream leads nowhere; memory(0,1) S2MM 0 has a task, "
        "and no stream leads to it.",
        fix="Connect the two by a flow.",
    ),
    worker(
        "nobody takes what the core sends",
        "check",
        "    memory.s2mm[0].start(memory.write(target))\n",
        "",
        ("MT0110",),
        says="compute(0,2) MM2S 0 sends to memory(0,1) S2MM 0, which has no task.",
        fix="Start a task there, or send elsewhere.",
    ),
    worker(
        "the core takes half",
        "run",
        "repeat=4)\n    worker.mm2s",
        "repeat=2)\n    worker.mm2s",
        ("MT0304",),
        says="compute(0,2) S2MM 0 ('given') has no task left for what was sent to it",
        fix="Receive as many words as are sent.",
    ),
    worker(
        "the core releases the wrong lock",
        "run",
        "core.release(empty)",
        "core.release(full)",
        ("MT0305",),
        says="releases lock 1 'full' of tile (0, 2) instead",
        fix="release lock 0 'empty' of tile (0, 2).",
    ),
    worker(
        "the core does not wait for room",
        "run",
        "            yield core.acquire(room)\n",
        "",
        ("MT0201",),
        says="writes words 0 to 15 of buffer 'made' and does not wait",
        fix="acquire lock 2 'room' of tile (0, 2)",
    ),
    worker(
        "an array is yielded",
        "run",
        "core.write(made, core.read(given) + 1)",
        "yield core.read(given)",
        ("kernel_action",),
        says="it must yield what core.cycles",
    ),
    mlir(
        "a partition that is not there",
        "check",
        "npu1_1col",
        "npu1_9col",
        ("MT0100",),
        says="Did you mean npu1_4col?",
    ),
    lowered(
        "a dimension that is not there",
        {"tile_traversal": [{"dimension": 2, "stride": 4, "wrap": 4}]},
        ("traversal_dimension",),
        says="dimension",
    ),
    lowered(
        "parts of words",
        {"element_bits": 8, "tiling_dimension": [3, 4]},
        ("word_alignment",),
        says="The nearest legal value is 4.",
    ),
    Broken(
        "a loop that is too long",
        "descriptor",
        {"fields": FIELDS},
        {"dims": [[1, 2000]]},
        ("wrap_d0",),
        says="Split the loop over two dimensions or over several BDs.",
    ),
)
