"""Are the words that kernels put on a stream and get from it named where these numbers do not fit?"""

from __future__ import annotations

from pathlib import Path

import pytest

from left_out import needs
from memtile import adf
from memtile.explain.findings import Finding
from support.designs.cpp_designs import FOUND

GRAPH = """#include <adf.h>
using namespace adf;
void give(input_buffer<int32>& in, output_stream<int32>* out);
void take(input_stream<int32>* in, output_buffer<int32>& out);
class Streams : public graph {
  public:
    input_plio x;
    output_plio y, z;
    kernel first, second, third;
    Streams() {
        x = input_plio::create("x", plio_32_bits, "x.txt");
        y = output_plio::create("y", plio_32_bits, "y.txt");
        second = kernel::create(take);
        source(second) = "take.cc";
        runtime<ratio>(second) = 0.9;
        dimensions(second.out[0]) = {8};
#ifdef PUTS
        first = kernel::create(give);
        source(first) = "give.cc";
        runtime<ratio>(first) = 0.9;
        dimensions(first.in[0]) = {8};
        repetition_count(first) = 2;
        connect(x.out[0], first.in[0]);
        connect<stream>(first.out[0], second.in[0]);
#else
        connect<stream>(x.out[0], second.in[0]);
#endif
        connect(second.out[0], y.in[0]);
#ifdef BOTH
        third = kernel::create(take);
        source(third) = "take.cc";
        runtime<ratio>(third) = 0.9;
        dimensions(third.out[0]) = {8};
        z = output_plio::create("z", plio_32_bits, "z.txt");
        connect<stream>(first.out[0], third.in[0]);
        connect(third.out[0], z.in[0]);
#endif
    }
};
Streams gr;
int main() {
    gr.init();
    gr.run(3);
    gr.end();
    return 0;
}
"""
GIVE = """#include <adf.h>
void give(adf::input_buffer<int32>& in, output_stream<int32>* out) {
    for (int i = 0; i < PUTS + VARIES * (in.data()[0] > 8); i++) writeincr(out, in.data()[i % 8]);
}
"""
TAKE = """#include <adf.h>
void take(input_stream<int32>* in, adf::output_buffer<int32>& out) {
    for (int i = 0; i < GETS; i++) out.data()[i % 8] = readincr(in);
}
"""


def found(folder: Path, **defines: str) -> list[Finding]:
    for name, text in (("graph.cpp", GRAPH), ("give.cc", GIVE), ("take.cc", TAKE)):
        (folder / name).write_text(text)
    (folder / "x.txt").write_text("".join(f"{n}\n" for n in range(48)))
    done = adf.load(folder / "graph.cpp", folder=folder, defines=defines).run()
    assert done.result is not None
    return [*done.result.findings]


@needs("c++", FOUND)
def test_both_ends_of_a_stream_between_kernels_are_counted(tmp_path: Path) -> None:
    (one, *_) = found(tmp_path, PUTS="7", VARIES="0", GETS="16")
    assert one.message.endswith(
        "gr.first has ended: gr.first puts 7 words in each call, and gr.second gets 16 words in each call."
    )
    assert one.fix == "Let gr.first put 8 words in each call, or let gr.second get 14 words in each call."


@needs("c++", FOUND)
def test_words_that_calls_do_not_share_evenly_are_those_of_several_calls(tmp_path: Path) -> None:
    (one, *_) = found(tmp_path, PUTS="7", VARIES="0", GETS="15")
    assert one.fix == "Let gr.second get 14 words in each call, or let 2 calls of gr.first put 15 words."


@needs("c++", FOUND)
def test_an_input_is_held_against_the_words_of_a_call(tmp_path: Path) -> None:
    (one, *_) = found(tmp_path, GETS="24")
    assert one.message == (
        "gr.second waits for words of gr.x, which has sent all of its 48 words; gr.second gets 24 words in "
        "each call, of which 2 ended: the next one needs 72 words in all."
    )
    assert one.fix == "Feed more, or let gr.second get fewer words in each call."


@needs("c++", FOUND)
@pytest.mark.parametrize(("varies", "gets"), [("-1", "16"), ("0", "60")])
def test_calls_that_differ_or_do_not_end_have_no_number(tmp_path: Path, varies: str, gets: str) -> None:
    several = found(tmp_path, PUTS="7", VARIES=varies, GETS=gets)
    assert not any("in each call" in each.message for each in several)


@needs("c++", FOUND)
def test_a_stream_to_several_kernels_has_no_number(tmp_path: Path) -> None:
    several = found(tmp_path, PUTS="7", VARIES="0", GETS="16", BOTH="1")
    assert several
    assert not any("in each call" in each.message for each in several)
