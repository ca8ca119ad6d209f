// Windows: how kernels of the first generation see the memory of a port (UG1079 and UG1076 of 2022, Window Operations).
//
// A window has a place, which begins at its first element, the margin's if there is one, and wraps behind its last one.
// It is made anew for each call.
#pragma once

#include <cstddef>

#include "aie_api/aie.hpp"
#include "memtile/core.h"

namespace adf {

namespace detail {

/// What windows of both directions have. `ptr` and `head` are plain pointers, as users take them.
template <typename T>
class window_memory {
  public:
    using value_type = T;
    window_memory(unsigned port, T* first, T* second, std::size_t bytes, bool is_async)
        : ptr(first), head(first), places{first, second}, number(bytes / sizeof(T)), port_number(port), waits(is_async) {}

    void move(std::ptrdiff_t by) {
        const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(number);
        const std::ptrdiff_t at = ptr - head + by;
        ptr = head + (at % all + all) % all;
    }
    std::size_t elements() const { return number; }
    void acquire() {
        if (!waits) memtile::fail("the kernel acquires a window whose port is synchronous");
        ptr = head = places[memtile::acquire_buffer(port_number)];
    }
    void release() {
        if (!waits) memtile::fail("the kernel releases a window whose port is synchronous");
        memtile::release_buffer(port_number);
    }

    T* ptr;
    T* head;

  private:
    T* places[2];
    std::size_t number;
    unsigned port_number;
    bool waits;
};

}  // namespace detail

template <typename T>
class input_window : public detail::window_memory<T> {
    using detail::window_memory<T>::window_memory;
};
template <typename T>
class output_window : public detail::window_memory<T> {
    using detail::window_memory<T>::window_memory;
};
template <typename T>
class inout_window : public detail::window_memory<T> {
    using detail::window_memory<T>::window_memory;
};

namespace detail {
template <typename W>
concept AnyWindow = requires(W& w) {
    typename W::value_type;
    requires std::is_base_of_v<window_memory<typename W::value_type>, W>;
};
template <typename W>
concept Readable = AnyWindow<W> && !std::is_same_v<W, output_window<typename W::value_type>>;
template <typename W>
concept Writable = AnyWindow<W> && !std::is_same_v<W, input_window<typename W::value_type>>;
}  // namespace detail

// Places.
template <detail::AnyWindow W>
void window_incr(W* w, int count) {
    w->move(count);
}
template <detail::AnyWindow W>
void window_decr(W* w, int count) {
    w->move(-count);
}
#define MEMTILE_WINDOW_STEP(n)                                                    \
    template <detail::AnyWindow W>                                                   \
    void window_incr_v##n(W* w, int count) {                                      \
        w->move(std::ptrdiff_t(count) * n);                                       \
    }                                                                             \
    template <detail::AnyWindow W>                                                   \
    void window_decr_v##n(W* w, int count) {                                      \
        w->move(-std::ptrdiff_t(count) * n);                                      \
    }
MEMTILE_WINDOW_STEP(2)
MEMTILE_WINDOW_STEP(4)
MEMTILE_WINDOW_STEP(8)
MEMTILE_WINDOW_STEP(16)
MEMTILE_WINDOW_STEP(32)
MEMTILE_WINDOW_STEP(64)
#undef MEMTILE_WINDOW_STEP
template <unsigned N, detail::AnyWindow W>
void window_incr_v(W* w, int count) {
    w->move(std::ptrdiff_t(count) * N);
}
template <unsigned N, detail::AnyWindow W>
void window_decr_v(W* w, int count) {
    w->move(-std::ptrdiff_t(count) * N);
}
template <detail::AnyWindow W>
unsigned window_size(const W* w) {
    return static_cast<unsigned>(w->elements());
}
template <detail::AnyWindow W>
void window_acquire(W* w) {
    w->acquire();
}
template <detail::AnyWindow W>
void window_release(W* w) {
    w->release();
}

// Reading, one element or a vector, at the place; `incr` and `decr` move it afterwards.
template <detail::Readable W>
auto window_read(W* w) {
    return *w->ptr;
}
template <unsigned N, detail::Readable W>
auto window_read_v(W* w) {
    return aie::load_v<N>(static_cast<const typename W::value_type*>(w->ptr));
}
#define MEMTILE_WINDOW_READ(name, sign)                                                          \
    template <detail::Readable W>                                                                \
    auto name(W* w) {                                                                            \
        const auto value = window_read(w);                                                       \
        w->move(sign 1);                                                                         \
        return value;                                                                            \
    }                                                                                            \
    template <unsigned N, detail::Readable W>                                                    \
    auto name##_v(W* w) {                                                                        \
        const auto value = window_read_v<N>(w);                                                  \
        w->move(sign std::ptrdiff_t(N));                                                         \
        return value;                                                                            \
    }                                                                                            \
    template <detail::Readable W>                                                                \
    void name(W* w, typename W::value_type& value) {                                             \
        value = name(w);                                                                         \
    }                                                                                            \
    template <detail::Readable W, unsigned N>                                                    \
    void name(W* w, aie::vector<typename W::value_type, N>& value) {                             \
        value = name##_v<N>(w);                                                                  \
    }                                                                                            \
    template <unsigned N, detail::Readable W>                                                    \
    void name##_v(W* w, aie::vector<typename W::value_type, N>& value) {                         \
        value = name##_v<N>(w);                                                                  \
    }
MEMTILE_WINDOW_READ(window_readincr, +)
MEMTILE_WINDOW_READ(window_readdecr, -)
#undef MEMTILE_WINDOW_READ
template <detail::Readable W>
void window_read(W* w, typename W::value_type& value) {
    value = window_read(w);
}
template <detail::Readable W, unsigned N>
void window_read(W* w, aie::vector<typename W::value_type, N>& value) {
    value = window_read_v<N>(w);
}

// Writing.
template <detail::Writable W>
void window_write(W* w, std::type_identity_t<typename W::value_type> value) {
    *w->ptr = value;
}
template <detail::Writable W, unsigned N>
void window_write(W* w, const aie::vector<typename W::value_type, N>& value) {
    aie::store_v(w->ptr, value);
}
template <detail::Writable W>
void window_writeincr(W* w, std::type_identity_t<typename W::value_type> value) {
    window_write(w, value);
    w->move(1);
}
template <detail::Writable W, unsigned N>
void window_writeincr(W* w, const aie::vector<typename W::value_type, N>& value) {
    window_write(w, value);
    w->move(N);
}

// Windows by name of their elements.
#define MEMTILE_WINDOW_TYPES(use)                                                                         \
    use(int8) use(uint8) use(int16) use(uint16) use(int32) use(uint32) use(int64) use(uint64) use(cint16) \
    use(cint32) use(float) use(cfloat) use(bfloat16)
#define MEMTILE_WINDOW_NAMES(type)                     \
    using input_window_##type = input_window<type>;    \
    using output_window_##type = output_window<type>;  \
    using inout_window_##type = inout_window<type>;
MEMTILE_WINDOW_TYPES(MEMTILE_WINDOW_NAMES)
#undef MEMTILE_WINDOW_NAMES

}  // namespace adf

#define MEMTILE_WINDOW_NAMES(type)    \
    using adf::inout_window_##type;   \
    using adf::input_window_##type;   \
    using adf::output_window_##type;
MEMTILE_WINDOW_TYPES(MEMTILE_WINDOW_NAMES)
#undef MEMTILE_WINDOW_NAMES
#undef MEMTILE_WINDOW_TYPES

using adf::inout_window;
using adf::input_window;
using adf::output_window;
using adf::window_acquire;
using adf::window_decr;
using adf::window_decr_v;
using adf::window_decr_v16;
using adf::window_decr_v2;
using adf::window_decr_v32;
using adf::window_decr_v4;
using adf::window_decr_v64;
using adf::window_decr_v8;
using adf::window_incr;
using adf::window_incr_v;
using adf::window_incr_v16;
using adf::window_incr_v2;
using adf::window_incr_v32;
using adf::window_incr_v4;
using adf::window_incr_v64;
using adf::window_incr_v8;
using adf::window_read;
using adf::window_read_v;
using adf::window_readdecr;
using adf::window_readdecr_v;
using adf::window_readincr;
using adf::window_readincr_v;
using adf::window_release;
using adf::window_size;
using adf::window_write;
using adf::window_writeincr;
#define GET_NUM_SAMPLES(w) window_size(w)
