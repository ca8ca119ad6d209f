// Comparisons into masks, and choices by them (UG1529, Comparison; Select).
#pragma once

#include "arithmetic.hpp"

namespace aie {

namespace detail {

template <typename A, typename B, typename F>
constexpr auto compared(const A& a, const B& b, F f) {
    using T = shared_t<A, B>;
    constexpr unsigned N = size_of_both<A, B>();
    const vector<T, N> left = lifted<T, N>(a);
    const vector<T, N> right = lifted<T, N>(b);
    memtile::count(memtile::Unit::alu, instructions(left.bits()));
    mask<N> made;
    for (unsigned at = 0; at < N; ++at)
        made.bits[at / 64] |= uint64_t(f(widened(left.get(at)), widened(right.get(at)))) << (at % 64);
    return made;
}

}  // namespace detail

#define MEMTILE_COMPARISON(name, sign)                                             \
    template <typename A, typename B>                                              \
        requires detail::VectorPair<A, B>                                          \
    constexpr auto name(const A& a, const B& b) {                                  \
        return detail::compared(a, b, [](auto x, auto y) { return x sign y; });    \
    }
MEMTILE_COMPARISON(lt, <)
MEMTILE_COMPARISON(le, <=)
MEMTILE_COMPARISON(gt, >)
MEMTILE_COMPARISON(ge, >=)
MEMTILE_COMPARISON(eq, ==)
MEMTILE_COMPARISON(neq, !=)
#undef MEMTILE_COMPARISON

/// Whether all elements are equal.
template <detail::Vector A, typename B>
    requires detail::VectorPair<A, B>
constexpr bool equal(const A& a, const B& b) {
    return eq(a, b).full();
}
template <detail::Vector A, typename B>
    requires detail::VectorPair<A, B>
constexpr bool not_equal(const A& a, const B& b) {
    return !equal(a, b);
}

/// a[i] where the mask has 0, b[i] where it has 1.
template <typename A, typename B, unsigned N>
    requires detail::VectorPair<A, B>
constexpr auto select(const A& a, const B& b, const mask<N>& m) {
    using T = detail::shared_t<A, B>;
    static_assert(detail::size_of_both<A, B>() == N, "aie::select: the mask needs the size of the vectors");
    const vector<T, N> left = detail::lifted<T, N>(a);
    const vector<T, N> right = detail::lifted<T, N>(b);
    vector<T, N> made;
    detail::count_alu(made);
    for (unsigned at = 0; at < N; ++at) made.set(m.test(at) ? right.get(at) : left.get(at), at);
    return made;
}
template <detail::Value T, unsigned N>
constexpr auto select(const T& a, const T& b, const mask<N>& m) {
    return select(detail::lifted<detail::element_t<T>, N>(a), b, m);
}

/// a - b where that is positive, else 0.
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto maxdiff(const A& a, const B& b) {
    using T = detail::shared_t<A, B>;
    return detail::pairwise(a, b, [](T x, T y) { return detail::is_less(x, y) ? T(0) : detail::wrapped_sub(x, y); });
}

}  // namespace aie
