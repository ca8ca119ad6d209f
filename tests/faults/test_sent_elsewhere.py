"""Is a packet with the wrong id named, and not the core that waits for it?"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from support.mlir.mlir_designs import loaded

CORE = """    %tROW = aie.tile(0, ROW)
    aie.packet_flow(ROW) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_dest<%tROW, DMA : 0>
    }
    %bROW = aie.buffer(%tROW) {sym_name = "bROW"} : memref<16xi32>
    %freeROW = aie.lock(%tROW, 0) {init = 1 : i32, sym_name = "freeROW"}
    %fullROW = aie.lock(%tROW, 1) {init = 0 : i32, sym_name = "fullROW"}
    %doneROW = aie.lock(%tROW, 2) {init = 0 : i32, sym_name = "doneROW"}
    aie.flow(%tROW, DMA : 0, %s, DMA : TO)
    aie.shim_dma_allocation @outROW(%s, S2MM, TO)
    aie.mem(%tROW) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^next)
    ^take:
      aie.use_lock(%freeROW, AcquireGreaterEqual, 1)
      aie.dma_bd(%bROW : memref<16xi32>, 0, 16)
      aie.use_lock(%fullROW, Release, 1)
      aie.next_bd ^take
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^give, ^end)
    ^give:
      aie.use_lock(%doneROW, AcquireGreaterEqual, 1)
      aie.dma_bd(%bROW : memref<16xi32>, 0, 16)
      aie.use_lock(%freeROW, Release, 1)
      aie.next_bd ^give
    ^end:
      aie.end
    }
    aie.core(%tROW) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 2 : index
      scf.for %i = %c0 to %n step %c1 {
        aie.use_lock(%fullROW, AcquireGreaterEqual, 1)
        aie.use_lock(%doneROW, Release, 1)
      }
      aie.end
    }
"""
MOVE = (
    "aiex.npu.dma_memcpy_nd(%{}[0, 0, 0, {}][1, 1, 1, {}][0, 0, 0, 1]{}) "
    "{{id = {} : i64, metadata = @{}}} : memref<64xi32>"
)


TWICE = """      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 2 : index
      scf.for %i = %c0 to %n step %c1 {
        aie.use_lock(%full4, AcquireGreaterEqual, 1)
        aie.use_lock(%free4, Release, 1)
      }"""
THIRD = """    %t4 = aie.tile(0, 4)
    aie.packet_flow(4) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_dest<%t4, DMA : 0>
    }
    aie.packet_flow(5) {
      aie.packet_source<%s, DMA : 1>
      aie.packet_dest<%t4, DMA : 0>
    }
    aie.shim_dma_allocation @other(%s, MM2S, 1)
    %b4 = aie.buffer(%t4) {sym_name = "b4"} : memref<16xi32>
    %full4 = aie.lock(%t4, 1) {init = 0 : i32, sym_name = "full4"}
    aie.mem(%t4) {
      %0 = aie.dma_start(S2MM, 0, ^take, ^end)
    ^take:
      aie.dma_bd(%b4 : memref<16xi32>, 0, 16)
      aie.use_lock(%full4, Release, 1)
      aie.next_bd ^take
    ^end:
      aie.end
    }
    aie.core(%t4) {
      aie.use_lock(%full4, AcquireGreaterEqual, 2)
      aie.end
    }
"""
"""A core that takes two packets, of one of two senders."""
ALONE = (
    THIRD.replace(THIRD[THIRD.index("    aie.packet_flow(5)") : THIRD.index("    %b4")], "")
    .replace("      aie.use_lock(%full4, AcquireGreaterEqual, 2)", TWICE)
    .replace("    %full4", '    %free4 = aie.lock(%t4, 0) {init = 1 : i32, sym_name = "free4"}\n    %full4')
    .replace("    ^take:", "    ^take:\n      aie.use_lock(%free4, AcquireGreaterEqual, 1)")
)
"""A core that takes two packets of the sender to the other ones, and sends nothing back."""


def dealt(ids: tuple[int, ...], *, others: int = 0, alone: bool = False) -> str:
    """A host that sends packets with ids to two cores, of which each sends two of them back.

    Args:
        ids: of the packets.
        others: packets that another channel of the host sends to a third core.
        alone: a third core takes two packets of the same channel, and sends nothing back.
    """
    cores = "".join(CORE.replace("ROW", str(row)).replace("TO", str(row - 2)) for row in (2, 3))
    cores += ALONE * alone
    lines = [MOVE.format("y", 32 * n, 32, "", 8 + n, f"out{2 + n}") for n in range(2)]
    for n, packet in enumerate(ids):
        header = f", packet = <pkt_id = {packet}, pkt_type = 0>"
        lines.append(MOVE.format("x", 16 * (n % 4), 16, header, n, "in"))
    lines += [f"aiex.npu.dma_wait {{symbol = @out{row}}}" for row in (2, 3)]
    if others:
        cores += THIRD
        header = ", packet = <pkt_id = 5, pkt_type = 0>"
        lines[2:2] = [MOVE.format("x", 16 * n, 16, header, 10 + n, "other") for n in range(others)]
    body = "\n".join(lines)
    return f"""module {{
  aie.device(npu1_1col) {{
    %s = aie.tile(0, 0)
    aie.shim_dma_allocation @in(%s, MM2S, 0)
{cores}
    aie.runtime_sequence(%x: memref<64xi32>, %y: memref<64xi32>) {{
{body}
    }}
  }}
}}"""


LAST = """        aie.use_lock(%done2, Release, 1)
      }
"""
WAITS = f"""{LAST}      aie.use_lock(%done2, AcquireGreaterEqual, 5)
      aie.use_lock(%full2, AcquireGreaterEqual, 1)
"""
"""A wait that never ends, before one for a third packet."""


FIX = "Send the surplus packets of id 2 with id 3."


def checked(text: str) -> tuple[Finding, ...]:
    """Findings before a run."""
    return tuple(check("d", partial(of_mlir, loaded(text))).findings)


def of_run(text: str) -> tuple[Finding, ...]:
    """Findings of a run."""
    return loaded(text).run(np.ones(64, np.int32), max_cycles=40_000).result.findings


@pytest.mark.parametrize("before", [False, True])
def test_a_packet_with_the_id_of_another_core_is_named(*, before: bool) -> None:
    """Core (0, 3) takes as many as the other one, and gets one less."""
    for ids in ((2, 3, 2, 2), (2, 3, 2, 3)):
        found = checked(dealt(ids)) if before else of_run(dealt(ids))
        if ids[-1] == 3:
            assert not found
            continue
        assert found[0].code == ("MT0108" if before else "MT0304")
        assert "'in' has sent compute(0,2) S2MM 0 packets of id 2 that nothing takes" in found[
            0
        ].message.replace(" ('b2')", "")
        assert "core (0, 2) has ended and leaves 1 of lock 1 'full2'" in found[0].message
        assert found[0].fix == FIX


@pytest.mark.parametrize(
    "text",
    [
        dealt((2, 3, 2)).replace(
            '{init = 0 : i32, sym_name = "full2"}', '{init = 1 : i32, sym_name = "full2"}'
        ),
        dealt((2, 3, 2), others=3),
        dealt((2, 3, 2, 4, 2, 4, 4), alone=True),  # two have one too many, and one packet is missing
        dealt((2, 3, 2, 2)).replace(LAST, WAITS),  # the first core would take its third one too
    ],
)
def test_what_a_lock_began_with_and_what_another_channel_sent_is_not_blamed_on_a_sender(text: str) -> None:
    """One packet is missing, and none has another id, or it is not known which one."""
    findings = checked(text) + of_run(text)
    assert findings
    assert not any("that nothing takes" in each.message for each in findings)


def test_another_core_that_has_ended_has_nothing_to_do_with_what_is_left() -> None:
    """The third core takes two packets of another channel, and ends."""
    finding = of_run(dealt((2, 3, 2, 2), others=2))[0]
    assert "core (0, 2) has ended and leaves 1 of" in finding.message
    assert finding.fix == FIX
