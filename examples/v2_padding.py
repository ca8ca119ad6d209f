"""A memory tile of AIE-ML v2 frames a 6 x 14 image with the constant 7, two words per cycle.

The descriptor pads one column left and right and one row above and below; the value of the padding is a
register of the channel (AM029 DMA_MM2S_n_Constant_Pad_Value). AIE-ML can pad with zeros only.
"""

from __future__ import annotations

import numpy as np

from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY_V2, WORD_BYTES
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.bd.windows import DmaAddress
from memtile.model.construct import Placed
from memtile.model.states import Cause
from memtile.sim.engine import Engine

ROWS, COLUMNS, VALUE = 6, 14, 7
CHANNEL = MEMORY_V2.channels  # MM2S 0 comes after the S2MM channels


def main() -> None:
    """Send the framed image and check it against NumPy."""
    engine = Engine([Placed("memory_v2")])
    door, image = engine.door(0), np.arange(100, 100 + ROWS * COLUMNS, dtype=np.uint32)
    framed = (ROWS + 2) * (COLUMNS + 2)
    descriptor = Descriptor(
        tile="memory_v2",
        length=framed,
        address=DmaAddress(MEMORY_V2.own_window_words),
        dims=(Dim(1, COLUMNS), Dim(COLUMNS, ROWS)),
        pad=(Pad(1, 1), Pad(1, 1)),
    )
    door.block_write32(0, image)
    door.write32(register_named("memory_tile_v2", "DMA_MM2S_0_Constant_Pad_Value").offset, VALUE)
    door.block_write32(MEMORY_V2.bd_base, encode(descriptor))
    door.write32(MEMORY_V2.queue_base + CHANNEL * MEMORY_V2.channel_stride, 0)
    engine.catch(CHANNEL)
    engine.run(framed)

    sent = engine.caught(CHANNEL).reshape(ROWS + 2, COLUMNS + 2)
    moving = int(engine.state.spent[CHANNEL, Cause.MOVING])
    print(sent)
    print(f"{framed} words in {moving} beats, {framed * WORD_BYTES / moving:.0f} bytes per cycle")
    np.testing.assert_array_equal(sent, np.pad(image.reshape(ROWS, COLUMNS), 1, constant_values=VALUE))


if __name__ == "__main__":
    main()
