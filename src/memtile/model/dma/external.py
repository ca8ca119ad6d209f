"""External memory behind an interface tile: who answers at an address, and the AXI masters that ask.

Both channels of a direction share one 128-bit AXI master (AM020, interface tile): one beat of up to four
words a cycle, arbitrated like a bank. A beat that does not continue its channel's last one, or that begins a
block of Burst_Length bytes, starts a burst, which keeps the master busy for ``external_burst_overhead`` more
cycles (DEV-EXT-2). Latencies are those of a boundary, not of a DRAM (DEV-EXT-1).
"""

from __future__ import annotations

from memtile.arch.bd_layout import BURST_BYTES
from memtile.arch.tiles import WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.model.dma import bd_fields as f
from memtile.model.dma.bd_load import halt
from memtile.model.dma.channel_registers import (
    ERROR_AXI_DECODE,
    ERROR_AXI_SLAVE,
    PAUSE_MEMORY_MASK,
    PAUSE_STREAM_MASK,
)
from memtile.model.events.reports import signal
from memtile.model.memory import banks
from memtile.model.state.dma import RegionColumns
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.state import State

_BURST_WORDS = BURST_BYTES[0] // WORD_BYTES  # the field counts doublings of the shortest burst
NOWHERE = -1


@inlined
def paused_memory(st: State, ch: int) -> bool:
    """Whether Pause_Mem keeps the channel from asking for beats (DEV-EXT-4)."""
    return bool(st.channels.control[ch] & PAUSE_MEMORY_MASK)


@inlined
def paused_stream(st: State, ch: int) -> bool:
    """Whether Pause_Stream keeps words from passing between the channel and its stream buffer (DEV-EXT-4)."""
    return bool(st.channels.control[ch] & PAUSE_STREAM_MASK)


@inlined
def inside(st: State, region: int, address: int, count: int) -> bool:
    """Whether ``count`` words from word address ``address`` on are in the buffer."""
    if region >= st.regions.shape[0]:
        return False
    first = address - st.regions[region, RegionColumns.FIRST]
    return bool(first >= 0 and first + count <= st.regions[region, RegionColumns.WORDS])


@jit
def find(st: State, row: int, address: int, count: int) -> int:
    """The buffer that holds all words of an access, or -1; the one of the last access is tried first."""
    if inside(st, st.externals.region[row], address, count):
        return int(st.externals.region[row])
    for region in range(st.regions.shape[0]):
        if inside(st, region, address, count):
            st.externals.region[row] = region
            return region
    return NOWHERE


@jit
def answers(st: State, ch: int, address: int, count: int, writes: bool) -> bool:
    """Whether an access finds its buffer; else the channel is halted (DEV-EXT-3, DEV-EVT-6)."""
    region = find(st, st.channels.external[ch], address, count)
    if region < 0:
        halt(st, ch, ERROR_AXI_DECODE)
        signal(st, st.channels.tile[ch], TileSignal.DECODE_ERROR)
        return False
    if writes and st.regions[region, RegionColumns.WRITABLE] == 0:
        halt(st, ch, ERROR_AXI_SLAVE)
        signal(st, st.channels.tile[ch], TileSignal.EXTERNAL_SLAVE_ERROR)
        return False
    return True


@jit
def home(st: State, row: int, address: int, count: int) -> int:
    """Where the host has the words of an access that was answered: a byte address of this process."""
    region = find(st, row, address, count)
    return int(st.region_homes[region] + WORD_BYTES * (address - st.regions[region, RegionColumns.FIRST]))


@inlined
def ask(st: State, ch: int, master: int) -> None:
    """Enter the arbitration of an AXI master, unless it is busy with the address of a burst."""
    if st.clock.now[0] < st.banks.free_at[master]:
        st.clock.activity[0] += 1  # only time separates the beat from its turn
        return
    st.granules.port_bank[ch] = master
    banks.request(st, ch)


@jit
def burst_words(st: State, ch: int) -> int:
    """Words of the longest burst of the channel's BD; each begins at a multiple of it."""
    return int(_BURST_WORDS << st.fields[ch, f.BURST_LENGTH])


@jit
def first_access(st: State, row: int, later: int) -> int:
    """``later`` with the first access of a channel, 0 with all others (DEV-EXT-1)."""
    if st.externals.warm[row] == 1:
        return 0
    st.externals.warm[row] = 1
    return later


@inlined
def granted(st: State, ch: int, address: int, count: int) -> bool:
    """Whether the channel won its master for this beat; keeps the master busy where a burst begins."""
    if st.granules.port_bank[ch] < 0 or not banks.granted(st, ch):
        return False
    row = st.channels.external[ch]
    overhead = 0
    if address != st.externals.following[row] or address % burst_words(st, ch) == 0:
        overhead = st.spec.timing.external_burst_overhead[0]
    st.banks.free_at[st.granules.port_bank[ch]] = st.clock.now[0] + 1 + overhead
    st.externals.following[row] = address + count
    return True
