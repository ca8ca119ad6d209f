// What an array has, as functions that graphs choose by at compile time.
//
// Sources: AM020, AIE-ML Tile Architecture: a core has one stream in each direction.
#pragma once
#include "../../adf.h"

namespace adf {

constexpr unsigned get_input_streams_core_module() { return 1; }
constexpr unsigned get_output_streams_core_module() { return 1; }

}  // namespace adf

using adf::get_input_streams_core_module;
using adf::get_output_streams_core_module;
