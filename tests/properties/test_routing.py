"""Does the router give every flow it can a legal circuit of its own, through which its words arrive?"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array, MemtileError
from memtile.arch.ports import WIRES, circuit_allowed, port_kind
from memtile.design.channels import Channel
from memtile.design.router import GraphPort, Tree

WORDS = 24
PLACES = [(column, row) for column in range(2) for row in range(1, 6)]


def check_hop(before: GraphPort, port: GraphPort) -> None:
    if port.is_master:
        assert before == port._replace(is_master=False, name=before.name)
        assert circuit_allowed(port.tile, before.name, port.name)
    else:
        opposite, columns, rows = WIRES[port_kind(before.name)]
        assert (port.column, port.row) == (before.column + columns, before.row + rows)
        assert port.name == opposite + before.name.removeprefix(port_kind(before.name))


def check_tree(source: GraphPort, targets: tuple[GraphPort, ...], tree: Tree) -> None:
    assert source not in tree
    for target in targets:
        port = target
        for _ in range(len(tree)):
            check_hop(tree[port], port)
            port = tree[port]
            if port == source:
                break
        assert port == source
    feeding = set(tree.values())
    assert {port for port in tree if port not in feeding} == set(targets)  # no branch that leads nowhere


@st.composite
def flows(draw: st.DrawFn) -> list[tuple[int, list[int]]]:
    """Sources and disjoint sets of targets, as numbers of tiles; channel numbers come by use."""
    sources = draw(st.lists(st.integers(0, 9), min_size=1, max_size=10))
    return [(source, draw(st.lists(st.integers(0, 9), min_size=1, max_size=3))) for source in sources]


def channels(array: Array, wanted: list[tuple[int, list[int]]]) -> list[tuple[Channel, list[Channel]]]:
    used: Counter[tuple[bool, int]] = Counter()

    def take(receives: bool, number: int) -> list[Channel]:
        tile = array.tile(*PLACES[number])
        side = tile.s2mm if receives else tile.mm2s
        used[receives, number] += 1
        return [side[used[receives, number] - 1]] if used[receives, number] <= len(side) else []

    found = []
    for source, targets in wanted:
        start, ends = take(False, source), [ch for target in targets for ch in take(True, target)]
        if start and ends:
            found.append((start[0], ends))
    return found


@settings(max_examples=25, deadline=None)
@given(flows())
def test_circuits_are_legal_apart_and_carry_the_words(wanted: list[tuple[int, list[int]]]) -> None:
    array = Array("npu1", columns=2)
    joined = channels(array, wanted)
    asked = [array.connect(source, *targets) for source, targets in joined]
    try:
        trees = array.route()
    except MemtileError as error:
        assert "circuits want the" in str(error)  # noqa: PT017  # some draws are more than two columns can carry
        return
    for flow in asked:
        check_tree(flow.source, flow.targets, trees[flow])
    ports = [port for flow, tree in trees.items() for port in (flow.source, *tree)]
    assert len(ports) == len(set(ports))
    for number, (source, targets) in enumerate(joined):
        data = np.arange(WORDS) + 1000 * number
        sent = source.tile.buffer(f"sent {number}", WORDS, data=data)
        source.start(source.tile.read(sent))
        for target in targets:
            name = f"{number} to {target.name}"
            came = target.tile.buffer(name, WORDS)
            target.start(target.tile.write(came))
            target.tile.expect(came, data)
    assert array.run().good


def test_a_full_column_is_routed_in_any_order() -> None:
    """Six streams up a column and four down, all at once, whatever their order."""
    for order in (1, -1):
        array = Array("npu1", columns=1)
        memory = array.memory_tile(0)
        workers = [array.compute_tile(0, 2 + n % 4) for n in range(6)]
        up = [(memory.mm2s[n], worker.s2mm[n // 4]) for n, worker in enumerate(workers)]
        down = [(worker.mm2s[n // 4], memory.s2mm[n]) for n, worker in enumerate(workers)][:4]
        for source, target in (up + down)[::order]:
            array.connect(source, target)
        assert len(array.route()) == 10


def test_a_route_is_the_same_every_time_and_stays_when_more_is_connected() -> None:
    def routed(more: bool) -> list[Tree]:
        array = Array("npu1")
        for column in range(4):
            array.connect(array.memory_tile(column).mm2s[0], array.compute_tile(3 - column, 4).s2mm[0])
        first = list(array.route().values())
        if more:
            array.connect(array.memory_tile(0).mm2s[1], array.compute_tile(3, 5).s2mm[1])
            assert list(array.route().values())[:4] == first
        return first

    assert routed(more=False) == routed(more=True)


def test_a_path_of_one_wire_per_row_is_straight() -> None:
    array = Array("xcve2802", columns=3)
    flow = array.connect(array.memory_tile(1, 1).mm2s[2], array.compute_tile(1, 10).s2mm[0])
    tree = array.route()[flow]
    places = {(port.column, port.row) for port in tree}
    assert places == {(1, row) for row in range(1, 11)}
    rows = sorted(row for _, row in places)
    assert all(after - before == 1 for before, after in pairwise(rows))
