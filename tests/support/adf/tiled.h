#pragma once
#include "tiled_kernels.h"

// A matrix in a memory tile, read in tiles, through a graph of two kernels.
class inner : public adf::graph {
public:
    adf::port<input> in;
    adf::port<output> out;
    adf::kernel steps[2];

    inner() {
        steps[0] = adf::kernel::create(turned<16, 8>);
        steps[1] = adf::kernel::create(halved);
        adf::source(steps[0]) = "turned.cc";
        adf::source(steps[1]) = "halved.cc";
        for (adf::kernel& each : steps) adf::runtime<adf::ratio>(each) = 0.9;
        adf::dimensions(steps[0].in[0]) = {128};
        adf::connect(in, steps[0].in[0]);
        adf::connect<>(steps[0].out[0], steps[1].in[0]);
        adf::connect<> last(steps[1].out[0], out);
        adf::fifo_depth(last) = 32;
    }
};

class tiled : public adf::graph {
public:
    adf::input_plio data_in;
    adf::output_plio data_out;
    adf::shared_buffer<int32> matrix;
    inner sub;

    tiled() {
        data_in = adf::input_plio::create("DataIn", adf::plio_64_bits, "data/in.txt", 312.5);
        data_out = adf::output_plio::create("DataOut", adf::plio_32_bits, "data/out.txt");
        matrix = adf::shared_buffer<int32>::create({16, 8}, 1, 1);
        adf::num_buffers(matrix) = 2;
        adf::write_access(matrix.in[0]) = adf::tiling({.buffer_dimension = {16, 8}, .tiling_dimension = {16, 8}, .offset = {0, 0}});
        adf::read_access(matrix.out[0]) =
            adf::tiling({.buffer_dimension = {16, 8},
                         .tiling_dimension = {4, 4},
                         .offset = {0, -4},
                         .tile_traversal = {{.dimension = 1, .stride = 4, .wrap = 2}, {.dimension = 0, .stride = 4, .wrap = 4}},
                         .boundary_dimension = {16, 4}});
        adf::connect<>(data_in.out[0], matrix.in[0]);
        adf::connect<>(matrix.out[0], sub.in);
        adf::connect<adf::stream>(sub.out, data_out.in[0]);
        adf::location<adf::kernel>(sub.steps[0]) = adf::tile(3, 1);
        adf::location<adf::buffer>(sub.steps[0].out[0]) = {adf::address(3, 1, 0x1000), adf::address(3, 1, 0x2000)};
        adf::location<adf::kernel>(sub.steps[1]) =
            adf::location<adf::kernel>(sub.steps[0]) + adf::relative_offset({.col_offset = 1, .row_offset = 0});
        adf::location<adf::buffer>(matrix) = {adf::address(3, 0, 0)};
    }
};
