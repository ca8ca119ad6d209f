"""Does a packet id that is sent twice, beside one that is never sent, get named?"""

from __future__ import annotations

from pathlib import Path

from memtile import Array
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.cli.design_file import load_design
from memtile.cli.runnable import python_repairs
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load_still
from memtile.importers.python.candidates import python_candidates
from support.pages.corpus_scores import CORPUS

FINE = (CORPUS / "packet-id-twice-fine.mlir").read_text(encoding="utf-8")
CODE = "MT0143"


def found(tmp_path: Path, text: str) -> list[Finding]:
    """The findings of a check with the code."""
    file = tmp_path / "design.mlir"
    file.write_text(text, encoding="utf-8")
    return [each for each in check("design", lambda: of_mlir(load_still(file))).findings if each.code == CODE]


def test_an_id_sent_twice_beside_one_that_is_never_sent_is_named(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, FINE.replace("pkt_id = 6>", "pkt_id = 5>"))
    assert "memory(0,1) MM2S 0 sends packets of id 5 with BD 2 and BD 3, and none of id 6" in finding.message
    assert finding.fix == "Give one of BD 2 and BD 3 packet id 6."


def test_an_id_of_each_receiver_is_fine(tmp_path: Path) -> None:
    assert not found(tmp_path, FINE)


def test_a_receiver_without_a_task_waits_for_no_packet(tmp_path: Path) -> None:
    """Though its tile sends something."""
    text = FINE.replace("pkt_id = 6>", "pkt_id = 5>")
    start = text.index("      %0 = aie.dma_start(S2MM", text.index("    aie.mem(%t2)"))
    end = text.index("      %1 = aie.dma_start(MM2S", start)
    assert not found(tmp_path, text[:start] + text[end:])


def test_a_receiver_whose_result_nobody_takes_is_left_alone(tmp_path: Path) -> None:
    """Its design may have put it aside, and sends two parts to one of the others."""
    text = FINE.replace("pkt_id = 6>", "pkt_id = 5>")
    flow = next(line for line in text.splitlines(keepends=True) if "aie.flow(%t2" in line)
    assert not found(tmp_path, text.replace(flow, ""))


def test_a_receiver_that_waits_is_one_whose_words_are_wanted() -> None:
    """It only stores them: before a run nobody knows that they are wanted, in a hang it waits for them."""
    design = load_design(str(CORPUS / "two-images-by-packets-hangs.py"))
    assert isinstance(design, Array)
    (found,) = design.run().findings
    assert (found.code, found.severity) == (CODE, Severity.ERROR)
    assert found.fix == "Give one of BD 0 and BD 1 packet id 1."
    assert [side.who for side in found.sides[:2]] == ["memory(0,1) MM2S 0"] * 2


def test_another_stream_of_a_bus_is_tried() -> None:
    file = CORPUS / "two-images-by-packets-hangs.py"
    tried = python_repairs(str(file), ())
    found = [
        (each.says.partition(": ")[2], each.unlikely)
        for each in tried.candidates(tried.text, [])
        if each.kind == "packet_id"
    ]
    assert found == [("bus.streams[1] instead of bus.streams[0]", 0.3)] * 2
    (fine,) = {
        unlikely
        for each in python_candidates((CORPUS / "two-images-by-packets-fine.py").read_text("utf-8"), "f", [])
        if each.kind == "packet_id" and (unlikely := each.unlikely)
    }
    assert fine > 1  # each is used once
