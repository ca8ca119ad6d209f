// Buffers as parameters of kernels: declarations.
#pragma once
#include <type_traits>

#include "aie_api/aie.hpp"

namespace adf {

/// Ways through a port, as types.
struct direction {
    struct in {};
    struct out {};
    struct inout {};
};

inline constexpr unsigned inherited_extent = 0xFFFFFFFF;
template <unsigned... Sizes>
struct extents {};
template <unsigned Elements>
struct margin {
    static constexpr unsigned elements = Elements;
};
struct locking {
    struct sync {};
    struct async {};
};
struct addressing {
    struct linear {};
    struct circular {};
};

template <typename Extents = extents<inherited_extent>, typename Locking = locking::sync,
          typename Addressing = addressing::linear, typename Margin = margin<0>>
struct buffer_config {
    using extents_type = Extents;
    static constexpr bool is_async = std::is_same_v<Locking, locking::async>;
    static constexpr bool is_circular = std::is_same_v<Addressing, addressing::circular>;
    static constexpr unsigned margin_elements = Margin::elements;
};
template <typename T, typename Direction, typename Config = buffer_config<>>
class io_buffer {
public:
    using value_type = T;
    using config_type = Config;
    T* data();
};
#define MEMTILE_BUFFER(name, way, lock, address)                                                     \
    template <typename T, typename Extents = extents<inherited_extent>, typename Margin = margin<0>> \
    using name = io_buffer<T, direction::way, buffer_config<Extents, locking::lock, addressing::address, Margin>>;
MEMTILE_BUFFER(input_buffer, in, sync, linear)
MEMTILE_BUFFER(output_buffer, out, sync, linear)
MEMTILE_BUFFER(inout_buffer, inout, sync, linear)
MEMTILE_BUFFER(input_async_buffer, in, async, linear)
MEMTILE_BUFFER(output_async_buffer, out, async, linear)
MEMTILE_BUFFER(inout_async_buffer, inout, async, linear)
MEMTILE_BUFFER(input_circular_buffer, in, sync, circular)
MEMTILE_BUFFER(output_circular_buffer, out, sync, circular)
MEMTILE_BUFFER(input_async_circular_buffer, in, async, circular)
MEMTILE_BUFFER(output_async_circular_buffer, out, async, circular)
#undef MEMTILE_BUFFER

}  // namespace adf
