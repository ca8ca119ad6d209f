// The AIE API for kernels of ADF graphs: iterators over buffers, which have `data()`, streams and cascades (UG1603,
// Iterators; Streaming Data API).
//
// AIE-ML's core has one stream port in each direction and one cascade, so a stream object has no number, and a kernel that
// no graph gives one may make it. A value wider than a word goes word by word, as it lies in memory (DEV-INTRINSIC-7).
#pragma once

#include "aie.hpp"
#include "memtile/intrinsics/core_calls.h"

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
#define MEMTILE_BUFFER_TENSOR(name)                                                                 \
    template <aie_dm_resource Resource = aie_dm_resource::none, detail::Buffer B, typename Order>   \
    auto name(B& buffer, const Order& order) {                                                      \
        return name<Resource>(buffer.data(), order);                                                \
    }
MEMTILE_BUFFER_TENSOR(make_tensor_buffer_stream)
MEMTILE_BUFFER_TENSOR(make_restrict_tensor_buffer_stream)
#undef MEMTILE_BUFFER_TENSOR

}  // namespace aie

namespace adf {

template <typename T>
class input_stream {};
template <typename T>
class output_stream {};
template <typename T>
class input_cascade {};
template <typename T>
class output_cascade {};

namespace detail {

/// Values of 32 bits and several of these.
template <typename V>
concept Words = sizeof(V) % 4 == 0 && sizeof(V) / 4 <= memtile::request_words;

template <Words V>
V get_words(bool& tlast) {
    std::uint32_t words[sizeof(V) / 4];
    memtile::get_ss_words(0, words, sizeof(V) / 4, &tlast);
    V value;
    std::memcpy(static_cast<void*>(&value), words, sizeof value);
    return value;
}
template <Words V>
void put_words(const V& value, bool tlast) {
    std::uint32_t words[sizeof(V) / 4];
    std::memcpy(words, static_cast<const void*>(&value), sizeof value);
    memtile::put_ms_words(0, words, sizeof(V) / 4, tlast);
}

/// What a cascade of a type carries: an accumulator for its tag, else a vector.
template <typename T, unsigned N>
struct carried {
    using type = aie::accum<T, N>;
};
template <typename T, unsigned N>
    requires aie::detail::is_element_v<T>
struct carried<T, N> {
    using type = aie::vector<T, N>;
};

}  // namespace detail

}  // namespace adf

using adf::input_cascade;
using adf::input_stream;
using adf::output_cascade;
using adf::output_stream;

template <typename T>
T readincr(input_stream<T>*, bool& tlast) {
    return adf::detail::get_words<T>(tlast);
}
template <typename T>
T readincr(input_stream<T>* from) {
    bool tlast;
    return readincr(from, tlast);
}
template <unsigned N, typename T>
aie::vector<T, N> readincr_v(input_stream<T>*, bool& tlast) {
    return adf::detail::get_words<aie::vector<T, N>>(tlast);
}
template <unsigned N, typename T>
aie::vector<T, N> readincr_v(input_stream<T>* from) {
    bool tlast;
    return readincr_v<N>(from, tlast);
}
template <unsigned N, typename T>
auto readincr_v(input_cascade<T>*) {
    return memtile::get_cascade<typename adf::detail::carried<T, N>::type>();
}
template <typename T>
void writeincr(output_stream<T>*, std::type_identity_t<T> value, bool tlast = false) {
    adf::detail::put_words(value, tlast);
}
template <typename T, unsigned N>
void writeincr(output_stream<T>*, const aie::vector<T, N>& value, bool tlast = false) {
    adf::detail::put_words(value, tlast);
}
template <typename T, unsigned N>
void writeincr(output_cascade<T>*, const aie::accum<T, N>& value) {
    memtile::put_cascade(value);
}
template <typename T, unsigned N>
void writeincr(output_cascade<T>*, const aie::vector<T, N>& value) {
    memtile::put_cascade(value);
}
