"""Compression, word by word: groups of eight memory words and what they become in the stream.

The format is that of ``access.compression``. MM2S gathers the words that its accesses bring until a group is
complete, codes it, and passes one coded word a cycle on to the egress buffer while the next group is gathered
(DEV-COMP-2). Channels that do not compress never come here.
"""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.model.dma.fifo import put, space
from memtile.model.state.dma import Codecs
from memtile.model.state.state import State

_BYTE_BITS = WORD_BITS // WORD_BYTES
_BYTE_MASK = (1 << _BYTE_BITS) - 1


@inlined
def gather(codecs: Codecs, ch: int, word: int) -> None:
    """MM2S: add a memory word to the group that is gathered."""
    codecs.words[ch, codecs.held[ch]] = word
    codecs.held[ch] += 1


@jit
def code(codecs: Codecs, ch: int) -> None:
    """Turn the oldest group gathered into coded words; a tail is filled with zeros."""
    count = min(codecs.held[ch], COMPRESSED_GROUP_WORDS)
    mask, found = 0, 0
    for i in range(COMPRESSED_GROUP_WORDS + 1):
        codecs.coded[ch, i] = 0
    for i in range(count * WORD_BYTES):
        byte = (codecs.words[ch, i // WORD_BYTES] >> (i % WORD_BYTES * _BYTE_BITS)) & _BYTE_MASK
        if byte != 0:
            mask |= 1 << i
            codecs.coded[ch, 1 + found // WORD_BYTES] |= byte << (found % WORD_BYTES * _BYTE_BITS)
            found += 1
    codecs.coded[ch, 0] = mask
    codecs.coded_held[ch] = 1 + (found + WORD_BYTES - 1) // WORD_BYTES
    codecs.at[ch] = 0
    codecs.held[ch] -= count
    for i in range(codecs.held[ch]):
        codecs.words[ch, i] = codecs.words[ch, i + count]


@jit
def group_words(mask: int) -> int:
    """Stream words of a group with this mask."""
    count = 0
    for i in range(WORD_BITS):
        count += (mask >> i) & 1
    return 1 + (count + WORD_BYTES - 1) // WORD_BYTES


@jit
def complete(codecs: Codecs, ch: int) -> bool:
    """Whether all stream words of the group have come."""
    return bool(codecs.coded_held[ch] > 0 and codecs.coded_held[ch] == group_words(codecs.coded[ch, 0]))


@jit
def expand(codecs: Codecs, ch: int, wanted: int) -> None:
    """Turn a complete group into memory words; ``wanted`` of them at most belong to the BD."""
    mask, found = codecs.coded[ch, 0], 0
    for i in range(COMPRESSED_GROUP_WORDS):
        codecs.words[ch, i] = 0
    for i in range(WORD_BITS):
        if (mask >> i) & 1:
            byte = codecs.coded[ch, 1 + found // WORD_BYTES] >> (found % WORD_BYTES * _BYTE_BITS)
            codecs.words[ch, i // WORD_BYTES] |= (byte & _BYTE_MASK) << (i % WORD_BYTES * _BYTE_BITS)
            found += 1
    codecs.coded_held[ch] = 0
    codecs.at[ch] = 0
    codecs.held[ch] = min(COMPRESSED_GROUP_WORDS, wanted)


@inlined
def all_fetched(st: State, ch: int) -> bool:
    """MM2S: whether every memory word of the BD has been gathered."""
    return bool(st.walks.left[ch] == 0 and st.granules.closed[ch] == 0)


@jit
def pass_on(st: State, ch: int) -> None:
    """MM2S, phase 2a: code a complete or last group; one coded word enters the egress buffer."""
    codecs = st.codecs
    if codecs.coded_held[ch] == 0:
        if codecs.held[ch] == 0 or (codecs.held[ch] < COMPRESSED_GROUP_WORDS and not all_fetched(st, ch)):
            return
        code(codecs, ch)
        st.clock.activity[0] += 1
    if space(st.fifos, ch) == 0:
        return
    codecs.coded_held[ch] -= 1
    ends = codecs.coded_held[ch] == 0 and codecs.held[ch] == 0 and all_fetched(st, ch)
    last = 1 if ends and st.channels.tlast_suppress[ch] == 0 else 0
    put(st.fifos, ch, codecs.coded[ch, codecs.at[ch]], last)
    codecs.at[ch] += 1
    st.clock.activity[0] += 1


@jit
def packed_moved(st: State, ch: int) -> int:
    """MM2S: memory words of the BD that are coded; the last one counts when all stream words have left."""
    under_way = st.granules.formed[ch] if st.granules.closed[ch] == 1 else 0
    coded = st.channels.length[ch] - st.walks.left[ch] - under_way - st.codecs.held[ch]
    sent = st.fifos.held[ch] == 0 and st.codecs.coded_held[ch] == 0
    return int(coded if sent else min(coded, st.channels.length[ch] - 1))
