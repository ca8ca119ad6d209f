"""The arrays of a program on a model: put where the program expects them, and taken when it has run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import EXTERNAL_PAGE, WORD_BYTES
from memtile.runs.array_names import Stream
from memtile.runs.arrays import BoundArrays, ExternalArray, Output
from memtile.runs.machine import ArrayMachine
from memtile.runs.operations import address_of
from memtile.runs.own_door import OwnDoor


def place(bound: BoundArrays, array: ArrayMachine) -> dict[int, int]:
    """Bring the arrays into external memory, tile memories and streams.

    Returns:
        The byte address of each kernel argument; arguments without an array have one where nothing answers.

    Raises:
        DesignError: arrays that overlap in external memory, or an address that none can have.
    """
    external, addresses = array.engine.external, {}
    for each in sorted(bound.externals, key=lambda each: each.region.argument is not None):
        argument = each.region.argument  # these come last, behind everything that has an address
        if argument is not None:
            external.drop(each.name)  # of a run before this one
        added = external.add(each.name, each.words, each.region.first if argument is None else None)
        if argument is not None:
            addresses[argument] = added.address
    for memory, words in bound.memories:
        OwnDoor(array).block_write32(address_of(*memory.place), words)
    for stream, words in bound.feeds:
        array.tile(stream.column, stream.row).s2mm[stream.number].feed(words)
    for output in bound.outputs:
        if isinstance(output.source, Stream):
            _sender(output.source, array).collect(output.dtype)
    last = max((buffer.end for buffer in external.buffers.values()), default=0)
    nowhere = (last // EXTERNAL_PAGE + 1) * EXTERNAL_PAGE
    return {argument: addresses.get(argument, nowhere) for argument in bound.arguments}


def taken(output: Output, array: ArrayMachine) -> npt.NDArray[Any]:
    """The array that is wanted, as it is now."""
    source = output.source
    if isinstance(source, Stream):
        output_words: npt.NDArray[Any] = _sender(source, array).output()
        return output_words
    if isinstance(source, ExternalArray):
        words = source.words
    else:
        words = OwnDoor(array).block_read32(address_of(*source.place), -(-output.nbytes // WORD_BYTES))
    return words.view(np.uint8)[: output.nbytes].view(output.dtype).reshape(output.shape)


def _sender(stream: Stream, array: ArrayMachine) -> Any:
    return array.tile(stream.column, stream.row).mm2s[stream.number]
