#pragma once
#include <memory>
#include <type_traits>
#include <vector>

#include "breadth_kernels.h"

extern const int16 table[4];

template <bool Has>
class chain : public graph {
public:
    input_port in;
    output_port out;
    port<direction::in> gain;
    kernel first, last;
    typename std::conditional<Has, kernel, int>::type extra;

    chain() {
        first = kernel::create(gained);
        last = kernel::create(gathered);
        connect<stream> n0(in, first.in[0]);
        connect<cascade>(first.out[0], last.in[0]);
        connect<parameter>(gain, async(first.in[1]));
        connect<>(last.out[0], out);
        initial_value(first.in[1]) = int32(7);
        stack_size(first) = 2048;
        heap_size(first) = 512;
        repetition_count(last) = 3;
        headers(first) = {"one.h", "two.h"};
        if constexpr (Has) extra = kernel::create(framed);
    }
};

class breadth : public graph {
public:
    chain<true> with;
    chain<false>* without;
    std::vector<kernel> filters;
    std::unique_ptr<kernel> owned;
    kernel grid[2][2];
    pktsplit<2> split;
    pktmerge<2> merge;
    pktorderedmerge<2> ordered;
    input_gmio from_memory;
    output_gmio to_memory;
    external_buffer<int32> outside;
    shared_buffer<uint8> bytes;
    parameter lut;
    input_port gain; kernel left_out;

    breadth() {
        without = new chain<false>;
        for (int i = 0; i < 2; i++) {
            filters.push_back(kernel::create_object<filter<int16, 4>>(i - 1, std::vector<int16>{1, -2, 3, 4}, 0.5f));
        }
        owned = std::make_unique<kernel>(kernel::create(margined));
        for (auto& row : grid)
            for (kernel& each : row) each = kernel::create(routed);
        split = pktsplit<2>::create();
        merge = pktmerge<2>::create();
        ordered = pktorderedmerge<2>::create();
        packet_count(ordered.in[0]) = 3;
        from_memory = input_gmio::create("in", 64, 1000);
        to_memory = output_gmio::create(256, 500);
        outside = external_buffer<int32>::create({4, 8}, 0, 1);
        bytes = shared_buffer<uint8>::create({64}, 2, 1);
        lut = parameter::array(table);
        connect<>(lut, filters[0]);
        connect<parameter>(gain, with.gain);
        connect<pktstream>(from_memory.out[0], split.in[0]);
        connect<window<128, 32>>(split.out[1], filters[0].in[0]);
        connect<window<64>, stream>(filters[0].out[0], to_memory.in[0]);
        write_access(bytes.in[0]) = buffer_descriptor(8, 0, {1}, {});
        read_access(bytes.out[0]) = buffer_descriptor({.length = 16, .offset = 2, .stepsize = {1, 4}, .wrap = {2}});
        std::vector<access_pattern> halves;
        for (int n = 0; n < 2; n++)
            halves.push_back(tiling({.tiling_dimension = {32}, .offset = {32 * n}, .tile_traversal = {}, .packet_port_id = n}));
        write_access(bytes.in[1]) = halves;
        std::vector<tiling_parameters> two(2);
        two[0].tiling_dimension = {2, 2};
        two[1].packet_port_id = 1;
        read_access(outside.out[0]) = tiling(two);
        single_buffer(filters[1].in[0]);
        location<graph>(with) = area_group({{aie_tile, 0, 0, 3, 1}, {shim_tile, 0, 0, 3, 0}});
        location<graph>(*without) = bounding_box(4, 0, 5, 2);
        location<dma>(bytes.in[0]) = dma_channel(memory_tile, 2, 0, 3);
        location<GMIO>(from_memory) = shim(5, 1);
        location<stack>(filters[0]) = bank(1, 2, 3);
        location<parameter>(filters[0].param[0]) = offset(1024);
        not_equal(location<buffer>(filters[0].in[0]), location<buffer>(filters[0].out[0]));
        runtime(filters[1]) = 0.25;
        samples_per_iteration(filters[0].out[0]) = 16;
        location_constraint place = location<kernel>(filters[0]);
        location<parameter>(filters[1].param[0]) = place;
        runtime<ratio>(left_out) = 0.4;
        source(left_out) = "left_out.cc";
    }
};
