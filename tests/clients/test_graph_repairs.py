"""Is the mistake of a graph named by a change that was tried, and what main lacks before a run?"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from left_out import needs
from memtile import adf
from memtile.adf import graph_file
from memtile.adf.description import Connection, Loop, Port, Tiling
from memtile.adf.file_changes import file_changes
from memtile.adf.graph_changes import GraphChange, order_changes
from memtile.adf.graph_repairs import advised, changes_of, repaired
from memtile.adf.host_program import Given
from memtile.adf.objects import Objects
from memtile.adf.size_changes import size_changes
from memtile.adf.value_changes import value_changes
from memtile.cli.main import app
from memtile.explain.evidence import NO_EVIDENCE, Evidence
from memtile.explain.findings import Finding, Repair, Severity, Side
from memtile.explain.repairs import Tried, with_repair
from memtile.runs.options import USUAL
from support.adf.sketch import Sketch, buffer
from support.designs.cpp_designs import FOUND

MIX = """#include <adf.h>
void mix(adf::input_buffer<int32>& a, adf::input_buffer<int32>& b, int32 gain,
         adf::output_buffer<int32>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = a.data()[i] * gain - b.data()[i];
}
"""
NUMBER = """#include <cstdlib>
// What a test sets, or else what is usual: tests share a program, which takes seconds to compile.
int number(const char* name, int usual) {
    const char* given = std::getenv(name);
    return given ? std::atoi(given) : usual;
}
"""
GRAPH = f"""#include <adf.h>
#include <cstdio>
#include <unistd.h>
{NUMBER}using namespace adf;
void mix(adf::input_buffer<int32>& a, adf::input_buffer<int32>& b, int32 gain,
         adf::output_buffer<int32>& out);
class Mixed : public graph {{
  public:
    input_plio a, b;
    output_plio z;
    input_port gain;
    kernel k;
    Mixed() {{
        a = input_plio::create("a", plio_32_bits, "a.txt");
        b = input_plio::create("b", plio_32_bits, "b.txt");
        z = output_plio::create("z", plio_32_bits, "z.txt");
        k = kernel::create(mix);
        source(k) = "mix.cc";
        runtime<ratio>(k) = 0.9;
        dimensions(k.in[0]) = {{16}};
        dimensions(k.in[1]) = {{16}};
        dimensions(k.out[0]) = {{16}};
        connect(a.out[0], k.in[number("FIRST", 0)]);
        connect(b.out[0], k.in[1 - number("FIRST", 0)]);
        connect<parameter>(gain, k.in[2]);
        connect(k.out[0], z.in[0]);
    }}
}};
Mixed gr;
int words_of_the_first_run() {{
    int words = 0;
    if (FILE* f = std::fopen("memtile_output/z.txt", "r")) {{
        for (int each; std::fscanf(f, "%d", &each) == 1;) words++;
        std::fclose(f);
    }}
    return words;
}}
int main() {{
    gr.init();
    gr.run(number("ROUNDS", 2));
    for (int n = 0; n < number("UPDATES", 2); n++)
        gr.update(gr.gain, n ? number("LAST", 4) : number("FIRST_GAIN", 3));
    gr.wait();
    if (int seconds = number("SLEEPS", 0)) {{
        std::fputs("said", stderr);
        sleep(seconds);
    }}
    gr.end();
    if (number("AGAIN", 0)) {{
        int words = words_of_the_first_run();
        gr.init();
        gr.run(1);
        for (int n = 0; n < words / 32; n++) gr.update(gr.gain, 3);
        gr.wait();
        gr.end();
    }}
    return 0;
}}
"""
"""With ``AGAIN`` its main gives what the words of the first run's file say."""
LOOP = f"""#include <adf.h>
#include <unistd.h>
{NUMBER}using namespace adf;
void same(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out);
class Moved : public graph {{
  public:
    input_gmio x;
    output_gmio y;
    kernel k;
    Moved() {{
        x = input_gmio::create("x", 64, 500);
        y = output_gmio::create("y", 64, 500);
        k = kernel::create(same);
        source(k) = "same.cc";
        runtime<ratio>(k) = 0.9;
        dimensions(k.in[0]) = {{16}};
        dimensions(k.out[0]) = {{16}};
        connect(x.out[0], k.in[0]);
        connect(k.out[0], y.in[0]);
    }}
}};
Moved gr;
int main() {{
    int32* x = (int32*)GMIO::malloc(64 * sizeof(int32));
    int32* y = (int32*)GMIO::malloc(64 * sizeof(int32));
    gr.init();
    if (int seconds = number("SLEEPS", 0)) {{
        if (fork() == 0) {{ sleep(seconds); _exit(0); }}
        sleep(seconds);
    }}
    gr.run(1);
    gr.x.gm2aie_nb(x, number("SENT", 16) * sizeof(int32));
    gr.y.aie2gm_nb(y, number("ASKED", 16) * sizeof(int32));
    if (number("WAITS", 1)) gr.y.wait();
    gr.wait();
    gr.end();
    return number("RETURNS", 0);
}}
"""
SAME = """#include <adf.h>
void same(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out) {
    for (int i = 0; i < 16; i++) out.data()[i] = in.data()[i] + 1;
}
"""
A, B = np.random.default_rng(7).integers(-90, 90, (2, 2, 16)).astype(np.int32)
RIGHT = (A * np.array([[3], [4]]) - B).astype(np.int32)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of two inputs and a number that every iteration takes, with files for two iterations."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "mix.cc").write_text(MIX)
    (folder / "graph.cpp").write_text(GRAPH)
    for name, data in (("a", A), ("b", B)):
        (folder / f"{name}.txt").write_text("\n".join(map(str, data.ravel().tolist())) + "\n")
    return folder


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph between two places in memory."""
    folder = tmp_path_factory.mktemp("moved")
    (folder / "graph.cpp").write_text(LOOP)
    (folder / "same.cc").write_text(SAME)
    return folder


def give(monkeypatch: pytest.MonkeyPatch, **numbers: int) -> None:
    """Set numbers of a program."""
    for name, number in numbers.items():
        monkeypatch.setenv(name, str(number))


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("mistake", "place", "says"),
    [
        (
            {"FIRST": 1},
            "graph.cpp:29",
            "exchange gr.a and gr.b, which lead to gr.k.in[1] and gr.k.in[0] (graph.cpp:29 and "
            "graph.cpp:30), or what the host gives them",
        ),
        (
            {"FIRST_GAIN": 4, "LAST": 3},
            "graph.cpp:48",
            "exchange what calls 1 and 2 of update give gr.gain and gr.gain (graph.cpp:48)",
        ),
    ],
)
def test_the_change_with_which_the_expected_words_come_is_the_finding(
    mixed: Path, mistake: dict[str, int], place: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, **mistake)
    program = adf.load(mixed / "graph.cpp", folder=mixed)
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
def test_a_parameter_that_main_updates_with_another_number_is_the_finding(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, LAST=6)
    (tmp_path / "a.txt").write_bytes((mixed / "a.txt").read_bytes())
    (tmp_path / "b.txt").write_text("0\n" * 32)
    want = {"z": (A * np.array([[3], [4]])).astype(np.int32)}
    program = adf.load(mixed / "graph.cpp", folder=tmp_path)
    before = program.run().against(want)
    assert [(each.element, each.data[0], each.line) for each in before.given] == [
        ("int32", 3, "graph.cpp:48"),
        ("int32", 6, "graph.cpp:48"),
    ]
    assert before.result is not None
    assert "all 15 elements that are wrong, from element 16 on, 3/2 times as large" in (
        before.result.findings[0].message
    )
    done = repaired(program, before, want, USUAL)
    assert done.result is not None
    finding = done.result.findings[0]
    assert finding.repair is not None
    assert finding.repair.says == "update gr.gain, call 2 of update, with 4 instead of 6 (graph.cpp:48)"
    assert finding.sides[0].place == "graph.cpp:48"


def test_only_whole_numbers_that_their_type_holds_are_given_instead() -> None:
    objects = split((0, 1))
    port = next(iter(objects.ports))
    given = [
        Given(port, "int8", np.int8(100).tobytes()),
        Given(port, "float", np.float32(2).tobytes()),
        Given(port, "int16", np.array([1, 2], np.int16).tobytes()),
    ]
    says = Evidence(times=Fraction(1, 2))
    assert says_of([*value_changes(objects, given[:1], says)]) == []
    assert says_of([*value_changes(objects, given[1:2], says)]) == []
    assert [each.updates for each in value_changes(objects, given[1:], NO_EVIDENCE)] == [
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


def checked(folder: Path) -> list[str]:
    done = CliRunner().invoke(app, ["check", str(folder / "graph.cpp")])
    return [line for line in done.output.splitlines() if ": error" in line or ": warning" in line]


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("numbers", "code", "says"),
    [
        (
            {"UPDATES": 1},
            "MT0103",
            "gr.k waits for an update of gr.gain; the host has updated it 1 time, for 2",
        ),
        (
            {"UPDATES": 0},
            "MT0103",
            "gr.k waits for an update of gr.gain; the host has updated it 0 times, for 2",
        ),
        (
            {"ROUNDS": 3, "UPDATES": 3},
            "MT0108",
            "gr.a runs out of data: 32 int32 come, the iterations asked for need 48",
        ),
    ],
)
def test_what_main_gives_too_little_of_is_named_before_a_run(
    mixed: Path, numbers: dict[str, int], code: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed)
    assert checked(mixed) == []
    give(monkeypatch, **numbers)
    found = checked(mixed)
    assert code in found[0]
    assert says in found[0]


@needs("c++", FOUND)
@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({}, ""),
        (
            {"SENT": 8},
            "gr.x runs out of data: 8 int32 come, the iterations asked for need 16; 8 are missing.",
        ),
        (
            {"ASKED": 32},
            "main waits for gr.y, which is asked for 128 bytes; 1 iteration of its graph give 64.",
        ),
        ({"WAITS": 0}, "gr.y is asked for 64 bytes, and the host never waits for them"),
    ],
)
def test_transfers_of_main_suffice_for_what_it_waits_for(
    moved: Path, numbers: dict[str, int], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, **numbers)
    found = checked(moved)
    assert len(found) == bool(says)
    assert all(says in each for each in found)


@needs("c++", FOUND)
def test_a_wait_for_more_than_a_graph_gives_is_a_finding_of_the_run(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, ASKED=32)
    done = adf.load(moved / "graph.cpp", folder=moved).run()
    assert done.held
    assert done.result is not None
    assert [each.sides[0].who for each in done.result.findings] == ["gr.y"]


@needs("c++", FOUND)
def test_nothing_is_said_of_what_main_does_with_the_files_of_a_graph_that_has_ended(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, AGAIN=1)
    for name in ("a.txt", "b.txt"):
        shutil.copy(mixed / name, tmp_path)
    monkeypatch.chdir(tmp_path)  # where no earlier run left a file
    assert checked(mixed) == []


@needs("c++", FOUND)
def test_nothing_is_said_of_a_main_that_waits_and_finds_its_outputs_wrong(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the array they are; one that has not waited is told so, whatever it returns."""
    give(monkeypatch, RETURNS=1)
    assert checked(moved) == []
    give(monkeypatch, WAITS=0, RETURNS=1)
    (finding,) = checked(moved)
    assert "gr.y is asked for 64 bytes, and the host never waits for them" in finding


@needs("c++", FOUND)
def test_a_main_that_does_not_end_is_ended_with_what_it_has_started(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, SLEEPS=60)
    monkeypatch.setattr(graph_file, "_CHECKED_SECONDS", 0.5)
    begun = time.monotonic()
    done = CliRunner().invoke(app, ["check", str(moved / "graph.cpp")])
    assert "the host program had not ended after 0.5 s (its latest call was init)" in done.output
    assert done.exit_code == 0
    assert time.monotonic() - begun < 30


@needs("c++", FOUND)
def test_a_graph_that_runs_too_few_iterations_has_no_wrong_sizes(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, ROUNDS=1, UPDATES=1)
    program = adf.load(mixed / "graph.cpp", folder=mixed)
    before = program.run().against({"z": RIGHT})
    assert before.result is not None
    assert [(each.wrong, each.missing) for each in before.result.checks] == [(0, 16)]
    assert repaired(program, before, {"z": RIGHT}, USUAL) is before


@needs("c++", FOUND)
def test_trials_end_also_where_main_sleeps(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, FIRST=1, SLEEPS=2)
    program = adf.load(mixed / "graph.cpp", folder=mixed)
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


def test_an_offset_in_bytes_is_one_in_elements() -> None:
    found = says_of([*size_changes(tiled(Tiling((12, 8), (3, 8), (8, 0))))])
    assert "in read_access of gr.m.out[0], set offset to {2, 0} instead of {8, 0}" in found
    big = tiled(Tiling((1200, 8), (300, 8), (800, 0)))  # not each of its places is tried
    assert "in read_access of gr.m.out[0], set offset to {400, 0} instead of {800, 0}" in says_of(
        [*size_changes(big)]
    )


def test_the_change_that_a_finding_advises_is_tried_first() -> None:
    objects = tiled(Tiling((12, 8), (3, 8), (8, 0)))
    changes = [*size_changes(objects)]
    says = "gr.m.out[0] (line 1) reads 2 words too far on."
    fix, off = "Give it an offset 2 words smaller in its buffer.", Evidence(further=-2)
    for who, place, likelier in (
        ("gr.m.out[0]", "{6, 0}", 0.6),
        ("gr.m.out[0]", "{9, 0}", 0.3),
        ("gr.z", "{6, 0}", 0),
    ):
        finding = Finding("MT0405", Severity.ERROR, says, (Side(who, "reads"),), fix=fix, evidence=off)
        change = next(
            each for each in changes if each.candidate.says.endswith(f"offset to {place} instead of {{8, 0}}")
        )
        assert advised(objects, change, finding) == likelier


def test_a_kernels_port_gets_the_size_of_its_others_first() -> None:
    g = Sketch()
    g.kernel("k", [buffer("int32", 32), buffer("int32", 64)], [buffer("int32", 64)])
    found = changes_of(Objects(g.description()))
    assert found[0].candidate.says == "set dimensions(gr.k.in[0]) to {64} instead of {32}"
    (port,) = found[0].objects
    assert isinstance(port, Port)
    assert port.dimensions == (64,)


def inputs(*files: str) -> Objects:
    """Input PLIOs a, b, ... with files."""
    g = Sketch()
    k = g.kernel("k", [buffer("int32", 16)] * len(files), [buffer("int32", 16)])
    for name, file, port in zip("abc", files, k.ins, strict=False):
        g.connect(g.plio(name, file=file), port)
    g.connect(k.outs[0], g.plio("z", "out", file="z.txt"))
    return Objects(g.description())


def test_a_plio_reads_the_file_of_its_name_that_none_reads_instead_of_that_of_another(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "z.txt", "b.csv"):
        (tmp_path / name).write_text("1\n")
    found = sorted(file_changes(inputs("a.txt", "a.txt"), tmp_path), key=lambda each: each.candidate.unlikely)
    says = [(each.candidate.says, each.candidate.unlikely) for each in found]
    assert says[0] == ("let gr.b read 'b.txt' instead of 'a.txt'", 0.05)
    assert {each for each, _ in says} == {
        f"let gr.{name} read '{file}.txt' instead of 'a.txt'" for name in "ab" for file in "bc"
    }
    objects = inputs("a.txt", "a.txt")
    (new,) = (each for each in found[0].applied(objects.description).plios if each.name == "gr.b")
    assert new.file == "b.txt"


def files_tried(objects: Objects, folder: Path, *expected: Path | np.ndarray) -> set[str]:
    """The files that are tried instead of one that a PLIO reads."""
    says = says_of([*file_changes(objects, folder, expected)])
    return {each.split("'")[1] for each in says if each.startswith("let ")}


def test_what_is_expected_of_an_output_is_no_file_of_an_input(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "golden.txt", "other.txt"):
        (tmp_path / name).write_text("1\n")
    shared = inputs("a.txt", "a.txt")
    assert files_tried(shared, tmp_path, tmp_path / "golden.txt") == {"b.txt", "other.txt"}
    assert files_tried(shared, tmp_path, np.ones(1)) == {"b.txt"}  # one of the others may hold it
    assert files_tried(shared, tmp_path, tmp_path / "golden.txt", np.ones(1)) == {"b.txt"}
    assert files_tried(inputs("a.txt"), tmp_path) == set()
    assert files_tried(inputs("other.txt"), tmp_path) == {"a.txt"}


def test_only_files_of_some_size_are_read_instead_and_few_of_them(tmp_path: Path) -> None:
    shared = inputs("a.txt", "a.txt")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("1\n")
    os.mkfifo(tmp_path / "c.txt")
    with (tmp_path / "d.txt").open("wb") as file:
        file.truncate((1 << 24) + 1)
    (tmp_path / "e.txt").mkdir()
    assert files_tried(shared, tmp_path) == {"b.txt"}
    for n in range(8):
        (tmp_path / f"more{n}.txt").write_text("1\n")
    assert files_tried(shared, tmp_path) == set()


def test_files_of_two_plios_are_exchanged(tmp_path: Path) -> None:
    assert says_of([*file_changes(inputs("a.txt", "b.txt"), tmp_path)]) == [
        "exchange the files of gr.a and gr.b, 'a.txt' and 'b.txt'"
    ]
    objects = inputs("a.txt", "b.txt")
    for change in ({"width": 64}, {"hex": True}):
        plios = [
            replace(each, **change) if each.file == "b.txt" else each for each in objects.description.plios
        ]
        other = Objects(replace(objects.description, plios=plios))
        assert says_of([*file_changes(other, tmp_path)]) == []


@needs("c++", FOUND)
def test_a_file_that_two_plios_read_is_the_finding(mixed: Path, tmp_path: Path) -> None:
    source = (mixed / "graph.cpp").read_text().replace('"b.txt"', '"a.txt"')
    for name in ("a.txt", "b.txt", "mix.cc"):
        shutil.copy(mixed / name, tmp_path / name)
    (tmp_path / "graph.cpp").write_text(source)
    program = adf.load(tmp_path / "graph.cpp", folder=tmp_path)
    done = repaired(program, program.run().against({"z": RIGHT}), {"z": RIGHT}, USUAL)
    assert done.result is not None
    finding = done.result.findings[0]
    assert finding.fix == "Let gr.b read 'b.txt' instead of 'a.txt'. Tried: all words are as expected."


def test_the_size_of_a_port_is_why_an_input_is_too_short() -> None:
    """With the change all words are right: no input is too short."""
    short = Finding(
        "MT0304", Severity.ERROR, "gr.k.in[0] waits.", (Side("gr.x", "ran out"),), fix="Feed more."
    )
    repair = Repair("size", "set dimensions(gr.k.in[0]) to {16}", target="gr.k.in[0]", compared=True)
    for evidence, fix in (
        (Evidence(short=16), "Set dimensions(gr.k.in[0]) to {16}. Tried: all words are as expected."),
        (NO_EVIDENCE, "Feed more."),
    ):
        (found,) = with_repair([replace(short, evidence=evidence)], Tried((repair,)))
        assert (found.fix, found.repair) == (fix, repair)
