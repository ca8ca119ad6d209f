"""Designs of the published verdicts on queues and launches, made from the facts that their reports give."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_TOKENS = """\
    aie.packet_flow(0x3) {
      aie.packet_source<%t0, "TileControl" : 0>
      aie.packet_dest<%t0, "South" : 0>
    }
"""
_INTERFACE = "    %t0 = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}\n"


def _bd(label: str, buffer: str, acquire: str, release: str, following: str, words: int) -> str:
    return (
        f"    ^{label}:\n"
        f"      aie.use_lock(%{acquire}, AcquireGreaterEqual, 1)\n"
        f"      aie.dma_bd(%{buffer} : memref<{words}xi32>, 0, {words})\n"
        f"      aie.use_lock(%{release}, Release, 1)\n"
        f"      aie.next_bd ^{following}\n"
    )


def _design(device: str, array: str, sequence: str) -> str:
    return f"module {{\n  aie.device({device}) {{\n{_INTERFACE}{array}{_TOKENS}{sequence}  }}\n}}\n"


def _task(name: str, array: str, words: int, channel: str, more: str = "") -> str:
    """A task of the first words of an array, which is given with its type."""
    return (
        f"      %{name} = aiex.dma_configure_task(%t0, {channel}) {{\n"
        f"        aie.dma_bd(%{array}, 0, {words})\n"
        f"        aie.end\n      }}{more}\n"
    )


def _start(name: str) -> str:
    return f"      aiex.dma_start_task(%{name})\n"


def _sequence(
    given: dict[str, int],
    sent: Sequence[tuple[str, str, int]],
    polled: Collection[int] = (),
    *,
    again: bool = False,
) -> str:
    """A task that receives all into ``%out``, tasks that send, and the wait for the first one.

    Args:
        given: words of each array.
        sent: channel, array and words of each task.
        polled: numbers of the tasks that are pushed after a poll of the queue of MM2S 0.
        again: tasks that are alike are one, which is started again.
    """
    arguments = ", ".join(f"%{name}: memref<{words}xi32>" for name, words in given.items())
    token = " {issue_token = true}"
    lines = _task("all", f"out : memref<{given['out']}xi32>", given["out"], "S2MM, 0", token) + _start("all")
    for n, (channel, name, words) in enumerate(sent):
        if n in polled:
            lines += "      aiex.npu.maskpoll(%status, %zero, %depth) : i32, i32, i32\n"
        number = sent.index((channel, name, words)) if again else n
        if number == n:
            lines += _task(f"task{n}", f"{name} : memref<{given[name]}xi32>", words, channel)
        lines += _start(f"task{number}")
    constants = (
        "      %status = arith.constant 119336 : i32\n      %zero = arith.constant 0 : i32\n"
        "      %depth = arith.constant 4194304 : i32\n"
    )
    body = (constants if polled else "") + lines + "      aiex.dma_await_task(%all)\n"
    return f"    aie.runtime_sequence({arguments}) {{\n{body}    }}\n"


def passed_on(tasks: int, words: int = 2048, device: str = "npu2_1col", polled: Collection[int] = ()) -> str:
    """Tasks of an interface tile to a core tile that passes them on, 256 at a time (PR 3734)."""
    array = (
        "    %t2 = aie.tile(0, 2)\n"
        '    %held = aie.buffer(%t2) {sym_name = "held"} : memref<256xi32>\n'
        '    %free = aie.lock(%t2, 0) {init = 1 : i32, sym_name = "free"}\n'
        '    %full = aie.lock(%t2, 1) {init = 0 : i32, sym_name = "full"}\n'
        "    aie.flow(%t0, DMA : 0, %t2, DMA : 0)\n    aie.flow(%t2, DMA : 0, %t0, DMA : 0)\n"
        "    %m = aie.mem(%t2) {\n      %0 = aie.dma_start(S2MM, 0, ^in, ^start)\n"
        + _bd("in", "held", "free", "full", "in", 256)
        + "    ^start:\n      %1 = aie.dma_start(MM2S, 0, ^out, ^end)\n"
        + _bd("out", "held", "full", "free", "out", 256)
        + "    ^end:\n      aie.end\n    }\n"
    )
    given = {"a": words, "out": tasks * words}
    return _design(device, array, _sequence(given, [("MM2S, 0", "a", words)] * tasks, polled))


def _ring(names: Sequence[tuple[str, str, str, str]], words: int) -> str:
    """BDs that follow each other in a circle: label, buffer, acquired and released lock of each."""
    following = [each[0] for each in (*names[1:], names[0])]
    return "".join(_bd(*each, follows, words) for each, follows in zip(names, following, strict=True))


def _pair(name: str, first_lock: int, words: int) -> str:
    return "".join(
        f'    %{name}{n} = aie.buffer(%t1) {{sym_name = "{name}{n}"}} : memref<{words}xi32>\n' for n in (0, 1)
    ) + "".join(
        f"    %{name}_{kind} = aie.lock(%t1, {first_lock + n}) "
        f'{{init = {2 - 2 * n} : i32, sym_name = "{name}_{kind}"}}\n'
        for n, kind in enumerate(("free", "full"))
    )


def weights(sizes: Sequence[int], buffer: int, device: str = "npu2_1col") -> str:
    """Tasks of given words through two buffers of a memory tile that passes them on (mlir-air PR 1604)."""
    filled = [(f"i{n}", f"b{n}", "b_free", "b_full") for n in (0, 1)]
    emptied = [(f"o{n}", f"b{n}", "b_full", "b_free") for n in (0, 1)]
    array = (
        "    %t1 = aie.tile(0, 1)\n"
        + _pair("b", 0, buffer)
        + "    aie.flow(%t0, DMA : 0, %t1, DMA : 0)\n    aie.flow(%t1, DMA : 0, %t0, DMA : 0)\n"
        "    %m = aie.memtile_dma(%t1) {\n      %0 = aie.dma_start(S2MM, 0, ^i0, ^start)\n"
        + _ring(filled, buffer)
        + "    ^start:\n      %1 = aie.dma_start(MM2S, 0, ^o0, ^end)\n"
        + _ring(emptied, buffer)
        + "    ^end:\n      aie.end\n    }\n"
    )
    given = {"a": max(sizes), "out": sum(sizes)}
    return _design(device, array, _sequence(given, [("MM2S, 0", "a", words) for words in sizes]))


def channel_by_channel(chunks: int, words: int = 1024, device: str = "npu2_1col") -> str:
    """All chunks of A, then all of B, each into two buffers; B is taken first (mlir-air issue 1822)."""
    emptied = [
        (f"o{name}{n}", f"{name}{n}", f"{name}_full", f"{name}_free") for n in (0, 1) for name in ("b", "a")
    ]
    array = (
        "    %t1 = aie.tile(0, 1)\n"
        + _pair("a", 0, words)
        + _pair("b", 2, words)
        + "".join(f"    aie.flow(%t0, DMA : {n}, %t1, DMA : {n})\n" for n in (0, 1))
        + "    aie.flow(%t1, DMA : 0, %t0, DMA : 0)\n    %m = aie.memtile_dma(%t1) {\n"
        "      %0 = aie.dma_start(S2MM, 0, ^ia0, ^second)\n"
        + _ring([(f"ia{n}", f"a{n}", "a_free", "a_full") for n in (0, 1)], words)
        + "    ^second:\n      %1 = aie.dma_start(S2MM, 1, ^ib0, ^start)\n"
        + _ring([(f"ib{n}", f"b{n}", "b_free", "b_full") for n in (0, 1)], words)
        + "    ^start:\n      %2 = aie.dma_start(MM2S, 0, ^ob0, ^end)\n"
        + _ring(emptied, words)
        + "    ^end:\n      aie.end\n    }\n"
    )
    given = {"a": words, "b": words, "out": 2 * chunks * words}
    sent = [(f"MM2S, {n}", name, words) for n, name in enumerate("ab") for _ in range(chunks)]
    return _design(device, array, _sequence(given, sent, again=True))


def blocked(*words: int, device: str = "npu2_1col") -> str:
    """A task of descriptors of so many words, whose token a host waits for, into one without a lock."""
    array = (
        "    %t2 = aie.tile(0, 2)\n"
        '    %held = aie.buffer(%t2) {sym_name = "held"} : memref<256xi32>\n'
        '    %never = aie.lock(%t2, 0) {init = 0 : i32, sym_name = "never"}\n'
        "    aie.flow(%t0, DMA : 0, %t2, DMA : 0)\n"
        "    %m = aie.mem(%t2) {\n      %0 = aie.dma_start(S2MM, 0, ^in, ^end)\n"
        + _bd("in", "held", "never", "never", "in", 256)
        + "    ^end:\n      aie.end\n    }\n"
    )
    chain = "".join(
        f"    {f'^bd{n}:' if n else ''}\n        aie.dma_bd(%a : memref<{max(words)}xi32>, 0, {each})\n"
        f"        {f'aie.next_bd ^bd{n + 1}' if n + 1 < len(words) else 'aie.end'}\n"
        for n, each in enumerate(words)
    )
    body = (
        f"      %one = aiex.dma_configure_task(%t0, MM2S, 0) {{\n{chain}      }} {{issue_token = true}}\n"
        f"{_start('one')}      aiex.dma_await_task(%one)\n"
    )
    sequence = f"    aie.runtime_sequence(%a: memref<{max(words)}xi32>) {{\n{body}    }}\n"
    return _design(device, array, sequence)
