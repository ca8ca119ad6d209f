"""What the host programs of mlir-aie's hardware tests give to their designs and expect of them.

Facts alone, by the path of the MLIR file below the folder of the tests (mlir-aie, test/npu-xrt): the arrays a
host passes, by position, and those it compares afterwards. Functions that cores call and the text only
declares are here in NumPy. The files themselves stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Check = Array | Callable[[Array], bool]


@dataclass(frozen=True)
class Launch:
    """A run of a host sequence.

    Attributes:
        arguments: names of arrays, or scalars, by position.
        device: symbol of the device whose sequence it is; empty = the only one that has one.
        parameters: values of the scratchpad before it, by name.
        again: the array is as the launch before left it; else it is new.
    """

    arguments: Sequence[str | int]
    device: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)
    again: bool = False


@dataclass(frozen=True)
class Facts:
    """What a host does with a design.

    Attributes:
        data: its arrays, by name; those that it only reads back begin as zeros.
        expected: of those that it compares what must be in their first elements, or a test of them.
        launches: runs, one after another, on the same arrays.
        functions: that cores call.
        device: what ``NPUDEVICE`` stands for.
    """

    data: Mapping[str, Array]
    expected: Mapping[str, Check]
    launches: Sequence[Launch]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    device: str = "npu1"


def _up(count: int, first: int = 1, dtype: str = "int32") -> Array:
    return np.arange(first, first + count).astype(dtype)


def _zeros(count: int, dtype: str = "int32") -> Array:
    return np.zeros(count, dtype)


def _three(given: Array, wanted: Array, middle: int = 32, **more: Any) -> Facts:
    """Most hosts pass an input, an array that nobody uses, and an output."""
    data = {"in": given, "other": _zeros(middle, given.dtype.name), "out": np.zeros_like(wanted)}
    return Facts(data, {"out": wanted}, [Launch(("in", "other", "out"))], **more)


def _two(given: Array, wanted: Array, **more: Any) -> Facts:
    data = {"in": given, "out": np.zeros_like(wanted)}
    return Facts(data, {"out": wanted}, [Launch(("in", "out"))], **more)


def _only_out(count: int, wanted: Check, dtype: str = "int32", before: int = 0, **more: Any) -> Facts:
    names = [f"other{n}" for n in range(before)]
    data = {name: _zeros(64) for name in names} | {"out": _zeros(count, dtype)}
    return Facts(data, {"out": wanted}, [Launch((*names, "out"))], **more)


def _both(one: Array, other: Array, wanted: Array, **more: Any) -> Facts:
    data = {"a": one, "b": other, "c": np.zeros_like(wanted)}
    return Facts(data, {"c": wanted}, [Launch(("a", "b", "c"))], **more)


# Functions of cores


def _add_one(source: Array, target: Array, count: int) -> None:
    target[:count] = source[:count] + 1


def _scale_by_two(source: Array, target: Array, count: int) -> None:
    target[:count] = source[:count] * 2


def _scale_int32(source: Array, target: Array) -> None:
    target[...] = 3 * source


def _vector_scalar(a: Array, c: Array, factor: Array, count: int) -> None:
    c[:count] = factor[0] * a[:count]


def _threshold(source: Array, target: Array, width: int, limit: int, largest: int, _kind: int) -> None:
    target[:width] = np.where(source[:width] > limit, largest, 0)


def _sum(a: Array, c: Array) -> None:
    c += a


def _zero(c: Array) -> None:
    c[...] = 0


Actions = Generator[Any, Array, None]
_WIDE = 32  # lanes of int32 in 1024 bits, which go over the cascade as two values


def _put(core: Any, first: int) -> Actions:
    """Put 1024 bits with a number in the first lane on the cascade."""
    lanes = np.zeros(_WIDE, np.int32)
    lanes[0] = first
    for half in np.split(lanes, 2):
        yield core.put_cascade(half)


def _get(core: Any) -> Generator[Any, Array, int]:
    """Get 1024 bits from the cascade; the number in their first lane."""
    low = yield core.get_cascade()
    yield core.get_cascade()
    return int(low[0])


def _begins(*, core: Any) -> Actions:
    yield from _put(core, 14)


def _passes_on(*, core: Any) -> Actions:
    yield from _get(core)
    yield from _put(core, 114)


def _ends(target: Array, count: int, *, core: Any) -> Actions:
    found = yield from _get(core)
    target[:count] = 0
    target[5] = found + 100


def _chained(*, puts: bool, gets: bool) -> Callable[..., Actions]:
    """A product whose sums begin with those of the core before, for the core behind, one by one."""

    def product(a: Array, b: Array, c: Array, *, core: Any) -> Actions:
        sums = np.zeros_like(c)
        _blocks(a, b, sums)
        target = c.reshape(-1)
        for n, own in enumerate(sums.reshape(-1)):
            before = (yield from _get(core)) if gets else 0
            target[n] += own + before
            if puts:
                yield from _put(core, target[n])

    return product


_CASCADED = {
    f"matmul_scalar_{name}_4x1x4_4x4x4_i32_i32": _chained(puts="put" in name, gets="get" in name)
    for name in ("put", "put_get", "get")
}


def _nothing() -> None:
    """Marks of a trace."""


_MARKS = {"event_0": _nothing, "event_1": _nothing, "flush_trace": _nothing}


def _blocks(a: Array, b: Array, c: Array) -> None:
    """Blocks a[k][m][..], b[n][k][..], c[n][m][..]."""
    c += np.einsum("kmxy,nkyz->nmxz", a, b).astype(c.dtype)


# Inputs that need more than a line


def _padded_2d() -> Array:
    found = np.full((64, 64), 13, np.int8)
    found[:2] = found[63:] = 12
    found[:, :4] = found[:, 60:] = 12
    return found


def _padded_rows(columns: slice, add: int, dtype: str) -> Array:
    found: Array = np.zeros((4, 16), dtype)
    inner = found[:, columns]
    inner[...] = np.arange(1, inner.size + 1).reshape(inner.shape)
    found += np.array(add, dtype)
    return found


def _masked() -> Array:
    words = np.full(8, 0x37373737, np.uint32)
    words[0] = (words[0] & 0x0F0F0F0F) | (0x12345678 & 0xF0F0F0F0)
    words[1] = (words[1] & 0xF0F0F0F0) | (0x9ABCDEF0 & 0x0F0F0F0F)
    return words + 1


def _control(stream: int, operation: int, beats: int, address: int) -> int:
    header = stream << 24 | operation << 22 | beats << 20 | address
    return header | (header.bit_count() % 2 == 0) << 31


_RELEASES = [_control(0, 0, 0, 0x1F000), 2, _control(0, 0, 0, 0x1F020), 2]
_READS = [_control(2, 1, 3, 0x440 + 16 * n) for n in range(2)]


def _control_packets(words: list[int], wanted: Mapping[str, Array]) -> Facts:
    given = np.zeros(64, np.uint32)
    given[: len(words)] = words
    data = {"read": _zeros(64), "packets": given, "out": _zeros(64)}
    return Facts(data, wanted, [Launch(("read", "packets", "out"))])


def _task_queue() -> Facts:
    a, b, c = _up(5, 0), _up(96, 1), _up(96, 2)
    wanted = np.concatenate([[a.sum()], (b + c).reshape(8, 12).sum(1)]).astype(np.int32)
    data = {"a": a, "b": b, "c": c, "d": _zeros(9)}
    return Facts(data, {"d": wanted}, [Launch(tuple("abcd"))])


def _pairs() -> Facts:
    values = {f"in{n}": _up(64, 0) * np.int32(n + 1) for n in range(8)}
    data = values | {f"out{n}": _zeros(64) for n in range(8)}
    names = [f"{side}{n}" for n in range(8) for side in ("in", "out")]
    return Facts(data, {f"out{n}": values[f"in{n}"] for n in range(8)}, [Launch(names)])


def _lanes() -> Facts:
    data = {
        f"{side}{n}": _up(64, n) if side == "in" else _zeros(64)
        for n in range(3)
        for side in ("in", "mid", "out")
    }
    first = [f"{side}{n}" for n in range(3) for side in ("in", "mid")]
    then = [f"{side}{n}" for n in range(3) for side in ("mid", "out")]
    launches = [Launch(first, "aie_add_1"), Launch(then, "aie_add_2")]
    return Facts(data, {f"out{n}": data[f"in{n}"] + np.int32(3) for n in range(3)}, launches)


def _cumsum() -> Facts:
    rows = np.zeros((8, 16), np.int32)
    rows[0] = rows[1] = 1
    for n in range(2, 8):
        rows[n] = rows[:n].sum(0)
    given = np.zeros(128, np.int32)
    given[:16] = 1
    functions: Mapping[str, Callable[..., Any]] = {"sum": _sum, "zero": _zero}
    return Facts({"xy": given}, {"xy": rows}, [Launch(("xy",))], functions)


def _slices() -> Facts:
    a, b = _up(2560), _up(2560, 10001)
    wanted = np.stack([a.reshape(10, 256), b.reshape(10, 256)], 1).astype(np.int32)
    return _both(a, b, wanted)


def _matmul(more: Mapping[str, Callable[..., Any]]) -> Facts:
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-1000, 1000, (16, 16)).astype(np.int32) for _ in range(2))
    return _both(a, b, a @ b, functions={**_MARKS, **more})


def _scaled() -> Facts:
    given = np.random.default_rng(42).integers(1, 100, 4096, dtype=np.int32)
    functions = {"vector_scalar_mul_aie_scalar": _vector_scalar}
    return _both(given, np.array([3], np.int32), given * np.int32(3), functions=functions)


def _thresholds() -> Facts:
    given = np.random.default_rng(3).integers(0, 255, 128 * 64).astype(np.uint8)
    wanted = np.where(given > 50, 255, 0).astype(np.uint8)
    return _three(given, wanted, 128, functions={"thresholdLine": _threshold})


def _parameters() -> Facts:
    launches = [
        Launch(("one",), "test", {"foo": 0x4040, "bar": 0x4080}),
        Launch(("two",), "test", {"foo": 0x4000, "bar": 0x40A0}),
    ]
    wanted = {"one": np.array([0x4140], np.uint16), "two": np.array([0x4120], np.uint16)}
    return Facts({name: _zeros(2, "uint16") for name in wanted}, wanted, launches)


def _offsets() -> Facts:
    data = {"in": _up(32, 0)} | {f"out{n}": _zeros(8) for n in (0, 8, 16)}
    launches = [Launch(("in", f"out{n}"), "test", {"input_offset": n}) for n in (0, 8, 16)]
    return Facts(data, {f"out{n}": _up(8, n) for n in (0, 8, 16)}, launches)


def _each(count: int, sources: int) -> Callable[[Array], bool]:
    return lambda got: bool((np.bincount(got.view(np.uint8), minlength=256)[1 : sources + 1] == count).all())


def _repeats_one_more(got: Array) -> bool:
    first, second = got[:8], got[8:]
    return bool((first == first[0]).all() and (second == first[0] + 1).all())


def _quarters(count: int) -> Array:
    return np.concatenate([_up(count, 1 + n * count) for n in (2, 0, 3, 1)])


def _reconfigured() -> Facts:
    given = _up(16, 0)
    wanted = given + np.repeat(np.array([2, 3, 0, 5], np.int32), 4)
    data = np.zeros(512, np.int32)
    data[:16] = given
    return Facts({"x": data}, {"x": wanted}, [Launch(("x",), "main")])


def _in_place(given: Array, wanted: Array, count: int, device: str) -> Facts:
    data = np.zeros(count, given.dtype)
    data[: given.size] = given
    return Facts({"x": data}, {"x": wanted}, [Launch(("x",), device)])


def _bytes(count: int, wrap: int) -> Array:
    return (np.arange(count) % wrap + 1).astype(np.int8)


def _more_by_core(given: Array, first: int) -> Array:
    return (given.reshape(4, -1) + np.arange(first, first + 4, dtype=np.int8)[:, None]).astype(np.int8)


def _of_configure(given: Array, wanted: Array) -> Facts:
    return Facts(
        {"in": given, "out": np.zeros_like(wanted)}, {"out": wanted}, [Launch(("in", "out"), "main")]
    )


def _ramps(count: int) -> Facts:
    data = {"in": _up(256), "out": _zeros(4096)}
    return Facts(data, {"out": np.tile(_up(256), count)}, [Launch(("in", "out", count))], device="npu2")


def _chosen(copies: int) -> Facts:
    data = {"in": _up(256), "out": np.full(4096, -12345, np.int32), "same": np.full(4096, -12345, np.int32)}
    wanted = {"out": np.tile(_up(256), copies), "same": data["same"]}
    launches = [Launch(("in", "out", copies, 1)), Launch(("in", "same", copies, 0))]
    return Facts(data, wanted, launches, device="npu2")


def _with_pads() -> Array:
    found = np.full(16, 42, np.int32)
    found[2:15] = np.arange(1, 14)
    return found


def _added(n: int, first: int) -> Facts:
    """Two kernels after each other, the second on what the first has left."""
    data = {"in": _up(64), "mid": _zeros(64), "out": _zeros(64), "other": _zeros(32)}
    names = [("in", "other", "mid"), ("mid", "other", "out")] if n == 3 else [("in", "mid"), ("mid", "out")]
    devices = ("design1", "design2") if n == 3 else ("aie_add_1", "aie_add_2")
    launches = [Launch(*pair) for pair in zip(names, devices, strict=True)]
    return Facts(data, {"out": _up(64, first)}, launches)


def _add_two_designs() -> Facts:
    data = {"a": _up(64), "b": _up(64, 2), "c": _zeros(64), "d": _zeros(64)}
    launches = [Launch(("a", "c"), "add_one"), Launch(("b", "d"), "add_two")]
    return Facts(data, {"c": _up(64, 2), "d": 2 + 102 + _up(64, 0)}, launches)


def _moved() -> Iterator[tuple[str, Facts]]:
    """Designs that move data and change nothing."""
    for name in ("blockwrite_using_locks", "writebd", "writebd_tokens"):
        yield f"tile_dmas/{name}/aie.mlir", _both(_up(4096), _zeros(4096), _up(4096))
        yield f"memtile_dmas/{name}/aie.mlir", _both(_up(4096), _zeros(4096), _up(4096))
    for name in ("lock", "token"):
        yield f"core_dmas/dma_configure_task_{name}/aie.mlir", _two(_up(1024), _up(1024))
        yield f"memtile_dmas/dma_configure_task_{name}/aie.mlir", _two(_up(4096), _quarters(1024))


_ADDED_BLOCK = np.tile(np.array([1, 2, 3, 4, 42, 6, 7, 8], np.int32), 8)
_SUMS = _both(_up(256), _up(256, 0), _up(256) + _up(256, 0))
_FAN = np.repeat(np.array([13, 8], np.int8), 64 * 64)
_ONES = np.ones(128 * 64, np.int8)

FACTS: Mapping[str, Facts] = {
    "add_12_i8_using_2d_dma_op_with_padding/aie.mlir": _three(np.ones(61 * 56, np.int8), _padded_2d()),
    "add_21_i8_using_dma_op_with_padding/aie.mlir": _three(
        _up(32, 1, "int8"), _padded_rows(slice(4, 12), 21, "int8")
    ),
    "add_256_using_dma_op_no_double_buffering/aie.mlir": _three(_up(64, 0), _up(64, 256)),
    "add_314_using_dma_op/aie.mlir": _three(_up(64), _up(64, 315)),
    "add_378_i32_using_dma_op_with_padding/aie.mlir": _three(
        _up(52), _padded_rows(slice(2, 15), 378, "int32")
    ),
    "add_blockwrite/aie.mlir": _three(_up(64), _up(64) + _ADDED_BLOCK),
    "add_maskwrite/aie.mlir": _only_out(64, _masked(), "uint32"),
    "add_multi_arg_runlist/aie.mlir": _lanes(),
    "add_one_cpp_aiecc/aie.mlir": _three(_up(64), _up(64, 2)),
    "add_one_ctrl_packet/aie.mlir": _control_packets(
        [*_RELEASES, *_READS], {"out": _up(8, 7), "read": _up(8, 8)}
    ),
    "add_one_ctrl_packet_4_cores/aie.mlir": _control_packets(_RELEASES * 4, {"out": np.tile(_up(8, 7), 4)}),
    "add_one_ctrl_packet_col_overlay/aie.mlir": _control_packets(
        _RELEASES * 4, {"out": np.tile(_up(8, 7), 4)}
    ),
    "add_one_func_link_with_peano/aie.mlir": _three(_up(64), _up(64, 2), functions={"add_one": _add_one}),
    "add_one_objFifo/aie.mlir": _three(_up(64), _up(64, 42)),
    "add_one_objFifo_elf/aie.mlir": _three(_up(64), _up(64, 42)),
    "add_one_scale_func_link_with_peano/aie.mlir": _three(
        _up(64), 2 * _up(64, 2), functions={"add_one": _add_one, "scale_by_two": _scale_by_two}
    ),
    "add_one_two/aie.mlir": _added(3, 4),
    "add_one_two_runlist/aie.mlir": _added(2, 4),
    "add_one_two_txn/aie.mlir": _add_two_designs(),
    "add_one_using_dma/aie.mlir": _three(_up(64), _up(64, 2)),
    "ctrl_packet_reconfig/aie.mlir": _of_configure(_up(4096, 1, "int8"), _up(4096, 13, "int8")),
    "ctrl_packet_reconfig_1x4_cores/aie.mlir": _of_configure(
        _up(4 * 4096, 1, "int8"), _more_by_core(_up(4 * 4096, 1, "int8"), 12)
    ),
    "ctrl_packet_reconfig_4x1_cores/aie.mlir": _of_configure(
        _bytes(4 * 4096, 128), _more_by_core(_bytes(4 * 4096, 128), 12)
    ),
    "ctrl_packet_reconfig_elf/aie.mlir": _of_configure(_bytes(4096, 64), _bytes(4096, 64) + np.int8(3)),
    "dma_op_pad_value_i32/aie.mlir": _two(_up(13), _with_pads(), device="npu2"),
    "dmabd_task_queue/aie.mlir": _task_queue(),
    "dynamic_conditional_passthrough/aie.mlir": _chosen(8),
    "dynamic_pingpong_passthrough/aie.mlir": _ramps(8),
    "dynamic_pingpong_trace/aie.mlir": _ramps(8),
    "loadpdi/aie.mlir": _in_place(_up(256, 5), _up(256, 7), 512, "add_two"),
    "local_reset/core/aie.mlir": _only_out(16, _repeats_one_more),
    "local_reset/core_reset_op/aie.mlir": _only_out(16, _repeats_one_more),
    "local_reset/dma/aie.mlir": _only_out(8, _up(8, 100)),
    "local_reset/dma_channel_reset_op/aie.mlir": _only_out(8, _up(8, 100)),
    "many_buffers/aie.mlir": _pairs(),
    "cascade_flows/aie.mlir": _three(
        _up(64),
        np.where(np.arange(64) == 5, 214, 0).astype(np.int32),
        functions={"extern_kernel1": _begins, "extern_kernel2": _passes_on, "extern_kernel3": _ends},
    ),
    "matrix_multiplication_using_cascade/aie_bufferx4.mlir": _matmul({}),
    "matrix_multiplication_using_cascade/aie_cascadex4.mlir": _matmul(_CASCADED),
    "scratchpad_regwrite/aie.mlir": Facts(
        {"first": _zeros(1), "second": _zeros(1)},
        {"first": np.array([42], np.int32), "second": np.array([43], np.int32)},
        [
            Launch(("first",), "regwrite_test", {"0": 42 << 2}),
            Launch(("second",), "regwrite_test", {"0": 1 << 2}, again=True),
        ],
        device="npu2",
    ),
    "tile_mapped_read/aie.mlir": _two(np.full(64, 0xFABCDEF, np.int32), _up(64, 0) % 8 + np.int32(42)),
    "matrix_multiplication_using_cascade/aie_plainx1.mlir": _matmul(
        {"matmul_scalar_4x2x4_4x8x4_i32_i32": _blocks}
    ),
    "matrix_multiplication_using_cascade/aie_plainx4.mlir": _matmul(
        {"matmul_scalar_2x2x2_4x8x4_i32_i32": _blocks}
    ),
    "multi_source_packet_flow/aie.mlir": _only_out(
        16, lambda got: sorted(got.tolist()) == [*range(1, 9), *range(101, 109)], before=2
    ),
    "objectfifo_pad_value_i32/aie.mlir": _two(_up(13), _with_pads(), device="npu2"),
    "packet_flow/aie.mlir": _three(_ONES[:4096], np.full(4096, 13, np.int8)),
    "packet_flow_fanin/aie.mlir": _three(_ONES, _FAN),
    "packet_flow_fanout/aie.mlir": _three(_ONES, _FAN),
    "packet_flow_same_id_merge_3way/aie.mlir": _only_out(768, _each(256, 3), "int8"),
    "reconfigure_loadpdi/aie.mlir": _reconfigured(),
    "reconfigure_loadpdi_persistent_memtile/aie.mlir": _in_place(
        _up(8, 0), np.tile(np.array([11, 22, 33, 44], np.int32), 2), 512, "main"
    ),
    "runtime_cumsum/aie.mlir": _cumsum(),
    "scratchpad_addr_offset/aie.mlir": _offsets(),
    "scratchpad_params/aie.mlir": _parameters(),
    "shim_dma_bd_reuse/aie.mlir": _slices(),
    "static_L1_init/aie.mlir": _SUMS,
    "two_col/aie.mlir": _thresholds(),
    "vec_mul_event_trace/aie.mlir": _scaled(),
    "vec_mul_trace_distribute_lateral/aie.mlir": _scaled(),
    "vec_vec_add_memtile_init/aie.mlir": _SUMS,
    "vec_vec_add_tile_init/aie.mlir": _SUMS,
    "vector_scalar_using_dma/aie.mlir": _both(
        _up(4096), _zeros(4096), 3 * _up(4096), functions={"scale_int32": _scale_int32}
    ),
    "xrt_handle_lifetime/aie.mlir": _three(_up(64), _up(64, 2)),
    **dict(_moved()),
}
