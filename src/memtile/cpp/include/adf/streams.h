// Streams, cascades and packet streams as parameters of kernels: declarations beside those of aie_adf.hpp.
#pragma once
#include "aie_api/aie_adf.hpp"
#include "elements.h"

namespace adf {

class input_pktstream {};
class output_pktstream {};

}  // namespace adf

using adf::input_pktstream;
using adf::output_pktstream;

#define MEMTILE_STREAM_NAMES(type)                \
    using input_stream_##type = input_stream<type>; \
    using output_stream_##type = output_stream<type>;
MEMTILE_STREAM_NAMES(int8)
MEMTILE_STREAM_NAMES(uint8)
MEMTILE_STREAM_NAMES(int16)
MEMTILE_STREAM_NAMES(uint16)
MEMTILE_STREAM_NAMES(int32)
MEMTILE_STREAM_NAMES(uint32)
MEMTILE_STREAM_NAMES(int64)
MEMTILE_STREAM_NAMES(uint64)
MEMTILE_STREAM_NAMES(cint16)
MEMTILE_STREAM_NAMES(cint32)
MEMTILE_STREAM_NAMES(float)
MEMTILE_STREAM_NAMES(cfloat)
#undef MEMTILE_STREAM_NAMES
