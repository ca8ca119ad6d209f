// An image of 8 x 8 numbers waits in a memory tile, from which a kernel gets it in four tiles of 4 x 4.
#pragma once

#include <adf.h>

#include "scale.h"

class TiledImage : public adf::graph {
  public:
    adf::input_plio image;
    adf::output_plio scaled;
    adf::shared_buffer<int32> whole;
    adf::kernel times_three;

    TiledImage() {
        image = adf::input_plio::create("image", adf::plio_64_bits, "data/image.txt");
        scaled = adf::output_plio::create("scaled", adf::plio_64_bits, "data/scaled.txt");
        whole = adf::shared_buffer<int32>::create({8, 8}, 1, 1);
        adf::num_buffers(whole) = 2;
        times_three = adf::kernel::create(scale<3>);
        adf::source(times_three) = "scale.cpp";
        adf::runtime<adf::ratio>(times_three) = 0.9;
        adf::dimensions(times_three.in[0]) = {16};
        adf::dimensions(times_three.out[0]) = {16};

        adf::connect(image.out[0], whole.in[0]);
        adf::connect(whole.out[0], times_three.in[0]);
        adf::connect(times_three.out[0], scaled.in[0]);
        adf::write_access(whole.in[0]) = adf::tiling({.buffer_dimension = {8, 8}, .tiling_dimension = {8, 8}, .offset = {0, 0}});
        adf::read_access(whole.out[0]) = adf::tiling({.buffer_dimension = {8, 8},
                                                      .tiling_dimension = {4, 4},
                                                      .offset = {0, 0},
                                                      .tile_traversal = {{.dimension = 0, .stride = 4, .wrap = 2},
                                                                         {.dimension = 1, .stride = 4, .wrap = 2}}});
    }
};
