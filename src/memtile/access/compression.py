"""The compressed stream format of the DMA: 256-bit groups as a byte mask and the bytes that are not zero.

Each group of eight memory words becomes a 32-bit mask (bit i = byte i of the group is not zero), the non-zero
bytes in rising order, little endian, and filler up to the next word: 1 to 9 stream words (AM020 chapter 5).
The mask comes first, as on a Phoenix NPU (DEV-COMP-1, GT-30); a tail of less than eight words is a group with
zeros behind it (DEV-COMP-3). AIE2P has another format, which is not public (DEV-AIE2P-3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, WORD_BYTES
from memtile.errors import TransferError

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Bits = NDArray[np.bool_]
Index = NDArray[np.int64]

_GROUP_BYTES = COMPRESSED_GROUP_WORDS * WORD_BYTES
LONGEST_GROUP = 1 + COMPRESSED_GROUP_WORDS  # stream words: the mask, and no byte of the group zero
_WORD = np.dtype("<u4")
_BITS_SET = np.bitwise_count(np.arange(1 << 16)).astype(np.int64)


def compress(words: Words) -> Words:
    """Return the MM2S words for ``words``: uint32[m] for uint32[n], ceil(n/8) <= m <= 9 * ceil(n/8)."""
    groups = -(-len(words) // COMPRESSED_GROUP_WORDS)
    padded = np.zeros(groups * COMPRESSED_GROUP_WORDS, dtype=_WORD)
    padded[: len(words)] = words
    data = padded.view(np.uint8).reshape(groups, _GROUP_BYTES)
    present = data != 0
    masks = np.packbits(present, axis=1, bitorder="little").view(_WORD).ravel()
    ends = np.cumsum(_stream_words(masks))
    starts = ends - _stream_words(masks)
    out = np.zeros(int(ends[-1]) if groups else 0, dtype=_WORD)
    out[starts] = masks
    out.view(np.uint8)[_byte_places(starts, present)] = data[present]
    return out.astype(np.uint32)


def decompress(stream: Words, words: int) -> Words:
    """The ``words`` memory words that S2MM makes of a compressed stream; uint32[words].

    Raises:
        TransferError: the stream ends before.
    """
    starts = _group_starts(stream, words)
    if starts is None:
        raise TransferError.of(
            "stream",
            f"{len(stream)} words",
            f"groups for {words} memory words",
            f"the stream ends after {len(stream)} words, before the groups for {words} memory words "
            "are complete",
            reason="compressed_stream",
            where="decompression",
            source="AM020 ch. 5: a mask and its bytes for every 256 bits",
        )
    masks = stream[starts[:-1]].astype(_WORD)
    present = np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(-1, _GROUP_BYTES) != 0
    data = np.zeros((len(masks), _GROUP_BYTES), dtype=np.uint8)
    data[present] = stream.astype(_WORD).view(np.uint8)[_byte_places(starts[:-1], present)]
    return data.reshape(-1).view(_WORD)[:words].astype(np.uint32)


def compressed_length(stream: Words, words: int) -> int | None:
    """Stream words that S2MM takes for ``words`` memory words; None when the stream ends before."""
    starts = _group_starts(stream, words)
    return None if starts is None else int(starts[-1])


def _stream_words(masks: Words) -> Index:
    """Stream words of the groups with these masks."""
    half = WORD_BITS // 2
    bytes_set = _BITS_SET[masks >> half] + _BITS_SET[masks & ((1 << half) - 1)]
    lengths: Index = 1 + -(-bytes_set // WORD_BYTES)
    return lengths


def _group_starts(stream: Words, words: int) -> Index | None:
    """Positions of the masks, and the end of the last group; each mask says where the next one is."""
    lengths = _stream_words(stream).tolist() if len(stream) else []
    starts = [0]
    for _ in range(-(-words // COMPRESSED_GROUP_WORDS)):
        if starts[-1] >= len(stream):
            return None
        starts.append(starts[-1] + lengths[starts[-1]])
    return np.array(starts, dtype=np.int64) if starts[-1] <= len(stream) else None


def _byte_places(starts: Index, present: Bits) -> Index:
    """Byte position in the stream of every byte that is present, in order."""
    ranks = np.cumsum(present, axis=1) - 1
    places: Index = ((starts[:, None] + 1) * WORD_BYTES + ranks)[present]
    return places
