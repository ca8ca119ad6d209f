// Element types and directions that both sides of adf.h know; global, and the same entities in `adf`.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "aie_api/aie.hpp"

#include "buffers.h"

using input = adf::direction::in;
using output = adf::direction::out;
using inout = adf::direction::inout;

namespace adf {

using ::inout;
using ::input;
using ::output;

using ::bfloat16;
using ::cfloat;
using ::cint16;
using ::cint32;
using ::int16;
using ::int32;
using ::int64;
using ::int8;
using ::uint16;
using ::uint32;
using ::uint64;
using ::uint8;

#ifdef MEMTILE_GRAPH  // in kernels they would meet aie::vector; users name them without std
using std::cout;
using std::endl;    // github.com/Xilinx/xup_aie_training
using std::vector;  // github.com/enyac-group/MaxEVA
#endif

}  // namespace adf
