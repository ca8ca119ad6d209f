// A kernel: each number of a tile times a factor, eight at a time.
#pragma once

#include <adf.h>

template <int Factor>
void scale(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out);
