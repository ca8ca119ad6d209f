"""Is the mistake of a graph named by a change that was tried, and what main lacks before a run?"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from left_out import needs
from memtile import adf
from memtile.adf import graph_file
from memtile.adf.description import Connection, Loop, Port, Tiling
from memtile.adf.graph_changes import GraphChange, order_changes
from memtile.adf.graph_repairs import changes_of, repaired
from memtile.adf.host_program import Given
from memtile.adf.objects import Objects
from memtile.adf.size_changes import size_changes
from memtile.adf.value_changes import value_changes
from memtile.cli.main import app
from memtile.runs.options import USUAL
from support.adf.sketch import Sketch, buffer
from support.designs.cpp_designs import FOUND

MIX = """#include <adf.h>
void mix(adf::input_buffer<int32>& a, adf::input_buffer<int32>& b, int32 gain,
         adf::output_buffer<int32>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = a.data()[i] * gain - b.data()[i];
}
"""
GRAPH = """#include <adf.h>
using namespace adf;
#ifndef FIRST
#define FIRST 0
#endif
#ifndef SIZE
#define SIZE 16
#endif
#ifndef UPDATES
#define UPDATES 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef FIRST_GAIN
#define FIRST_GAIN 3
#endif
#ifndef LAST
#define LAST 4
#endif
void mix(adf::input_buffer<int32>& a, adf::input_buffer<int32>& b, int32 gain,
         adf::output_buffer<int32>& out);
class Mixed : public graph {
  public:
    input_plio a, b;
    output_plio z;
    input_port gain;
    kernel k;
    Mixed() {
        a = input_plio::create("a", plio_32_bits, "a.txt");
        b = input_plio::create("b", plio_32_bits, "b.txt");
        z = output_plio::create("z", plio_32_bits, "z.txt");
        k = kernel::create(mix);
        source(k) = "mix.cc";
        runtime<ratio>(k) = 0.9;
        dimensions(k.in[0]) = {SIZE};
        dimensions(k.in[1]) = {SIZE};
        dimensions(k.out[0]) = {16};
        connect(a.out[0], k.in[FIRST]);
        connect(b.out[0], k.in[1 - FIRST]);
        connect<parameter>(gain, k.in[2]);
        connect(k.out[0], z.in[0]);
    }
};
Mixed gr;
int main() {
    gr.init();
    gr.run(ROUNDS);
    for (int n = 0; n < UPDATES; n++) gr.update(gr.gain, n ? LAST : FIRST_GAIN);
    gr.wait();
    gr.end();
    return 0;
}
"""
LOOP = """#include <adf.h>
using namespace adf;
#ifndef SENT
#define SENT 16
#endif
#ifndef ASKED
#define ASKED 16
#endif
#ifndef WAITS
#define WAITS 1
#endif
void same(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out);
class Moved : public graph {
  public:
    input_gmio x;
    output_gmio y;
    kernel k;
    Moved() {
        x = input_gmio::create("x", 64, 500);
        y = output_gmio::create("y", 64, 500);
        k = kernel::create(same);
        source(k) = "same.cc";
        runtime<ratio>(k) = 0.9;
        dimensions(k.in[0]) = {16};
        dimensions(k.out[0]) = {16};
        connect(x.out[0], k.in[0]);
        connect(k.out[0], y.in[0]);
    }
};
Moved gr;
int main() {
    int32* x = (int32*)GMIO::malloc(64 * sizeof(int32));
    int32* y = (int32*)GMIO::malloc(64 * sizeof(int32));
    gr.init();
    gr.run(1);
    gr.x.gm2aie_nb(x, SENT * sizeof(int32));
    gr.y.aie2gm_nb(y, ASKED * sizeof(int32));
    if (WAITS) gr.y.wait();
    gr.wait();
    gr.end();
    return 0;
}
"""
SAME = """#include <adf.h>
void same(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = in.data()[i] + 1;
}
"""
A, B = np.random.default_rng(7).integers(-90, 90, (2, 2, 16)).astype(np.int32)
RIGHT = (A * np.array([[3], [4]]) - B).astype(np.int32)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A graph of two inputs and a number that every iteration takes, with files for two iterations."""
    (tmp_path / "mix.cc").write_text(MIX)
    (tmp_path / "graph.cpp").write_text(GRAPH)
    for name, data in (("a", A), ("b", B)):
        (tmp_path / f"{name}.txt").write_text("\n".join(map(str, data.ravel().tolist())) + "\n")
    return tmp_path


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("mistake", "place", "says"),
    [
        (
            {"FIRST": 1},
            "graph.cpp:39",
            "exchange gr.a and gr.b, which lead to gr.k.in[1] and gr.k.in[0] (graph.cpp:39 and "
            "graph.cpp:40), or what the host gives them",
        ),
        (
            {"FIRST_GAIN": 4, "LAST": 3},
            "graph.cpp:49",
            "exchange what calls 1 and 2 of update give gr.gain and gr.gain (graph.cpp:49)",
        ),
    ],
)
def test_the_change_with_which_the_expected_words_come_is_the_finding(
    mixed: Path, mistake: dict[str, int], place: str, says: str
) -> None:
    program = adf.load(mixed / "graph.cpp", defines=dict(mistake), folder=mixed)
    before = program.run().against({"z": RIGHT})
    assert before.result is not None
    assert before.result.findings[0].repair is None
    done = repaired(program, before, {"z": RIGHT}, USUAL)
    assert done.result is not None
    finding = done.result.findings[0]
    assert finding.repair is not None
    assert finding.repair.compared
    assert finding.repair.says == says
    assert finding.sides[0].place == place
    assert finding.fix == f"{says[:1].upper()}{says[1:]}. Tried: all words are as expected."


@needs("c++", FOUND)
def test_a_parameter_that_main_updates_with_another_number_is_the_finding(mixed: Path) -> None:
    (mixed / "b.txt").write_text("0\n" * 32)
    want = {"z": (A * np.array([[3], [4]])).astype(np.int32)}
    program = adf.load(mixed / "graph.cpp", defines={"LAST": 6}, folder=mixed)
    before = program.run().against(want)
    assert [(each.element, each.data[0], each.line) for each in before.given] == [
        ("int32", 3, "graph.cpp:49"),
        ("int32", 6, "graph.cpp:49"),
    ]
    assert before.result is not None
    assert "all 16 elements that are wrong, from element 16 on, 3/2 times as large" in (
        before.result.findings[0].message
    )
    done = repaired(program, before, want, USUAL)
    assert done.result is not None
    finding = done.result.findings[0]
    assert finding.repair is not None
    assert finding.repair.says == "update gr.gain, call 2 of update, with 4 instead of 6 (graph.cpp:49)"
    assert finding.sides[0].place == "graph.cpp:49"


def test_only_whole_numbers_that_their_type_holds_are_given_instead() -> None:
    objects = split((0, 1))
    port = next(iter(objects.ports))
    given = [
        Given(port, "int8", np.int8(100).tobytes()),
        Given(port, "float", np.float32(2).tobytes()),
        Given(port, "int16", np.array([1, 2], np.int16).tobytes()),
    ]
    says = "x has each element 1/2 times as large as expected."
    assert says_of([*value_changes(objects, given[:1], says)]) == []
    assert says_of([*value_changes(objects, given[1:2], says)]) == []
    assert [each.updates for each in value_changes(objects, given[1:], "")] == [
        {0: given[2].data, 1: given[1].data}
    ]
    (found,) = value_changes(objects, [Given(port, "int8", np.int8(-3).tobytes())], says)
    assert found.updates == {0: np.int8(-6).tobytes()}


@needs("c++", FOUND)
def test_words_that_no_change_brings_leave_the_findings_as_they_are(mixed: Path) -> None:
    program = adf.load(mixed / "graph.cpp", folder=mixed)
    wrong = {"z": RIGHT + np.arange(32, dtype=np.int32).reshape(2, 16) ** 2}
    before = program.run().against(wrong)
    assert repaired(program, before, wrong, USUAL, seconds=2.0) == before
    right = program.run().against({"z": RIGHT})
    assert right.good
    assert repaired(program, right, {"z": RIGHT}, USUAL) is right


def checked(folder: Path, *settings: str) -> list[str]:
    done = CliRunner().invoke(
        app, ["check", str(folder / "graph.cpp"), *(f"--set={each}" for each in settings)]
    )
    return [line for line in done.output.splitlines() if ": error" in line or ": warning" in line]


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("setting", "code", "says"),
    [
        ("UPDATES=1", "MT0103", "gr.k waits for an update of gr.gain; the host has updated it 1 time, for 2"),
        (
            "UPDATES=0",
            "MT0103",
            "gr.k waits for an update of gr.gain; the host has updated it 0 times, for 2",
        ),
        ("ROUNDS=3", "MT0108", "gr.a runs out of data: 32 int32 come, the iterations asked for need 48"),
    ],
)
def test_what_main_gives_too_little_of_is_named_before_a_run(
    mixed: Path, setting: str, code: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed)
    assert checked(mixed) == []
    found = checked(mixed, setting, *(["UPDATES=3"] if "ROUNDS" in setting else []))
    assert code in found[0]
    assert says in found[0]


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ((), ""),
        (
            ("SENT=8",),
            "gr.x runs out of data: 8 int32 come, the iterations asked for need 16; 8 are missing.",
        ),
        (
            ("ASKED=32",),
            "main waits for gr.y, which is asked for 128 bytes; 1 iteration of its graph give 64.",
        ),
        (("WAITS=0",), "gr.y is asked for 64 bytes, and the host never waits for them"),
    ],
)
def test_transfers_of_main_suffice_for_what_it_waits_for(
    tmp_path: Path, settings: tuple[str, ...], says: str
) -> None:
    (tmp_path / "graph.cpp").write_text(LOOP)
    (tmp_path / "same.cc").write_text(SAME)
    found = checked(tmp_path, *settings)
    assert len(found) == bool(says)
    assert all(says in each for each in found)


@needs("c++", FOUND)
def test_a_wait_for_more_than_a_graph_gives_is_a_finding_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "graph.cpp").write_text(LOOP)
    (tmp_path / "same.cc").write_text(SAME)
    done = adf.load(tmp_path / "graph.cpp", defines={"ASKED": 32}, folder=tmp_path).run()
    assert done.held
    assert done.result is not None
    assert [each.sides[0].who for each in done.result.findings] == ["gr.y"]


READ = """gr.end();
    int words = 0;
    if (FILE* f = std::fopen("memtile_output/z.txt", "r")) {
        for (int each; std::fscanf(f, "%d", &each) == 1;) words++;
        std::fclose(f);
    }
    gr.init();
    gr.run(1);
    for (int n = 0; n < words / 32; n++) gr.update(gr.gain, 3);
    gr.wait();
    gr.end();
    return 0;"""
"""The end of a main that gives what the words of the first run's file say."""


@needs("c++", FOUND)
def test_nothing_is_said_of_what_main_does_with_the_files_of_a_graph_that_has_ended(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mixed / "graph.cpp").write_text("#include <cstdio>\n" + GRAPH.replace("gr.end();\n    return 0;", READ))
    monkeypatch.chdir(mixed)
    assert checked(mixed) == []


@needs("c++", FOUND)
def test_nothing_is_said_of_a_main_that_gives_up_without_data_of_the_array(tmp_path: Path) -> None:
    (tmp_path / "graph.cpp").write_text(LOOP.replace("return 0;", "return 1;"))
    (tmp_path / "same.cc").write_text(SAME)
    assert checked(tmp_path, "WAITS=0") == []


@needs("c++", FOUND)
def test_a_main_that_does_not_end_is_ended_with_what_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = "if (fork() == 0) { sleep(60); _exit(0); }\n    sleep(60);\n    gr.run(1);"
    (tmp_path / "graph.cpp").write_text("#include <unistd.h>\n" + LOOP.replace("gr.run(1);", waits))
    (tmp_path / "same.cc").write_text(SAME)
    monkeypatch.setattr(graph_file, "_CHECKED_SECONDS", 0.5)
    begun = time.monotonic()
    done = CliRunner().invoke(app, ["check", str(tmp_path / "graph.cpp")])
    assert "the host program had not ended after 0.5 s (its latest call was init)" in done.output
    assert done.exit_code == 0
    assert time.monotonic() - begun < 30


@needs("c++", FOUND)
def test_a_graph_that_runs_too_few_iterations_has_no_wrong_sizes(mixed: Path) -> None:
    program = adf.load(mixed / "graph.cpp", defines={"ROUNDS": 1, "UPDATES": 1}, folder=mixed)
    before = program.run().against({"z": RIGHT})
    assert before.result is not None
    assert [(each.wrong, each.missing) for each in before.result.checks] == [(0, 16)]
    assert repaired(program, before, {"z": RIGHT}, USUAL) is before


@needs("c++", FOUND)
def test_trials_end_also_where_main_sleeps(mixed: Path) -> None:
    text = GRAPH.replace("gr.wait();", 'gr.wait();\n    std::fputs("said", stderr);\n    sleep(2);')
    (mixed / "graph.cpp").write_text("#include <cstdio>\n#include <unistd.h>\n" + text)
    program = adf.load(mixed / "graph.cpp", defines={"FIRST": 1}, folder=mixed)
    wrong = {"z": RIGHT + np.arange(32, dtype=np.int32).reshape(2, 16) ** 2}
    before = program.run().against(wrong)
    begun = time.monotonic()
    assert repaired(program, before, wrong, USUAL, seconds=1.0) == before
    assert time.monotonic() - begun < 5


def says_of(changes: list[GraphChange]) -> list[str]:
    return [each.candidate.says for each in sorted(changes, key=lambda each: each.candidate.unlikely)]


def split(order: tuple[int, ...]) -> Objects:
    """A pktsplit whose outputs lead to kernels in an order."""
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    s, m = g.packets("split", "s", 4), g.packets("merge", "m", 4)
    kernels = [g.kernel(f"k{n}", [buffer("int32", 16)], [buffer("int32", 16)]) for n in range(4)]
    g.connect(a, s.ins[0], "pktstream")
    for n, other in enumerate(order):
        g.connect(s.outs[n], kernels[other].ins[0], "pktstream")
        g.connect(kernels[n].outs[0], m.ins[n], "pktstream")
    g.connect(m.outs[0], z, "pktstream")
    return Objects(g.description())


def test_ends_in_the_order_of_their_declaration_are_likeliest() -> None:
    objects = split((1, 0, 3, 2))
    first = min(order_changes(objects), key=lambda each: each.candidate.unlikely)
    made = Objects(first.applied(objects.description))
    assert first.candidate.unlikely < 0.2
    connected = {objects.name(each.source): objects.name(each.target) for each in made.connections.values()}
    assert [connected[f"gr.s.out[{n}]"] for n in range(4)] == [f"gr.k{n}.in[0]" for n in range(4)]
    assert all(each.candidate.unlikely >= 0.5 for each in order_changes(split((0, 1, 2, 3))))


def test_an_exchange_that_two_families_have_is_one_change() -> None:
    """The outputs of one kernel are the inputs of another one."""
    g = Sketch()
    one = g.kernel("one", [], [buffer("int32", 16)] * 2)
    other = g.kernel("other", [buffer("int32", 16)] * 2, [])
    for source, target in zip(one.outs, other.ins, strict=True):
        g.connect(source, target)
    (change,) = order_changes(Objects(g.description()))
    assert [isinstance(each, Connection) for each in change.objects] == [True, True]


def test_packet_ids_of_tilings_are_put_in_order() -> None:
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    tilings = [Tiling((32,), (16,), (16 * n,), packet_port_id=1 - n) for n in range(2)]
    m = g.shared("m", "int32", (32,), [tilings], 1)
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], z)
    found = says_of([*order_changes(Objects(g.description()))])
    assert found[0] == "in write_access of gr.m.in[0], set packet_port_id to 0, 1 instead of 1, 0"


def tiled(tiling: Tiling) -> Objects:
    g = Sketch()
    a, z = g.plio("in"), g.plio("out", "out")
    m = g.shared("m", "int32", (12, 8), 1, [[tiling]])
    g.connect(a, m.ins[0])
    g.connect(m.outs[0], z)
    return Objects(g.description())


@pytest.mark.parametrize(
    ("tiling", "says"),
    [
        (
            Tiling((12, 8), (3, 4), (0, 0), (Loop(1, 2, 2), Loop(0, 3, 4))),
            "set stride of dimension 1 to 4 instead of 2",
        ),
        (
            Tiling((12, 8), (3, 4), (0, 0), (Loop(1, 4, 1), Loop(0, 3, 4))),
            "set wrap of dimension 1 to 2 instead of 1",
        ),
        (
            Tiling((12, 8), (4, 3), (0, 0), (Loop(1, 4, 2), Loop(0, 3, 4))),
            "set tiling_dimension to {3, 4} instead of {4, 3}",
        ),
        (Tiling((12, 8), (12, 8), (0, 3)), "set offset to {0, 0} instead of {0, 3}"),
    ],
)
def test_a_tiling_that_reads_all_elements_is_likelier_than_one_that_leaves_some_out(
    tiling: Tiling, says: str
) -> None:
    likely = [each for each in size_changes(tiled(tiling)) if each.candidate.unlikely < 0.2]
    assert f"in read_access of gr.m.out[0], {says}" in says_of(likely)


def test_a_kernels_port_gets_the_size_of_its_others_first() -> None:
    g = Sketch()
    g.kernel("k", [buffer("int32", 32), buffer("int32", 64)], [buffer("int32", 64)])
    found = changes_of(Objects(g.description()))
    assert found[0].candidate.says == "set dimensions(gr.k.in[0]) to {64} instead of {32}"
    (port,) = found[0].objects
    assert isinstance(port, Port)
    assert port.dimensions == (64,)
