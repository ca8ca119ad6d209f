// The AIE API for kernels of ADF graphs: iterators over buffers, streams and cascades, windows (UG1603, Iterators;
// Streaming Data API).
#pragma once

#include "adf.h"
#include "aie.hpp"
