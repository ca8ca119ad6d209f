#include "breadth.h"

#include <cstdio>
#include <cstring>

breadth gr;  // by value below, as in github.com/rehohoho/onnx2versal
void run_by_value(graph of, int iterations) { of.run(iterations); }
simulation::platform<1, 1> files("data/in.txt", "data/out.txt");

int main(int count, char** words) {
    std::printf("began with %d words\n", count);
    if (count > 1 && !std::strcmp(words[1], "crash")) *(volatile int*)nullptr = 1;
    auto* sent = static_cast<int32*>(GMIO::malloc(16 * sizeof(int32)));
    auto* got = static_cast<int32*>(GMIO::malloc(16 * sizeof(int32)));
    for (int i = 0; i < 16; i++) sent[i] = 3 * i;
    gr.outside.setAddress(sent + 4);
    gr.init();
    gr.update(gr.gain, 5);
    const int16 taps[3] = {1, -1, 2};
    gr.update(gr.with.first.in[2], taps, 3);
    event::handle timer = event::start_profiling(gr.to_memory, event::io_stream_start_to_bytes_transferred_cycles, 64);
    gr.from_memory.gm2aie_nb(sent, 64);
    gr.outside.gm2aie_nb(gr.outside.out[0]);
    gr.outside.wait(gr.outside.out[0]);
    run_by_value(gr, 2);
    gr.to_memory.aie2gm_nb(got, 32);
    gr.to_memory.wait();
    gr.wait(1000);
    gr.resume();
    int32 level = 0;
    gr.read(gr.with.first.inout[0], level);
    const long long cycles = event::read_profiling(timer);
    event::stop_profiling(timer);
    if (count > 1 && !std::strcmp(words[1], "past")) gr.from_memory.gm2aie_nb(sent + 8, 64);
    GMIO::free(sent);
    gr.end();
    std::printf("got %d %d, level %d, %lld cycles\n", got[0], got[7], level, cycles);
    return count > 1 ? 3 : 0;
}
