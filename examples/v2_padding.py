"""A memory tile of AIE-ML v2 frames a 6 x 14 image with the constant 7, two words per cycle.

Run it with ``memtile run examples/v2_padding.py``, or with Python to see the framed image.

The descriptor pads one column left and right and one row above and below; the value of the padding is a
register of the channel (AM029 DMA_MM2S_n_Constant_Pad_Value). AIE-ML can pad with zeros only.
"""

from __future__ import annotations

import numpy as np

from memtile import Cause, MemoryTile, pad, view

ROWS, COLUMNS, VALUE = 6, 14, 7


def design() -> MemoryTile:
    """A tile alone, with the image in its memory."""
    tile = MemoryTile("xc2ve3858")
    pixels = np.arange(100, 100 + ROWS * COLUMNS, dtype=np.int32).reshape(ROWS, COLUMNS)
    image, channel = tile.buffer("image", pixels.shape, data=pixels), tile.mm2s[0]
    channel.pad_with(VALUE)
    channel.start(tile.read(image, pad(view(pixels.shape), 1)))
    channel.expect(np.pad(pixels, 1, constant_values=VALUE))
    return tile


def main() -> None:
    """Run, check, and show the framed image."""
    result = design().run()
    assert result.good, result
    (framed,), (use,) = result.outputs.values(), result.channels
    print(framed.reshape(ROWS + 2, COLUMNS + 2))
    beats = use.spent[Cause.MOVING]
    print(f"{len(framed)} words in {beats} beats, {framed.nbytes / beats:.0f} bytes per cycle")


if __name__ == "__main__":
    main()
