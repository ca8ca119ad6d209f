"""Streams between an interface tile and the programmable logic: ports, widths, and their clock.

The South slaves of the interface tile's switch take words from the programmable logic, its South masters
send words to it: eight and six for each column (AM009, AI Engine to programmable logic interface; the
driver's tables have the same ports for AIE-ML). Inside, a stream has 32 bits a cycle; each port of the
interface has 64 bits, and two adjacent ones make a stream of 128 bits. FIFOs cross between the two clocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from memtile.arch.grades import Grade, Source
from memtile.arch.ports import PORTS, port_kind
from memtile.arch.tiles import WORD_BYTES

BYTE_BITS = 8
PLIO_WIDTHS = (32, 64, 128)  # bits (UG1079, input_plio and output_plio)
DEFAULT_WIDTH = 32  # bits (UG1079)
CLOCK_DIVISOR = 4  # the default clock of a PLIO is that part of the array's (UG1702, table I/O)
LOGIC_SLAVES = tuple(name for name in PORTS["interface"].slaves if port_kind(name) == "SOUTH")
LOGIC_MASTERS = tuple(name for name in PORTS["interface"].masters if port_kind(name) == "SOUTH")
PAIRED_BITS = 128  # from this width on a PLIO has two adjacent ports, of which the first one is even
CROSSING_DEPTH = 12  # PLIO words in the FIFO from the logic into the array (AM020 1.5)

LOGIC_COLUMNS: Mapping[str, int] = MappingProxyType({"xcve2802": 28})
"""Columns whose interface tile leads to the logic, where a source says it, else all (DEV-ADF-170)."""

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "ports": Source("AM009: AI Engine to programmable logic interface", Grade.MANUAL),
        "width": Source("UG1079: input_plio and output_plio", Grade.MANUAL),
        "clock": Source("UG1702: I/O of a graph", Grade.MANUAL),
        "columns": Source("AIE-PRE-MAPPER-6 in a user's log: 112 streams out, four a column", Grade.ASSUMED),
        "crossing": Source("AM020 1.5: Stream Switch Buffering and Latency", Grade.MANUAL),
        "pair": Source("UG1079: AI Engine to PL interface AXI protocol", Grade.MANUAL),
    }
)


def sizer_fields(port: int, width: int, *, receives: bool) -> Iterator[tuple[str, str, int]]:
    """Yield what the registers of an interface tile hold for a PLIO: register, field and its value.

    Args:
        port: number of the South port, the even one of two.
        width: of the PLIO in bits.
        receives: True = the logic gets words, else it sends them.

    The driver (aie-rt, its PL interface) sets the field of a port to 1 for 64 bits and to 0 for 32, the field
    of a pair for 128, and enables the ports at which words come in.
    """
    config = "PL_Interface_Upsizer_Config" if receives else "PL_Interface_Downsizer_Config"
    ports = (port, port + 1) if width == PAIRED_BITS else (port,)
    if width == PAIRED_BITS:
        yield config, f"South{port}_South{port + 1}_128_combine", 1
    else:
        yield config, f"South{port}", int(width > DEFAULT_WIDTH)
    if not receives:
        yield from (("PL_Interface_Downsizer_Enable", f"South{each}", 1) for each in ports)


def stream_words(width: int) -> int:
    """Return the words of the stream in a word of a PLIO.

    Args:
        width: of the PLIO in bits.
    """
    return width // (WORD_BYTES * BYTE_BITS)
