"""Does every bad descriptor get its clear error: field, value, limit, source, way out; and all at once?"""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.bd.codec import decode, encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.descriptor_cases import parse_words, words_of_case
from memtile.bd.windows import OWN, WEST, DmaAddress
from memtile.errors import DescriptorError

Case = dict[str, Any]
MEMORY: Case = {"tile": "memory", "bd": 5, "length": 64, "address": 131072}
COMPUTE: Case = {"tile": "compute", "bd": 5, "length": 64, "address": 0}
INTERFACE: Case = {"tile": "interface", "bd": 5, "length": 64, "address": 0}
ONE_BD_EACH = "give every position of this loop a BD of its own"
SPLIT = "split the loop over two dimensions or over several BDs"


def problems(case: object) -> list[tuple[str, str]]:
    with pytest.raises(DescriptorError) as caught:
        words_of_case(case)
    assert str(caught.value) == "\n".join(p.message for p in caught.value.problems)
    return [(p.reason, p.message) for p in caught.value.problems]


def test_the_cases_without_a_fault_are_fine() -> None:
    assert [len(words_of_case(case)) for case in (MEMORY, COMPUTE, INTERFACE)] == [8, 6, 8]


RANGES: list[tuple[Case, Case, str, str]] = [
    (MEMORY, {"bd": 48}, "bd_number", "bd is 48, allowed are 0..47 (AM020: 48 BDs)."),
    (COMPUTE, {"bd": -1}, "bd_number", "bd is -1, allowed are 0..15 (AM020: 16 BDs)."),
    (
        MEMORY,
        {"length": 131072},
        "length",
        "Buffer_Length (length) is 131072 words, allowed are 0..131071 words (AM025 DMA_BDn_0: 17-bit "
        "field). Split the transfer over chained BDs.",
    ),
    (
        COMPUTE,
        {"length": 16384},
        "length",
        "Buffer_Length (length) is 16384 words, allowed are 0..16383 words (AM025 DMA_BDn_0: 14-bit "
        "field). Split the transfer over chained BDs.",
    ),
    (
        INTERFACE,
        {"length": -1},
        "length",
        (
            "Buffer_Length (length) is -1 words, allowed are 0..4294967295 words (AM025 DMA_BDn_0: "
            "32-bit field)."
        ),
    ),
    (
        MEMORY,
        {"address": 393216, "dims": [[1, 4]]},
        "address",
        "Base_Address (address) is 393216 words, allowed are 0..393215 words (AM020: DMA address space "
        "of 0x180000 bytes).",
    ),
    (
        COMPUTE,
        {"address": 16384},
        "address",
        (
            "Base_Address (address) is 16384 words, allowed are 0..16383 words (AM025 DMA_BDn_0: "
            "14-bit field)."
        ),
    ),
    (
        MEMORY,
        {"address": 131072.5},
        "address_alignment",
        "Base_Address (address) is 131072.5 words, which is byte address 524290; it must be a multiple "
        "of 4 bytes (AM025: BD addresses count 32-bit words). Start the buffer on a word boundary.",
    ),
    (
        MEMORY,
        {"address": 393153},
        "linear_range",
        "address 393153 + length 64 is 393217 words; the transfer must end by word 393216 (AM020: DMA "
        "address space of 0x180000 bytes). Lower the address or the length.",
    ),
    (
        INTERFACE,
        {"address": 2**46 - 63},
        "linear_range",
        "address 70368744177601 + length 64 is 70368744177665 words; the transfer must end by word "
        "70368744177664 (AM020: DMA address space of 0x1000000000000 bytes). Lower the address or the "
        "length.",
    ),
    (
        MEMORY,
        {"dims": [[0, 2]]},
        "step_d0",
        "D0_Stepsize (dims[0].step) is 0 words, allowed are 1..131072 words (AM025 DMA_BDn_2: 17-bit "
        "field, stored minus one).",
    ),
    (
        COMPUTE,
        {"dims": [[1, 2], [1, 2], [8193, None]]},
        "step_d2",
        "D2_Stepsize (dims[2].step) is 8193 words, allowed are 1..8192 words (AM025 DMA_BDn_3: 13-bit "
        "field, stored minus one). Give every position of this loop a BD of its own.",
    ),
    (
        MEMORY,
        {"dims": [[1, 2], [1, 1024]]},
        "wrap_d1",
        (
            "D1_Wrap (dims[1].wrap) is 1024, allowed are 0..1023 (AM025 DMA_BDn_3: 10-bit field). "
            "Split the loop over two dimensions or over several BDs."
        ),
    ),
    (
        COMPUTE,
        {"dims": [[1, 2], [1, 2], [1, 2]]},
        "wrap_d2",
        "dims[2].wrap is 2; it must be 0, because D2 has no wrap field (AM025: compute tile BD fields).",
    ),
    (
        MEMORY,
        {"dims": [[1, 4], [4, 4]], "pad": [[0, 0], [0, 32]]},
        "pad_d1",
        "D1_Zero_After (pad[1].after) is 32, allowed are 0..31 (AM025 DMA_BDn_5: 5-bit field).",
    ),
    (
        MEMORY,
        {"dims": [[1, 2], [1, 2], [1, 2], [1, None]], "pad": [[1, 1]] * 4},
        "pad_d3",
        "pad has 4 dimensions; there can be at most 3 (AM025: memory tile BD fields).",
    ),
    (
        MEMORY,
        {"dims": [[1, 0]], "pad": [[1, 1]]},
        "pad_needs_wrap_d0",
        "dims[0].wrap is 0 with pad[0].after 1, allowed are 1..1023 (AM020: pads are inserted when a "
        "dimension wraps; the driver refuses it). Give D0 the number of steps after which the pad "
        "comes.",
    ),
    (
        MEMORY,
        {"dims": [[1, 4]], "pad": [[0, 0], [0, 0], [1, 0]]},
        "pad_needs_wrap_d1",
        "dims[1].wrap is 0 with padding above D1, allowed are 1..1023 (AM020: pads are inserted when a "
        "dimension wraps; the driver refuses it). Give D1 the number of steps after which the pad "
        "comes.",
    ),
    (
        COMPUTE,
        {"pad": [[1, 1]]},
        "pad_unsupported",
        "pad is given, but the compute tile has no padding (AM020: memory tile MM2S only).",
    ),
    (
        INTERFACE,
        {"compression": True},
        "compression_unsupported",
        "compression is true, but the interface tile has no compression (AM025: interface tile BD fields).",
    ),
    (
        MEMORY,
        {"axi": {"burst": 128}},
        "axi_unsupported",
        "axi is given, but BDs of the memory tile have no AXI properties (AM025: interface tile BDs only).",
    ),
    (
        MEMORY,
        {"iteration": {"step": 131073, "wrap": 2}},
        "iteration_step",
        "Iteration_Stepsize (iteration.step) is 131073 words, allowed are 1..131072 words (AM025 "
        "DMA_BDn_6: 17-bit field, stored minus one). Give every position of this loop a BD of its own.",
    ),
    (
        MEMORY,
        {"iteration": {"step": 1, "wrap": 65}},
        "iteration_wrap",
        "Iteration_Wrap (iteration.wrap) is 65, allowed are 1..64 (AM025 DMA_BDn_6: 6-bit field, "
        "stored minus one). Give every position of this loop a BD of its own.",
    ),
    (
        MEMORY,
        {"iteration": {"step": 1, "wrap": 1, "current": 64}},
        "iteration_current",
        "Iteration_Current (iteration.current) is 64, allowed are 0..63 (AM025 DMA_BDn_6: 6-bit field).",
    ),
    (MEMORY, {"next": 48}, "next_bd", "Next_BD (next) is 48, allowed are 0..47 (AM020: 48 BDs)."),
    (
        MEMORY,
        {"acquire": {"id": 192, "value": -1}},
        "acquire_id",
        "Lock_Acq_ID (acquire.id) is 192, allowed are 0..191 (AM020: DMA lock ids, west 0..63, own "
        "64..127, east 128..191).",
    ),
    (
        COMPUTE,
        {"acquire": {"id": 1, "value": -65}},
        "acquire_value",
        (
            "Lock_Acq_Value (acquire.value) is -65, allowed are -64..63 (AM025 DMA_BDn_5: 7-bit field, "
            "signed)."
        ),
    ),
    (
        INTERFACE,
        {"release": {"id": 16, "value": 1}},
        "release_id",
        "Lock_Rel_ID (release.id) is 16, allowed are 0..15 (AM025 DMA_BDn_7: 4-bit field).",
    ),
    (
        MEMORY,
        {"release": {"id": 64, "value": 64}},
        "release_value",
        "Lock_Rel_Value (release.value) is 64, allowed are -64..63 (AM025 DMA_BDn_7: 7-bit field, signed).",
    ),
    (
        MEMORY,
        {"packet": {"id": 32}},
        "packet_id",
        "Packet_ID (packet.id) is 32, allowed are 0..31 (AM025 DMA_BDn_0: 5-bit field).",
    ),
    (
        COMPUTE,
        {"packet": {"id": 0, "type": 8}},
        "packet_type",
        "Packet_Type (packet.type) is 8, allowed are 0..7 (AM025 DMA_BDn_1: 3-bit field).",
    ),
    (
        MEMORY,
        {"ooo_id": 64},
        "ooo_id",
        "Out_Of_Order_BD_ID (ooo_id) is 64, allowed are 0..63 (AM025 DMA_BDn_0: 6-bit field).",
    ),
    (
        INTERFACE,
        {"axi": {"burst": 512}},
        "axi_burst",
        (
            "Burst_Length (axi.burst) is 512 bytes, allowed are 64, 128, 256 bytes (AM025 DMA_BDn_4: "
            "2-bit field)."
        ),
    ),
]


@pytest.mark.parametrize(("case", "fault", "reason", "text"), RANGES)
def test_each_fault_is_one_problem_with_its_text(case: Case, fault: Case, reason: str, text: str) -> None:
    (found,) = problems(case | fault)
    where = f"{case['tile']} tile, BD {fault.get('bd', 5)}"
    assert found == (reason, f"{where}: {text}")


@pytest.mark.feature("F42")
@pytest.mark.parametrize(("dimension", "most"), [(0, 63), (1, 31), (2, 15)])
def test_padding_ends_at_the_field_widths_of_three_dimensions(dimension: int, most: int) -> None:
    case = MEMORY | {"dims": [[1, 2], [2, 2], [4, 2]]}
    for side in (0, 1):
        pad = [[0, 0] for _ in range(3)]
        pad[dimension][side] = most
        assert words_of_case(case | {"pad": pad})
        pad[dimension][side] = most + 1
        assert [reason for reason, _ in problems(case | {"pad": pad})] == [f"pad_d{dimension}"]


def test_zeros_of_padding_take_no_room_at_the_end_of_the_address_space() -> None:
    last = MEMORY | {"address": 393215, "length": 3}
    assert [reason for reason, _ in problems(last)] == ["linear_range"]
    assert words_of_case(last | {"pad": [[2, 0]]})
    assert [reason for reason, _ in problems(last | {"pad": [[1, 1]], "dims": [[1, 0]]})] == [
        "pad_needs_wrap_d0"
    ]


# A channel of the memory tile has four dimensions, those of the other tiles three.
@pytest.mark.feature("F46")
@pytest.mark.parametrize(("case", "most"), [(MEMORY, 4), (COMPUTE, 3), (INTERFACE, 3)])
def test_dimensions_are_counted(case: Case, most: int) -> None:
    fitting = [[2, 2]] * (most - 1) + [[2, None]]
    assert words_of_case(case | {"dims": fitting})
    (found,) = problems(case | {"dims": [*fitting, [2, None]]})
    assert found == (
        "dims_count",
        f"{case['tile']} tile, BD 5: dims has {most + 1} dimensions; there can be at most {most} "
        f"(AM020: {case['tile']} tile DMA). Put the outer loops on the iteration, or on more BDs.",
    )


@pytest.mark.parametrize("value", [True, 64.0, "64", None, [64], float("nan"), {}])
@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("bd", "bd_number"),
        ("length", "length"),
        ("address", "address"),
        ("dims.0.0", "step_d0"),
        ("dims.0.1", "wrap_d0"),
        ("pad.0.0", "pad_d0"),
        ("iteration.wrap", "iteration_wrap"),
        ("next", "next_bd"),
        ("acquire.id", "acquire_id"),
        ("release.value", "release_value"),
        ("packet.type", "packet_type"),
        ("ooo_id", "ooo_id"),
    ],
)
def test_only_whole_numbers_are_numbers(field: str, reason: str, value: object) -> None:
    case = full_case()
    *way, last = field.split(".")
    place: Any = case
    for key in way:
        place = place[int(key) if key.isdigit() else key]
    place[int(last) if last.isdigit() else last] = value
    if field in ("next", "bd") and value is None:
        assert words_of_case(case)  # null is how JSON says: not given
        return
    ((found, message),) = problems(case)
    assert found == reason
    assert f" is {json.dumps(value)}; it must be a whole number" in message


def full_case() -> Case:
    case = {
        "dims": [[2, 4], [16, 4]],
        "pad": [[1, 1]],
        "iteration": {"step": 4, "wrap": 2, "current": 1},
        "next": 6,
        "acquire": {"id": 64, "value": -1, "enable": True},
        "release": {"id": 65, "value": 1},
        "packet": {"id": 1, "type": 2},
        "ooo_id": 3,
    }
    return copy.deepcopy(MEMORY | case)


@pytest.mark.parametrize("flag", ["compression", "tlast_suppress", "valid"])
@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_only_true_and_false_are_flags(flag: str, value: object) -> None:
    ((reason, message),) = problems(MEMORY | {flag: value})
    assert reason == flag
    assert f"({flag}) is {json.dumps(value)}; it must be true or false" in message


SHAPES: list[tuple[object, list[str]]] = [
    ([1], ["case: the case is [1]; it must be an object with tile, length and address (descriptor schema)."]),
    (
        MEMORY | {"tile": "shim"},
        [
            'descriptor: tile is "shim"; it must be memory or compute or interface or memory_2p or '
            "compute_2p or interface_2p or memory_v2 or compute_v2 or interface_v2 (AM020: tile kinds with "
            "a DMA)."
        ],
    ),
    (
        {"tile": "memory"},
        [
            "memory tile, BD 0: length is missing (descriptor schema).",
            "memory tile, BD 0: address is missing (descriptor schema).",
        ],
    ),
    (
        MEMORY | {"packet": {"id": 1, "kind": 2}},
        [
            "memory tile, BD 5: packet.kind is not a key; known keys are id, type (descriptor schema). "
            "Did you mean id?"
        ],
    ),
    (
        MEMORY | {"dims": 5},
        ["memory tile, BD 5: dims is 5; it must be a list of [step, wrap] (descriptor schema)."],
    ),
    (
        MEMORY | {"dims": [[1, 2], [3]]},
        ["memory tile, BD 5: dims[1] is [3]; it must be [step, wrap] (descriptor schema)."],
    ),
    (
        MEMORY | {"iteration": [1, 2]},
        [
            "memory tile, BD 5: iteration is [1, 2]; it must be an object with step, wrap, current "
            "(descriptor schema)."
        ],
    ),
    (
        MEMORY | {"acquire": {"id": 65}},
        ["memory tile, BD 5: acquire.value is missing (descriptor schema)."],
    ),
    (
        MEMORY | {"iteration": {"current": 64}},
        [
            "memory tile, BD 5: iteration.step is missing (descriptor schema).",
            "memory tile, BD 5: iteration.wrap is missing (descriptor schema).",
            "memory tile, BD 5: Iteration_Current (iteration.current) is 64, allowed are 0..63 (AM025 "
            "DMA_BDn_6: 6-bit field).",
        ],
    ),
]


@pytest.mark.parametrize(("case", "texts"), SHAPES)
def test_a_wrong_shape_is_named(case: object, texts: list[str]) -> None:
    assert [message for _, message in problems(case)] == texts


def test_an_unknown_key_is_met_with_the_nearest_known_one() -> None:
    (_, first), *_ = problems(MEMORY | {"lenght": 3})
    assert first.startswith(
        "memory tile, BD 5: lenght is not a key; known keys are acquire, address, axi, bd, "
        "compression, dims, iteration, length, next, ooo_id, packet, pad, release, tile, "
        "tlast_suppress, valid"
    )
    assert first.endswith("Did you mean length?")


def test_all_problems_come_at_once_in_order() -> None:
    bad = {
        "bd": 99,
        "length": -1,
        "address": 0.25,
        "dims": [[0, 5000], "x"],
        "next": 77,
        "ooo_id": -1,
        "foo": 1,
    }
    found = [reason for reason, _ in problems(MEMORY | bad)]
    assert found == ["unknown_key", "dims", "bd_number", "length", "address_alignment", "ooo_id", "next_bd"]


# No JSON value anywhere in a case may do anything but encode or be refused.
@pytest.mark.chance
@settings(max_examples=200)
@given(data=st.data())
def test_no_json_is_unforeseen(data: st.DataObject) -> None:
    leaves = st.none() | st.booleans() | st.integers(-5, 300000) | st.floats() | st.text(max_size=3)
    values = st.recursive(
        leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=2), v, max_size=2)
    )
    case = full_case()
    case[data.draw(st.sampled_from(sorted(case)))] = data.draw(values)
    part = case[data.draw(st.sampled_from(sorted(case)))]
    if isinstance(part, dict) and part:
        part[data.draw(st.sampled_from(sorted(part)))] = data.draw(values)
    elif isinstance(part, list) and part:
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(values)
    words: tuple[int, ...] = ()
    try:
        words = words_of_case(case)
    except DescriptorError as error:
        refused = error.problems
    else:
        refused = ()
    assert bool(words) != bool(refused)
    assert all(0 <= word < 2**32 for word in words)
    assert all(p.message.startswith(("memory tile, BD ", "descriptor: tile")) for p in refused)


@pytest.mark.parametrize(
    ("tile", "words", "text"),
    [
        (
            "memory",
            [0] * 6,
            "memory tile, BD 3: 6 words are given; a BD of this tile has 8 (AM025 DMA_BDn_w).",
        ),
        ("compute", [0, 0, 0, 0, 0, 2**32], "word 5 is 0x100000000, allowed are 0x0..0xffffffff"),
        ("compute", [-1, 0, 0, 0, 0, 0], "word 0 is -0x1, allowed are 0x0..0xffffffff"),
        (
            "memory",
            [0, 0, 1 << 30, 0, 0, 0, 0, 0],
            "word 2 sets the reserved bits 0x40000000, allowed are the bits of 0x87ffffff",
        ),
        ("interface", [0, 0, 0, 0, 3 << 30, 0, 0, 0], "Burst_Length has code 3, allowed are 0..2"),
        (
            "shim",
            [0] * 8,
            (
                'descriptor: tile is "shim"; it must be memory or compute or interface or memory_2p or '
                "compute_2p or interface_2p or memory_v2"
            ),
        ),
    ],
)
def test_words_that_no_descriptor_has_are_refused(tile: Any, words: list[int], text: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        decode(tile, words, 3)
    assert text in str(caught.value)


def test_all_bad_words_are_reported_at_once() -> None:
    with pytest.raises(DescriptorError) as caught:
        parse_words({"tile": "compute", "bd": 16, "words": ["0x10", "x", None, 1.5, True, "7"]})
    assert [p.field for p in caught.value.problems] == ["bd", "word 1", "word 2", "word 3", "word 4"]
    assert caught.value.problems[1].message == (
        'compute tile, BD 16: word 1 is "x"; it must be a number or a hexadecimal string (register '
        "word schema)."
    )


def test_python_callers_get_the_same_problems() -> None:
    with pytest.raises(
        DescriptorError,
        match=r"^memory tile: Buffer_Length \(length\) is 131072 words, allowed are 0\.\.131071 words",
    ):
        encode(Descriptor("memory", np.int64(131072), DmaAddress(0)))  # type: ignore[arg-type]
    with pytest.raises(
        DescriptorError,
        match=r"^memory tile: D0_Stepsize \(dims\[0\]\.step\) is 0 words, allowed are 1\.\.131072 words",
    ):
        encode(Descriptor("memory", 4, DmaAddress(0), dims=((0, 4),)))  # type: ignore[arg-type]
    with pytest.raises(
        DescriptorError, match=r"^memory tile, own window: the lock id is 64, allowed are 0\.\.63 "
    ):
        OWN.lock(64)
    with pytest.raises(
        DescriptorError, match=r"^memory tile, west window: the address is -1, allowed are 0\.\.131071 "
    ):
        WEST.address(-1)
