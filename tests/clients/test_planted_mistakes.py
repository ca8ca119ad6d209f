"""Does the first finding name the culprit of planted mistakes, and are these scored as they should be?"""

from __future__ import annotations

import pytest

from memtile.explain.findings import Finding, Severity, Side
from support.culprit.judge import judged
from support.culprit.kinds import KINDS, SEED, Mutant, mutants
from support.culprit.measure import answer, drawn, row, scored
from support.culprit.scene import Scene
from support.culprit.texts import own
from support.culprit.truth import latent

TEXTS = own(suffixes=(".mlir",))
DESIGN = """\
module {
  aie.device(npu1) {
    %host = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %in_free = aie.lock(%tile, 0) {init = 1 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%tile, 1) {init = 0 : i32, sym_name = "in_full"}
    %block = aie.buffer(%tile) {sym_name = "block"} : memref<64xi8>
    aie.flow(%host, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %host, DMA : 0)
    aie.shim_dma_allocation @in(%host, MM2S, 0)
    aie.shim_dma_allocation @out(%host, S2MM, 0)
    %mem = aie.mem(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^next)
    ^in:
      aie.use_lock(%in_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%block : memref<64xi8> offset = 0 len = 64)
      aie.use_lock(%in_full, Release, 1)
      aie.next_bd ^in
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%in_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%block : memref<64xi8> offset = 0 len = 64)
      aie.use_lock(%in_free, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi8>, %b: memref<64xi8>) {
     aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0, metadata = @in} : memref<64xi8>
     aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1, metadata = @out} : memref<64xi8>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene("design.mlir", DESIGN)


def mutant(scene: Scene, kind: str, number: int = 0) -> Mutant:
    return list(mutants(scene, [kind]))[number]


def test_mutants_of_our_own_designs_are_named_by_the_culprit() -> None:
    kinds = list(KINDS)[::5]
    counts = row([answer(each, scored(each)) for each in drawn(TEXTS, kinds, len(kinds), SEED)])
    assert counts.broken >= 6
    assert counts.found >= counts.broken - 2
    assert counts.culprit >= counts.broken // 4
    assert counts.innocents <= 1


@pytest.mark.parametrize("path", TEXTS[-12:])
def test_a_mutant_is_its_text_with_one_place_changed(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        scene = Scene("design.mlir", file.read())
    for each in mutants(scene):
        text = each.text(scene.content)
        assert text != scene.content
        assert text.count("\n") == scene.content.count("\n"), each
        assert each.changed.lines[0] in range(1, text.count("\n") + 2)
        assert each.changed.actors or each.changed.things, each


def test_a_mutant_knows_who_does_what_it_changed(scene: Scene) -> None:
    release = mutant(scene, "bd_release_missing").changed
    assert release.actors == ("compute(0,2) S2MM 0",)
    assert release.things == ("in_full",)
    assert {"compute(0,2) MM2S 0", "interface(0,0) MM2S 0"} <= set(release.partners)
    length = mutant(scene, "host_size_halved").changed
    assert length.actors == ("host", "interface(0,0) MM2S 0")
    assert "size 32 instead of 64" in mutant(scene, "host_size_halved").about


def finding(message: str, who: str, place: str = "") -> Finding:
    return Finding("MT0302", Severity.ERROR, message, (Side(who, "waits", place),), fix="Release it.")


@pytest.mark.parametrize(
    ("said", "culprit", "innocent"),
    [
        (finding("It is stuck", "x", "design.mlir:17:7"), True, False),
        (
            finding("lock 1 'in_full', which compute(0,2) S2MM 0 never gives", "compute(0,2) MM2S 0"),
            True,
            False,
        ),
        (finding("lock 1 'in_full' is never given", "compute(0,2) MM2S 0"), False, False),
        (finding("lock 0 'in_free' is never given", "core (3, 2)"), False, True),
        (finding("lock 0 'in_free' is 0, in_full is 1; compute(0,2) S2MM 0", "core (3, 2)"), False, False),
    ],
)
def test_a_finding_is_judged_by_what_it_names(
    scene: Scene, said: Finding, *, culprit: bool, innocent: bool
) -> None:
    changed = mutant(scene, "bd_release_missing").changed
    found = judged([said], changed, ("releas",), scene)
    assert (found.culprit, bool(found.innocents)) == (culprit, innocent)
    assert found.names == culprit
    assert not judged([said], changed, ("depth",), scene).names
    assert not judged([], changed, ("releas",), scene).found


@pytest.mark.parametrize(
    ("kind", "wrong"), [("wait_missing", True), ("bd_length_halved", False), ("host_offset", False)]
)
def test_a_result_without_a_wait_is_broken_though_its_words_are_right(
    scene: Scene, kind: str, *, wrong: bool
) -> None:
    changed = Scene("design.mlir", mutant(scene, kind).text(DESIGN))
    assert latent(scene, changed) == wrong


def test_a_descriptor_that_is_used_again_without_a_wait_is_broken() -> None:
    twice = DESIGN.replace("{id = 1,", "{id = 0,")
    assert latent(Scene("design.mlir", DESIGN), Scene("design.mlir", twice))
