// The AIE API for kernels of ADF graphs: iterators over buffers, which have `data()` (UG1603, Iterators).
#pragma once

#include "aie.hpp"

namespace aie {

namespace detail {
template <typename B>
concept Buffer = requires(B& buffer) {
    { *buffer.data() };
};
}  // namespace detail

#define MEMTILE_BUFFER_ITERATOR(name)       \
    template <unsigned N, detail::Buffer B> \
    auto name(B& buffer) {                  \
        return name<N>(buffer.data());      \
    }
MEMTILE_BUFFER_ITERATOR(begin_vector)
MEMTILE_BUFFER_ITERATOR(begin_restrict_vector)
MEMTILE_BUFFER_ITERATOR(cbegin_vector)
MEMTILE_BUFFER_ITERATOR(cbegin_restrict_vector)
#undef MEMTILE_BUFFER_ITERATOR

}  // namespace aie
