#pragma once
#include <adf.h>

#include "adf/io_buffer/io_buffer.h"
#include "adf/io_buffer/io_buffer_types.h"
#include "adf/new_frontend/types.h"
#include "aie_api/types.hpp"
#include "aie_api/vector.hpp"

using namespace adf;
using namespace aie;  // both have a tile

using input_stream_cacc48 = input_cascade<cacc64>;  // as DSPLib has them on AIE-ML
using output_stream_cacc48 = output_cascade<cacc64>;

void gained(input_stream<cint16>* in, output_cascade<acc48>* out, int32 gain, const int16 (&taps)[8], int32& level);
void gathered(input_cascade<acc48>* in, output_async_buffer<cint16>& out);
void margined(input_circular_buffer<int16, extents<inherited_extent>, margin<16>>& in, output_stream_int16* out);
void routed(input_pktstream* in, output_pktstream* out);
void framed(input_window_int32* in, output_window<int32>* out);

template <typename T, unsigned Length>
class filter {
public:
    filter(int shift, T (&taps)[Length], float scale);
    void run(input_buffer<T>& __restrict in, output_buffer<T>& __restrict out);
    static void registerKernelClass() {
        REGISTER_FUNCTION(filter::run);
        REGISTER_PARAMETER(taps);
    }

private:
    T (&taps)[Length];
};
