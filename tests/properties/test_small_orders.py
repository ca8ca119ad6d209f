"""Does a proof for every timing agree with all orders of small designs, gone through one by one?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from memtile import Status
from support.designs import small_packets
from support.designs.small_orders import Small, built, drawn, drawn_batches, drawn_exact, ends
from support.mlir.mlir_designs import loaded

DESIGNS, TEXTS = 500, 150


@pytest.mark.parametrize("of_a_kind", [drawn, drawn_exact])
def test_proofs_agree_with_all_orders(of_a_kind: Callable[[int], Small]) -> None:
    counts = Counter[tuple[bool, bool]]()
    for seed in range(DESIGNS):
        small = of_a_kind(seed)
        result, every = built(small).run(check=True), ends(small)
        assert (result.status is Status.FINISHED) in every, seed
        assert result.proved is not None
        assert not result.proved.ends_proved or len(every) == 1, (seed, result.proved)
        counts[result.proved.ends_proved, len(every) == 1] += 1
    assert counts[True, True] >= DESIGNS * 2 // 5  # what is decided stays so
    assert counts[False, False] > 0  # and the oracle has designs that timing decides


def test_batches_agree_with_all_orders_in_which_takers_come_in_turn() -> None:
    counts = Counter[bool]()
    for seed in range(DESIGNS):
        small = drawn_batches(seed)
        result = built(small).run(check=True)
        assert result.proved is not None
        in_turn = bool(result.proved.assumed) and not result.proved.reasons
        if in_turn:
            every = ends(small, frozenset((0, 1)))
            assert every == {result.status is Status.FINISHED}, (seed, result.proved)
        elif result.proved.ends_proved:
            assert len(ends(small)) == 1, (seed, result.proved)
        counts[in_turn] += 1
    assert counts[True] >= DESIGNS // 4
    assert counts[False] >= DESIGNS // 10


def test_proofs_with_control_packets_agree_with_all_orders() -> None:
    counts = Counter[tuple[bool, bool]]()
    for seed in range(TEXTS):
        small = small_packets.drawn(seed)
        design, every = loaded(small_packets.text(small)), small_packets.ends(small)
        arrays = small_packets.words(small), np.zeros(64, np.int32)
        result = design.run(*arrays, check=True, max_cycles=100_000).result
        assert (result.status is Status.FINISHED) in every, seed
        assert result.proved is not None
        assert not result.proved.ends_proved or len(every) == 1, (seed, result.proved)
        counts[result.proved.ends_proved, len(every) == 1] += 1
    assert counts[True, True] >= TEXTS // 5
    assert counts[False, False] > 0
