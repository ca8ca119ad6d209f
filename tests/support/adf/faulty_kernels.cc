// Kernels of graphs with one mistake each; tests name their lines.
#include <adf.h>

using namespace adf;

using In = input_buffer<int32>;
using Out = output_buffer<int32>;
void beyond(In& in, Out& out) {
    out.data()[in.size()] = 1;
}
void early(input_async_buffer<int32>& in, Out& out) {
    *aie::begin(out) = in.data()[0];
}
void keeps(input_async_buffer<int32>& in, Out& out) {
    in.acquire();
}
void twice(input_async_buffer<int32>& in, Out& out) {
    in.acquire();
    in.acquire();
}
void sized(In& in, output_buffer<int32, extents<5>>& out) {}
void packet(output_pktstream* out) {
    writeHeader(out, 0, getPacketid(out, 2));
}
void waits(input_window<int32>* in, Out& out) {
    window_acquire(in);
}
