// Kernels of graphs, one for each kind of parameter that UG1603 has.
#include <adf.h>
#include <algorithm>
#include <aie_api/aie.hpp>

#include "graph_kernels.h"

using namespace adf;
using namespace std;  // rotate is a kernel of this file all the same

// Buffers and a number.
void scale(input_buffer<int16>& in, output_buffer<int32, extents<8>>& __restrict out, int16 factor) {
    auto from = aie::begin(in);
    auto to = aie::begin(out);
    for (unsigned i = 0; i < in.size(); ++i) *to++ = factor * *from++;
}
void scale_pair(input_buffer<cint16>& in, output_buffer<cint16>& out, cint16 factor, const float& offset, bool swap) {
    for (unsigned i = 0; i < in.size(); ++i) {
        cint16 value = in.data()[i] * factor;
        if (swap) value = cint16(value.imag, value.real);
        value.real += static_cast<int16>(offset * 4);
        aie::begin(out)[i] = value;
    }
}

// Templates, and two functions of one name.
template <int Step, unsigned Lanes>
void stride(input_buffer<int32>& in, output_buffer<int32>& out) {
    auto from = aie::cbegin_vector<Lanes>(in);
    auto to = aie::begin_restrict_vector<Lanes>(out);
    for (unsigned i = 0; i < in.size() / Lanes; ++i) *to++ = aie::add(*from++, Step);
}
void over(input_buffer<int32>& in, output_buffer<int32>& out) { *aie::begin(out) = 2 * *aie::begin(in); }
void over(input_buffer<int16>& in, output_buffer<int16>& out) { *aie::begin(out) = 3 * *aie::begin(in); }

// Arrays: one that is read, one that stays from call to call, and a number that the kernel gives back.
void dot(const int32 (&weights)[4], int32 (&totals)[4], int32& calls) {
    for (int i = 0; i < 4; ++i) totals[i] += weights[i];
    ++calls;
}

// Objects, and globals that kernels of one core share.
int32 all_calls = 0;
static int32 begun = 0;
template <typename T>
Fir<T>::Fir(const int32 (&of)[3], T first) : sum(first), made(++begun) {
    for (int i = 0; i < 3; ++i) taps[i] = of[i];
}
template <typename T>
void Fir<T>::filter(input_buffer<T>& in, output_buffer<int32>& out) {
    for (unsigned i = 0; i < in.size(); ++i) sum += taps[i % 3] * in.data()[i];
    int32* to = out.data();
    to[0] = sum;
    to[1] = made;
    to[2] = ++all_calls;
}
void Counter::init() { from = 40; }
void Counter::next(output_buffer<int32>& out) { *aie::begin(out) = ++from; }

// Margins and circular buffers.
void smooth(input_buffer<int32, extents<inherited_extent>, margin<2>>& in, output_buffer<int32>& out) {
    for (unsigned i = 0; i < in.size(); ++i) out.data()[i] = in.data()[i] + in.data()[i + 1] + in.data()[i + 2];
}
void rotate(input_circular_buffer<int32, extents<6>, margin<2>>& in, output_circular_buffer<int32>& out) {
    auto from = aie::begin_random_circular(in);
    auto to = aie::begin_circular(out);
    from -= 1;
    for (unsigned i = 0; i < 10; ++i) *to++ = *from++;
}

// Asynchronous buffers.
void pairs(input_async_buffer<int32>& in, output_async_buffer<int32>& out, int32 number) {
    out.acquire();
    int32* to = out.data();
    for (int32 n = 0; n < number; ++n) {
        in.acquire();
        *to++ = in.data()[0] + in.data()[in.size() - 1];
        in.release();
    }
    out.release();
}
// Windows.
void window_reverse(input_window<int32>* in, output_window_int32* out) {
    const unsigned n = window_size(in);
    window_decr(in, 1);
    for (unsigned i = 0; i < n; ++i) window_writeincr(out, window_readdecr(in));
}
void window_vectors(input_window_int32* restrict in, output_window<int32>* restrict out) {
    for (unsigned i = 0; i < window_size(in) / 4; ++i) {
        aie::vector<int32, 4> value = i % 2 ? window_readincr_v<4>(in) : window_readincr_v4(in);
        window_incr_v4(out, 1);
        window_write(out, aie::neg(value));
    }
}
void window_async(input_window<int32>* in, output_window<int32>* out) {
    window_acquire(in);
    window_writeincr(out, window_read(in));
    window_release(in);
}

// Streams, packets and cascades.
void halves(input_stream_int32* in, output_buffer<int32>& out) {
    bool last = false;
    int32* to = out.data();
    *to++ = readincr<aie_stream_resource_in::a>(in, last);
    while (!last) *to++ = readincr(in, last);
}
void words(input_buffer<int32>& in, output_stream<int32>* out) {
    for (unsigned i = 0; i < in.size(); i += 4)
        writeincr_v4(out, aie::load_v<4>(in.data() + i), i + 4 >= in.size());
}
void send_packet(input_buffer<int32>& in, output_pktstream* out, int32 branch) {
    writeHeader(out, 5, getPacketid(out, branch));
    for (unsigned i = 0; i < in.size(); ++i) writeincr(out, in.data()[i], i + 1 == in.size());
}
void shifted_streams(input_stream<cint16>* in, output_stream<cint16>* out) {
    aie::vector<cint16, 4> four;
    *in >> four;
    cint16 one;
    bool last = false;
    *in >> aie::tlast(one, last);
    *out << four << aie::tlast(last ? one : cint16(0, 0), true);
}
void narrow(input_buffer<bfloat16>& in, const int8 (&numbers)[2], output_stream<bfloat16>* out) {
    writeincr(out, in.data()[0]);
    writeincr((output_stream<int8>*)out, numbers[0]);
    writeincr((output_stream<int8>*)out, numbers[1], true);
}
void widen(input_stream<bfloat16>* in, output_buffer<float>& out, int32 number) {
    out.data()[0] = readincr(in);
    for (int i = 1; i < number; ++i) out.data()[i] = readincr((input_stream<int8>*)in);
}
void put_sums(input_buffer<int32>& in, output_cascade<acc32>* out) {
    aie::accum<acc32, 16> sums;
    sums.from_vector(aie::load_v<16>(in.data()));
    writeincr(out, sums);
}
void get_sums(input_cascade<acc32>* in, output_buffer<int32>& out) {
    aie::store_v(out.data(), readincr_v<16>(in).to_vector<int32>());
}

// Look-up tables that another source defines.
extern const int32 squares[4];
namespace tables {
extern const int16 cubes[2];
}
void look_up(input_buffer<int32>& in, output_buffer<int32>& out) {
    for (unsigned i = 0; i < in.size(); ++i) out.data()[i] = squares[in.data()[i]] + tables::cubes[i % 2];
}
