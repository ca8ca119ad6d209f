"""Does a proof for every timing agree with all orders of small designs, gone through one by one?"""

from __future__ import annotations

from collections import Counter

from memtile import Status
from support.designs.small_orders import built, drawn, ends

DESIGNS = 500


def test_proofs_agree_with_all_orders() -> None:
    counts = Counter[tuple[bool, bool]]()
    for seed in range(DESIGNS):
        small = drawn(seed)
        result, every = built(small).run(check=True), ends(small)
        assert (result.status is Status.FINISHED) in every, seed
        assert result.proved is not None
        assert not result.proved.ends_proved or len(every) == 1, (seed, result.proved)
        counts[result.proved.ends_proved, len(every) == 1] += 1
    assert counts[True, True] >= DESIGNS * 2 // 5  # what is decided stays so
    assert counts[False, False] > 0  # and the oracle has designs that timing decides
