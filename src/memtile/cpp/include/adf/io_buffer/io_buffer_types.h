// Buffers of kernels, by a path that users include.
#pragma once
#include "adf/buffers.h"
