// Buffers outside of kernels, and how their ports go through them.
//
// Sources: UG1603, AI Engine-ML Memory Tile Access; External Memory Access; Tiling Parameters; UG1603 2023 for
// buffer_descriptor.
#pragma once

#include "host_calls.h"
#include "ports.h"

namespace adf {

struct traversing_parameters {
    std::uint32_t dimension = 0;
    std::int32_t stride = 0;
    std::uint32_t wrap = 1;
};
using tile_traversal = traversing_parameters;

/// How a port goes through a buffer: tiles, and the loops over them from inner to outer.
struct tiling_parameters {
    std::vector<std::uint32_t> buffer_dimension;
    std::vector<std::uint32_t> tiling_dimension;
    std::vector<std::int32_t> offset;
    std::vector<traversing_parameters> tile_traversal;
    int packet_port_id = -1;
    std::vector<std::uint32_t> boundary_dimension;
};

/// The older way through a buffer, in words of 32 bits: steps of dimensions, the first of them the fastest, and how many
/// of each but the last.
struct buffer_descriptor_parameters {
    std::uint32_t length = 0;
    std::uint32_t offset = 0;
    std::vector<std::uint32_t> stepsize;
    std::vector<std::uint32_t> wrap;
};

namespace detail {

inline std::string loops(const std::vector<traversing_parameters>& of) {
    std::vector<std::string> parts;
    for (const traversing_parameters& each : of) {
        parts.push_back(recorder::object({{"dimension", recorder::integer(each.dimension)},
                                          {"stride", recorder::integer(each.stride)},
                                          {"wrap", recorder::integer(each.wrap)}}));
    }
    return recorder::list(parts);
}
inline std::string tiling_json(const tiling_parameters& of) {
    std::vector<std::pair<const char*, std::string>> fields{
        {"buffer_dimension", recorder::integers(of.buffer_dimension)},
        {"tiling_dimension", recorder::integers(of.tiling_dimension)},
        {"offset", recorder::integers(of.offset)},
        {"tile_traversal", loops(of.tile_traversal)},
        {"packet_port_id", recorder::integer(of.packet_port_id)}};
    if (!of.boundary_dimension.empty()) fields.push_back({"boundary_dimension", recorder::integers(of.boundary_dimension)});
    return recorder::object(fields);
}
inline std::string descriptor_json(const buffer_descriptor_parameters& of) {
    std::vector<std::string> steps;
    for (std::size_t n = 0; n < of.stepsize.size(); ++n) {
        const std::uint32_t wrap = n < of.wrap.size() ? of.wrap[n] : 0;
        steps.push_back(recorder::list({recorder::integer(of.stepsize[n]), recorder::integer(wrap)}));
    }
    return recorder::object({{"offset", recorder::list({recorder::integer(of.offset)})},
                             {"steps", recorder::list(steps)},
                             {"length", recorder::integer(of.length)}});
}

}  // namespace detail

/// What `write_access` and `read_access` get: one tiling, or several that make one turn of the buffer.
struct tiling {
    std::vector<std::string> parts;
    tiling(const tiling_parameters& of) : parts{detail::tiling_json(of)} {}
    tiling(std::initializer_list<tiling_parameters> of) {
        for (const tiling_parameters& each : of) parts.push_back(detail::tiling_json(each));
    }
    tiling(const std::vector<tiling_parameters>& of) {
        for (const tiling_parameters& each : of) parts.push_back(detail::tiling_json(each));
    }
};

/// What UG1603 calls the elements of a list of tilings.
using access_pattern = tiling;

/// The older form of a tiling.
struct buffer_descriptor : tiling {
    buffer_descriptor(const buffer_descriptor_parameters& of) : tiling(std::vector<tiling_parameters>{}) {
        parts.push_back(detail::descriptor_json(of));
    }
    buffer_descriptor(std::uint32_t length, std::uint32_t offset, const std::vector<std::uint32_t>& stepsize,
                      const std::vector<std::uint32_t>& wrap)
        : buffer_descriptor(buffer_descriptor_parameters{length, offset, stepsize, wrap}) {}
};

/// A buffer of a memory tile (or of external memory): dimension 0 is the fastest.
template <typename T>
class memory_buffer : public handle {
public:
    port_list<direction::in> in;
    port_list<direction::out> out;
    memory_buffer() = default;

protected:
    memory_buffer(recorder::Node* node, const std::vector<std::uint32_t>& dimensions, std::size_t inputs, std::size_t outputs,
                  bool is_external, void* from)
        : handle(node) {
        recorder::set(node, "external", recorder::truth(is_external));
        recorder::set(node, "element", recorder::text(recorder::element<T>::name()));
        recorder::set(node, "element_bytes", recorder::integer(sizeof(T)));
        recorder::set(node, "dimensions", recorder::integers(dimensions));
        recorder::set(node, "inputs", ports(in, node, inputs, from));
        recorder::set(node, "outputs", ports(out, node, outputs, from));
    }

private:
    template <typename D>
    static std::string ports(port_list<D>& list, recorder::Node* node, std::size_t count, void* from) {
        list.begin("buffer");
        std::vector<std::string> ids;
        for (std::size_t number = 0; number < count; ++number) {
            recorder::Node* port = detail::new_port(node, detail::way<D>, number, "memory", from);
            recorder::set(port, "element", recorder::text(recorder::element<T>::name()));
            recorder::set(port, "element_bytes", recorder::integer(sizeof(T)));
            list.add(port);
            ids.push_back(recorder::integer(recorder::id_of(port)));
        }
        return recorder::list(ids);
    }
};

template <typename T>
class shared_buffer : public memory_buffer<T> {
public:
    shared_buffer() = default;
    MEMTILE_CALLED static shared_buffer create(const std::vector<std::uint32_t>& dimensions, std::uint32_t inputs, std::uint32_t outputs) {
        return {recorder::record("memories", MEMTILE_CALLER), dimensions, inputs, outputs, MEMTILE_CALLER};
    }

private:
    shared_buffer(recorder::Node* node, const std::vector<std::uint32_t>& dimensions, std::size_t inputs, std::size_t outputs, void* from)
        : memory_buffer<T>(node, dimensions, inputs, outputs, false, from) {}
};

template <typename T>
class external_buffer : public memory_buffer<T> {
public:
    external_buffer() = default;
    MEMTILE_CALLED static external_buffer create(const std::vector<std::uint32_t>& dimensions, std::uint32_t inputs, std::uint32_t outputs) {
        return {recorder::record("memories", MEMTILE_CALLER), dimensions, inputs, outputs, MEMTILE_CALLER};
    }
    /// Where its elements lie: memory of GMIO::malloc.
    MEMTILE_CALLED void setAddress(const void* memory) {
        recorder::set_address(this->node(MEMTILE_CALLER, "an external_buffer"), memory, MEMTILE_CALLER);
    }
    /// Starts one iteration of the tilings of a port of this buffer, and returns at once.
    MEMTILE_CALLED return_code gm2aie_nb(const port_base& of) const {
        return recorder::start_transfer(of.node(MEMTILE_CALLER, "a port"), true, MEMTILE_CALLER);
    }
    MEMTILE_CALLED return_code aie2gm_nb(const port_base& of) const {
        return recorder::start_transfer(of.node(MEMTILE_CALLER, "a port"), false, MEMTILE_CALLER);
    }
    /// Waits until all that was started at a port is done.
    MEMTILE_CALLED return_code wait(const port_base& of) const {
        return recorder::wait_for(of.node(MEMTILE_CALLER, "a port"), MEMTILE_CALLER);
    }

private:
    external_buffer(recorder::Node* node, const std::vector<std::uint32_t>& dimensions, std::size_t inputs, std::size_t outputs, void* from)
        : memory_buffer<T>(node, dimensions, inputs, outputs, true, from) {}
};

}  // namespace adf
