#pragma once
#include <adf.h>
#include <aie_api/aie.hpp>

template <int Columns, int Rows>
void turned(adf::input_buffer<int32>& in, adf::output_buffer<int32, adf::extents<Columns, Rows>>& out);
void halved(adf::input_buffer<int32>& __restrict in, adf::output_buffer<int16>& __restrict out);
