// Windows of the first generation as parameters of kernels: declarations.
#pragma once
#include "elements.h"

namespace adf {

template <typename T>
class input_window {};
template <typename T>
class output_window {};

}  // namespace adf

using adf::input_window;
using adf::output_window;

#define MEMTILE_WINDOW_NAMES(type)                \
    using input_window_##type = input_window<type>; \
    using output_window_##type = output_window<type>;
MEMTILE_WINDOW_NAMES(int8)
MEMTILE_WINDOW_NAMES(uint8)
MEMTILE_WINDOW_NAMES(int16)
MEMTILE_WINDOW_NAMES(uint16)
MEMTILE_WINDOW_NAMES(int32)
MEMTILE_WINDOW_NAMES(uint32)
MEMTILE_WINDOW_NAMES(int64)
MEMTILE_WINDOW_NAMES(uint64)
MEMTILE_WINDOW_NAMES(cint16)
MEMTILE_WINDOW_NAMES(cint32)
MEMTILE_WINDOW_NAMES(float)
MEMTILE_WINDOW_NAMES(cfloat)
#undef MEMTILE_WINDOW_NAMES
