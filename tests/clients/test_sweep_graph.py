"""Does ``memtile sweep`` try the macros of a graph in C++, keep what fails, and name what is wrong?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import memtile
from left_out import need_package, needs
from memtile import DesignError, InputFileError, SweepPlan, adf, schema
from memtile.adf.macros import GraphTexts
from memtile.cli.agents.tool_arguments import check_arguments
from memtile.cli.diff import graph_side
from memtile.cli.graph_file import NO_GRAPH
from memtile.cli.main import app
from memtile.explain.compare.comparison import ComparedSide, compared
from memtile.explore.survey.survey_cases import find
from memtile.explore.sweep.graph_variants import as_data, graph_hash, graph_of, macro_space
from memtile.runs.options import USUAL
from support.designs.cpp_designs import FOUND

# The macro has a name that memtile's own headers use for parameters of templates.
COPYING = """
#ifndef N
#define N 0
#endif
#if N == 1
#error "there is no way 1"
#elif N == 2
int main() {
    for (volatile int i = 0;; i = i + 1) {
    }
}
#else
#include "copying.h"
copying gr;
int main() {
    gr.init();
    gr.run(2);
    gr.end();
    return 0;
}
#endif
"""
HEADER = """
#pragma once
#include <adf.h>
#define WORDS 16
class copying : public adf::graph {
public:
    adf::input_plio a = adf::input_plio::create("in", adf::plio_32_bits, "in.txt");
    adf::output_plio z = adf::output_plio::create("out", adf::plio_32_bits, "out.txt");
    adf::shared_buffer<int32> block = adf::shared_buffer<int32>::create({WORDS}, 1, 1);
    copying() {
        adf::connect(a.out[0], block.in[0]);
        adf::connect(block.out[0], z.in[0]);
        adf::tiling_parameters all{.buffer_dimension = {WORDS}, .tiling_dimension = {WORDS}, .offset = {0}};
        adf::write_access(block.in[0]) = adf::tiling(all);
        adf::read_access(block.out[0]) = adf::tiling(all);
    }
};
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph that all tests here share, so that it is compiled once."""
    return written(tmp_path_factory.mktemp("copying"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def written(folder: Path) -> Path:
    (folder / "graph.cpp").write_text(COPYING)
    (folder / "copying.h").write_text(HEADER)
    (folder / "in.txt").write_text("".join(f"{n}\n" for n in range(32)))
    return folder


def sweep(*args: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["sweep", *map(str, args)], env={"COLUMNS": "150"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == code, done.output
    return done


def rows(*args: object, code: int = 0) -> list[dict[str, Any]]:
    found = json.loads(sweep(*args, "--json", code=code).stdout)
    assert list(Draft202012Validator(schema("sweep-output")).iter_errors(found)) == []
    return list(found["rows"])


@pytest.mark.usefixtures("here")
def test_variants_that_do_not_compile_are_rows_with_their_reason(sources: Path) -> None:
    need_package("pyarrow")
    args = (sources / "graph.cpp", "--vary", "N=0,1", "--by", "cycles,l2", "--workers", 0)
    good, failed = rows(*args)
    assert [(row["point"], row["kind"]) for row in (good, failed)] == [
        ({"N": 0}, ""),
        ({"N": 1}, "failed"),
    ]
    assert good["figures"]["l2"] == 64
    assert good["figures"]["bds"] == 2
    assert good["figures"]["cycles"] > 32
    assert failed["why"].startswith("graph.cpp: the graph does not compile. graph.cpp:6:2: error: ")
    assert "there is no way 1" in failed["why"]
    assert "0 ran, 2 known from the log" in sweep(*args).stdout
    refused = sweep("replay", "--trust", "graph.sweep.parquet", code=2).stderr
    assert "Run the variant: memtile run graph.cpp -D N=0" in " ".join(refused.split())


@needs("c++", FOUND)
@pytest.mark.usefixtures("here")
def test_a_main_that_never_ends_is_a_row() -> None:
    (hung,) = rows("graph.cpp", "--vary", "N=2", "--workers", 1, "--seconds", 4, "--no-log", code=1)
    assert (hung["kind"], hung["why"]) == ("seconds", "the limit of 4 s is over")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--vary", "NOPE=1,2"],
            "no source of the graph uses the macro NOPE, so that all variants would be the same (macros in "
            "the sources of the graph). Macros that the sources give a value are N.",
        ),
        (["--vary", "WORDS=1,2"], "copying.h:4 defines WORDS itself, so that other values have no effect"),
        (["--vary", "3x=1"], "'3x' is no macro, which must be an identifier of C++"),
        (["--vary", "N=1,,2"], "N cannot be varied over '1,,2' (a value is empty)"),
        (["--vary", "N"], "N cannot be varied over '' (nothing says which values it has)"),
        (["--vary", "N=1", "-D", "N=2"], "N is both varied and given a value by --set or -D"),
        (["--vary", "N=1", "--set", "a-b=2"], "'a-b' is no macro, which must be an identifier of C++"),
        (
            ["--set", "N=1"],
            "there is nothing to vary; macros that the sources give a value are N",
        ),
        (["--vary", "N=1", "--scheduler", "tcp://x:1"], "--scheduler is for designs in Python"),
        (["--vary", "N=1", "--prune"], "--prune is for designs in Python"),
        (["--vary", "N=1", "--no-data"], "a sweep of a graph has no use for data"),
    ],
)
def test_what_cannot_be_varied_is_named_before_anything_is_compiled(words: list[str], says: str) -> None:
    assert says in " ".join(sweep("graph.cpp", *words, "--no-log", code=2).stderr.split())


@pytest.mark.usefixtures("here")
def test_options_for_graphs_are_refused_with_a_design(here: Path) -> None:
    (here / "design.py").write_text("def design(n: bool = False):\n    pass\n")
    refused = sweep("design.py", "-D", "N=1", "--in-folder", ".", code=2).stderr
    assert "-D, --in-folder: only for graphs in C++" in refused
    assert "a design in Python is swept alone" in sweep("design.py", "graph.cpp", code=2).stderr


@pytest.mark.usefixtures("here")
def test_values_are_numbers_or_any_text_of_cpp() -> None:
    graph = adf.load("graph.cpp")
    space = macro_space(graph, {"N": "3, int8,(4,2),0x10,007,1.5"}, {})
    assert space.axes[0].values == (3, "int8", "(4,2)", "0x10", "007", "1.5")
    assert macro_space(graph, {"N": "16..64:16"}, {}).axes[0].values == (16, 32, 48, 64)
    assert macro_space(graph, {"N": "0.5..1.5:0.5"}, {}).axes[0].values == (0.5, 1.0, 1.5)
    assert macro_space(graph, {"N": "0", "timing.external_latency": "50,80"}, {}).size == 2
    with pytest.raises(DesignError, match="nothing to vary"):
        memtile.sweep(graph, SweepPlan(workers=0))


@pytest.mark.usefixtures("here")
def test_a_row_is_known_by_all_that_the_graph_is_made_of(here: Path) -> None:
    (here / "src").mkdir()
    (here / "src" / "used.h").write_text("// used\n")
    (here / "src" / "named.cc").write_text("// named\n")
    (here / "graph.cpp").write_text('#include <used.h>\nconst char* kernel = "named.cc";\n')

    def now(**options: Any) -> str:
        return graph_hash(adf.load("graph.cpp", include=["src"], **options))

    seen = {now(), now(defines={"A": 1}), now(device="xcve2302"), now(cycles={"k": 3})}
    for name in ("graph.cpp", "copying.h", "src/used.h", "src/named.cc"):
        (here / name).write_text((here / name).read_text() + "// other\n")
        seen.add(now())
    assert len(seen) == 8
    assert now() in seen


@pytest.mark.usefixtures("here")
def test_a_graph_goes_through_json_as_it_is() -> None:
    graph = adf.load("graph.cpp", defines={"A": 1, "B": None}, include=["."], cycles={"k": 3}, folder=".")
    again = graph_of(json.loads(json.dumps(as_data(graph))))
    assert (again.files, again.options) == (graph.files, graph.options)


def test_macros_that_sources_ask_for_are_found_as_text(here: Path) -> None:
    (here / "graph.cpp").write_text(
        '#include "deep/a.h"\n#ifndef OPEN\n#define OPEN 3\n#endif\n#define GUARDED 1\n'
        "#if defined(GUARDED)\n#endif\n"
    )
    (here / "deep").mkdir()
    (here / "deep" / "a.h").write_text("#ifndef A_H\n#define A_H\n  #  define OWN 2\n#endif\n")
    texts = GraphTexts([here / "graph.cpp"])
    assert [path.name for path in texts.read] == ["graph.cpp", "a.h"]
    assert texts.offered == ["OPEN"]
    assert [texts.fixed_at(name) for name in ("OPEN", "OWN", "GUARDED", "A_H")] == ["", "a.h:3", "", ""]
    assert texts.has("WORDS")  # of copying.h, which only lies beside
    assert not texts.has("WORD")


@pytest.mark.usefixtures("here")
def test_names_that_are_no_macros_are_refused_all_at_once() -> None:
    with pytest.raises(InputFileError) as refused:
        adf.load("graph.cpp", defines={"3x": 1, "a b": 2, "OK": "a\nb", "F(x, y)": "x", "GOOD": None})
    assert [line.partition(" (")[0] for line in refused.value.messages] == [
        "macro '3x': '3x' must be an identifier of C++",
        "macro 'a b': 'a b' must be an identifier of C++",
        "macro 'OK': 'a\\nb' must be printable text of one line",
    ]


def compared_graph(name: str, settings: list[str]) -> ComparedSide:
    return graph_side(name, NO_GRAPH, settings, USUAL)


def called(*args: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, args)], env={"COLUMNS": "150"})
    assert done.exit_code == code, done.output
    return done.stdout + done.stderr


def test_diff_compares_two_graphs_with_input_files_beside_them(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here and beside the graph lie other files: those here come first."""
    graph = sources / "graph.cpp"
    said = called("diff", graph, graph, "--set", "N=0")
    assert "are the same in cycles, words, registers" in said
    monkeypatch.chdir(tmp_path)
    kept = compared_graph(str(graph), ["N=0"])
    Path("in.txt").write_text("7\n" * 32)
    other = compared_graph(str(graph), ["N=0"])
    found = compared(kept, other)
    assert [change.text for change in found.words or ()] == [
        "gr.z: 31 of 32 elements differ, the first at [0]: 0 -> 7"
    ]
    assert not found.registers
    refused = called("diff", __file__, __file__, "-D", "N=1", code=2)
    assert "-D: only for graphs in C++" in refused


def test_a_survey_tries_graphs_with_the_macros_beside_them(sources: Path) -> None:
    facts, bad = sources / "facts.json", sources / "bad.cpp"
    facts.write_text(json.dumps({"macros": {"N": 0}, "include": ["."]}))
    bad.write_text("#if N == 0\n#error no such way\n#endif\n#include <adf.h>\nint main() { gr.init(); }\n")
    try:
        found = json.loads(called("survey", sources, "--json", code=1))
    finally:
        facts.unlink()
        bad.unlink()
    refused, finished = found["designs"]
    assert (refused["design"], refused["bucket"]) == ("bad.cpp", "refused")
    assert refused["why"].startswith("bad.cpp: the graph does not compile. bad.cpp:2:2: error: ")
    assert (finished["design"], finished["bucket"], finished["why"]) == ("graph.cpp", "finished", "")
    assert finished["cycles"] > 32


def test_headers_of_an_agent_lie_below_its_root(here: Path) -> None:
    check_arguments(here, {"path": "graph.cpp", "include": "."})
    with pytest.raises(InputFileError, match="include is '/etc'"):
        check_arguments(here, {"path": "graph.cpp", "include": "/etc"})


def test_a_survey_knows_the_mains_of_graphs(here: Path) -> None:
    (here / "other.cpp").write_text("struct S { void init(); } s;\nint main() { s.init(); }\n")
    (here / "kernel.cc").write_text("#include <adf.h>\n")
    assert [case.name for case in find(here).cases] == ["graph.cpp"]
