// Buffers of kernels: the memory of a port, with its size, margin, locking and addressing (UG1603, Input and Output
// Buffers; Iterators).
//
// A buffer of the model is a pointer to the memory of its port and a number of elements, made anew for each call. The
// margin comes first, then the block; `size()` counts the block. Circular iterators wrap behind both (DEV-ADF-41).
#pragma once

#include <cstddef>

#include "aie_api/aie.hpp"
#include "memtile/core.h"

namespace aie::detail {
template <typename B>
concept Buffer = std::is_class_v<B> && requires(B& buffer) {
    { *buffer.data() };
};
}  // namespace aie::detail

namespace adf {

/// Ways through a port, as types.
struct direction {
    struct in {};
    struct out {};
    struct inout {};
};

/// A size that the graph says: `dimensions(k.in[0]) = {...}`, or the connection.
inline constexpr unsigned inherited_extent = ~0u;
template <unsigned... Sizes>
struct extents {
    static constexpr unsigned rank = sizeof...(Sizes);
    static constexpr bool is_known = rank > 0 && ((Sizes != inherited_extent) && ...);
    static constexpr std::size_t elements = is_known ? (std::size_t{1} * ... * Sizes) : 0;
};
template <unsigned Elements>
struct margin {
    static constexpr unsigned elements = Elements;
};
struct locking {
    struct sync {};
    struct async {};
    struct user {};
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

/// A port's buffer, as its kernel sees it.
template <typename T, typename Direction, typename Config = buffer_config<>>
class io_buffer {
  public:
    using value_type = T;
    using direction_type = Direction;
    using config_type = Config;
    static constexpr unsigned most_buffers = 2;

    /// Memory of a port: `places` of its buffers, of `bytes` each; only asynchronous ones have two.
    io_buffer(unsigned port, T* first, T* second, std::size_t bytes)
        : places{first, second}, number(elements_of(bytes)), port_number(port), held(Config::is_async ? nobody : 0) {
        const std::size_t wanted = Config::extents_type::elements + Config::margin_elements;
        if (number < Config::margin_elements || (Config::extents_type::is_known && number != wanted))
            memtile::fail("the memory of a port has another size than the extents of the kernel's buffer say");
    }
    io_buffer(const io_buffer&) = delete;
    io_buffer& operator=(const io_buffer&) = delete;

    /// The first element, of the margin if there is one.
    T* data() { return place(); }
    const T* data() const { return place(); }
    /// Elements of a block, without its margin.
    unsigned size() const { return static_cast<unsigned>(number - Config::margin_elements); }
    static constexpr unsigned margin() { return Config::margin_elements; }
    /// Elements that circular iterators go through.
    unsigned span() const { return static_cast<unsigned>(number); }

    /// Waits for the next buffer of an asynchronous port.
    void acquire()
        requires(Config::is_async)
    {
        if (held != nobody) memtile::fail("the kernel acquires a buffer that it has already");
        held = memtile::acquire_buffer(port_number);
    }
    void release()
        requires(Config::is_async)
    {
        if (held == nobody) memtile::fail("the kernel releases a buffer that it has not acquired");
        memtile::release_buffer(port_number);
        held = nobody;
    }

  private:
    static constexpr unsigned nobody = most_buffers;
    static constexpr std::size_t elements_of(std::size_t bytes) {
        return aie::detail::is_packed_v<T> ? 2 * bytes : bytes / sizeof(T);
    }
    T* place() const {
        if (held == nobody) memtile::fail("the kernel uses an asynchronous buffer that it has not acquired");
        return places[held];
    }

    T* places[most_buffers];
    std::size_t number;
    unsigned port_number, held;
};

#define MEMTILE_BUFFER(name, way, lock, address)                                                        \
    template <typename T, typename Extents = extents<inherited_extent>, typename Margin = margin<0>>    \
    using name = io_buffer<T, direction::way, buffer_config<Extents, locking::lock, addressing::address, Margin>>;
MEMTILE_BUFFER(input_buffer, in, sync, linear)
MEMTILE_BUFFER(output_buffer, out, sync, linear)
MEMTILE_BUFFER(inout_buffer, inout, sync, linear)
MEMTILE_BUFFER(input_async_buffer, in, async, linear)
MEMTILE_BUFFER(output_async_buffer, out, async, linear)
MEMTILE_BUFFER(inout_async_buffer, inout, async, linear)
MEMTILE_BUFFER(input_circular_buffer, in, sync, circular)
MEMTILE_BUFFER(output_circular_buffer, out, sync, circular)
MEMTILE_BUFFER(inout_circular_buffer, inout, sync, circular)
MEMTILE_BUFFER(input_async_circular_buffer, in, async, circular)
MEMTILE_BUFFER(output_async_circular_buffer, out, async, circular)
MEMTILE_BUFFER(inout_async_circular_buffer, inout, async, circular)
#undef MEMTILE_BUFFER

}  // namespace adf

namespace aie {

namespace detail {
template <typename B>
constexpr void check_linear() {
    if constexpr (requires { typename std::remove_const_t<B>::config_type; })
        static_assert(!std::remove_const_t<B>::config_type::is_circular,
                      "a circular buffer has circular iterators only (UG1603, Linear and Circular Addressing of Buffer Ports)");
}
}  // namespace detail

#define MEMTILE_SCALAR(name)                                                             \
    template <aie_dm_resource Resource = aie_dm_resource::none, detail::Buffer B>        \
    auto name(B& buffer) {                                                               \
        detail::check_linear<B>();                                                       \
        return buffer.data();                                                            \
    }                                                                                    \
    template <aie_dm_resource Resource = aie_dm_resource::none, detail::Buffer B>        \
    auto c##name(const B& buffer) {                                                      \
        detail::check_linear<B>();                                                       \
        return buffer.data();                                                            \
    }
MEMTILE_SCALAR(begin)
MEMTILE_SCALAR(begin_restrict)
#undef MEMTILE_SCALAR

#define MEMTILE_BUFFER_ITERATOR(name)                                                             \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, detail::Buffer B>     \
    auto name(B& buffer) {                                                                        \
        detail::check_linear<B>();                                                                \
        return name<N, Resource>(buffer.data());                                                  \
    }
MEMTILE_BUFFER_ITERATOR(begin_vector)
MEMTILE_BUFFER_ITERATOR(begin_restrict_vector)
MEMTILE_BUFFER_ITERATOR(begin_unaligned_vector)
MEMTILE_BUFFER_ITERATOR(begin_restrict_unaligned_vector)
MEMTILE_BUFFER_ITERATOR(cbegin_vector)
MEMTILE_BUFFER_ITERATOR(cbegin_restrict_vector)
#undef MEMTILE_BUFFER_ITERATOR

#define MEMTILE_CIRCLE(name)                                                                                          \
    template <aie_dm_resource Resource = aie_dm_resource::none, typename T, typename Way, typename Config>            \
    auto name(adf::io_buffer<T, Way, Config>& port) {                                                                 \
        return detail::circular_scalar<T>(port.data(), port.span());                                                  \
    }                                                                                                                 \
    template <aie_dm_resource Resource = aie_dm_resource::none, typename T, typename Way, typename Config>            \
    auto c##name(const adf::io_buffer<T, Way, Config>& port) {                                                        \
        return detail::circular_scalar<const T>(port.data(), port.span());                                            \
    }
MEMTILE_CIRCLE(begin_circular)
MEMTILE_CIRCLE(begin_random_circular)
#undef MEMTILE_CIRCLE
#define MEMTILE_VECTOR_CIRCLE(name)                                                                                    \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T, typename Way, typename Config> \
    auto name(adf::io_buffer<T, Way, Config>& port) {                                                                  \
        return detail::circular_iterator<T, N>(port.data(), port.span());                                              \
    }                                                                                                                  \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T, typename Way, typename Config> \
    auto c##name(const adf::io_buffer<T, Way, Config>& port) {                                                         \
        return detail::circular_iterator<const T, N>(port.data(), port.span());                                        \
    }
MEMTILE_VECTOR_CIRCLE(begin_vector_circular)
MEMTILE_VECTOR_CIRCLE(begin_vector_random_circular)
#undef MEMTILE_VECTOR_CIRCLE

#define MEMTILE_BUFFER_TENSOR(name)                                                                 \
    template <aie_dm_resource Resource = aie_dm_resource::none, detail::Buffer B, typename Order>   \
    auto name(B& buffer, const Order& order) {                                                      \
        return name<Resource>(buffer.data(), order);                                                \
    }
MEMTILE_BUFFER_TENSOR(make_tensor_buffer_stream)
MEMTILE_BUFFER_TENSOR(make_restrict_tensor_buffer_stream)
#undef MEMTILE_BUFFER_TENSOR

}  // namespace aie
