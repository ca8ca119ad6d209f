// One value of all elements (UG1529, Reduction).
//
// Integers wrap. Floats are summed in halves: the upper half onto the lower one, until one is left, each sum rounded
// to nearest even; bfloat16 in floats, rounded at the end by the mode of the core (DEV-AIEAPI-2).
#pragma once

#include "arithmetic.hpp"

namespace aie {

namespace detail {

template <typename Wide, unsigned N, typename F>
constexpr Wide folded(std::array<Wide, N> values, F f) {
    memtile::count(memtile::Unit::alu, std::bit_width(N - 1));
    for (unsigned width = N / 2; width > 0; width /= 2)
        for (unsigned at = 0; at < width; ++at) values[at] = f(values[at], values[at + width]);
    return values[0];
}

template <typename T, unsigned N>
constexpr auto widened_elements(const vector<T, N>& v) {
    std::array<decltype(widened(T{})), N> made{};
    for (unsigned at = 0; at < N; ++at) made[at] = widened(v.get(at));
    return made;
}

template <typename T, unsigned N, typename F>
constexpr T reduced(const vector<T, N>& v, F f) {
    return narrowed<T>(folded<decltype(widened(T{})), N>(widened_elements(v), f));
}

}  // namespace detail

template <detail::Vector V>
constexpr auto reduce_add(const V& v) {
    return detail::reduced(v, [](auto x, auto y) { return detail::wrapped_add(x, y); });
}
template <detail::Vector V>
constexpr auto reduce_max(const V& v) {
    return detail::reduced(v, [](auto x, auto y) { return x < y ? y : x; });
}
template <detail::Vector V>
constexpr auto reduce_min(const V& v) {
    return detail::reduced(v, [](auto x, auto y) { return y < x ? y : x; });
}
template <detail::Vector V>
    requires(V::is_integral() && V::is_real())
constexpr auto reduce_mul(const V& v) {
    using T = detail::element_t<V>;
    return detail::reduced(v, [](T x, T y) { return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y)); });
}

/// The sums of several vectors, one in each of the first elements.
template <detail::Vector V, typename... Vs>
    requires((std::is_same_v<V, Vs> && ...))
constexpr V reduce_add_v(const V& first, const Vs&... others) {
    V made;
    unsigned at = 0;
    made.set(reduce_add(first), at++);
    (made.set(reduce_add(others), at++), ...);
    return made;
}

}  // namespace aie
