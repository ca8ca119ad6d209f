// Element-wise sums, differences, minima, bit operations and shifts (UG1529, Arithmetic; Bit-wise Operations).
//
// Integers of vectors and lanes of accumulators wrap. Floats are IEEE numbers, rounded to nearest even; results in
// bfloat16 are made in float and rounded by the mode of the core.
#pragma once

#include "conversions.hpp"

namespace aie {

namespace detail {

template <typename V>
constexpr void count_alu(const V&) {
    memtile::count(memtile::Unit::alu, instructions(V::bits()));
}

/// f of each pair of elements of two vectors, or of a vector and a value.
template <typename A, typename B, typename F>
constexpr auto pairwise(const A& a, const B& b, F f) {
    using T = shared_t<A, B>;
    constexpr unsigned N = size_of_both<A, B>();
    const vector<T, N> left = lifted<T, N>(a);
    const vector<T, N> right = lifted<T, N>(b);
    vector<T, N> made;
    count_alu(made);
    for (unsigned at = 0; at < N; ++at) made.set(static_cast<T>(f(left.get(at), right.get(at))), at);
    return made;
}

template <typename V, typename F>
constexpr V unary(const V& v, F f) {
    using T = element_t<V>;
    count_alu(v);
    V made;
    for (unsigned at = 0; at < V::size(); ++at) made.set(static_cast<T>(f(v.get(at))), at);
    return made;
}

/// What an accumulator is added to or reduced by, as lanes.
template <typename Slot, unsigned N, typename V>
constexpr auto lanes_of(const V& v) {
    std::array<Slot, N> made{};
    if constexpr (is_accum_v<V>) {
        static_assert(V::size() == N, "aie: both operands need the same size");
        for (unsigned at = 0; at < N; ++at) made[at] = static_cast<Slot>(v.slots[at]);
    } else {
        if constexpr (is_vector_v<V>) static_assert(V::size() == N, "aie: both operands need the same size");
        for (unsigned at = 0; at < N; ++at) {
            const auto value = element(v, at);
            made[at] = to_lane<Slot>(value, is_signed_v<std::remove_cvref_t<decltype(value)>>, 0);
        }
    }
    return made;
}

template <typename A, typename V, typename F>
constexpr A accumulated(const A& a, const V& v, F f) {
    const auto other = lanes_of<typename A::slot, A::size()>(v);
    memtile::count(memtile::Unit::mac, instructions(A::bits()));
    A made;
    for (unsigned at = 0; at < A::size(); ++at) made.slots[at] = f(a.slots[at], other[at]);
    return made;
}

template <typename T>
constexpr T negated(T value) {
    if constexpr (std::is_same_v<T, bfloat16>)
        return bfloat16::of_word(static_cast<uint16_t>(value.word ^ 0x8000u));
    else if constexpr (std::is_floating_point_v<T>)
        return -value;
    else if constexpr (is_complex_v<T>)
        return {negated(value.real), negated(value.imag)};
    else
        return wrapped_sub(T(0), value);
}

template <typename T>
constexpr T absolute(T value) {
    if constexpr (std::is_same_v<T, bfloat16>)
        return bfloat16::of_word(static_cast<uint16_t>(value.word & 0x7fffu));
    else if constexpr (std::is_floating_point_v<T>)
        return std::fabs(value);
    else
        return widened(value) < 0 ? negated(value) : value;
}

template <typename T>
constexpr bool is_less(T a, T b) {
    return widened(a) < widened(b);
}

template <typename Wide, typename T>
constexpr T saturated(Wide value) {
    return held<T>(static_cast<int64_t>(value), is_signed_v<T>, saturation_mode::saturate);
}

}  // namespace detail

template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto add(const A& a, const B& b) {
    return detail::pairwise(a, b, [](auto x, auto y) { return detail::wrapped_add(x, y); });
}
template <detail::Accum A, typename V>
    requires(detail::is_accum_v<V> || detail::VectorOrValue<V>)
constexpr A add(const A& a, const V& v) {
    return detail::accumulated(a, v, [](auto x, auto y) { return detail::wrapped_add(x, y); });
}
template <detail::VectorOrValue V, detail::Accum A>
constexpr A add(const V& v, const A& a) {
    return add(a, v);
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto sub(const A& a, const B& b) {
    return detail::pairwise(a, b, [](auto x, auto y) { return detail::wrapped_sub(x, y); });
}
template <detail::Accum A, typename V>
    requires(detail::is_accum_v<V> || detail::VectorOrValue<V>)
constexpr A sub(const A& a, const V& v) {
    return detail::accumulated(a, v, [](auto x, auto y) { return detail::wrapped_sub(x, y); });
}
template <detail::VectorOrValue V, detail::Accum A>
constexpr A sub(const V& v, const A& a) {
    return detail::accumulated(a, v, [](auto x, auto y) { return detail::wrapped_sub(y, x); });
}
/// Sums and differences held to the type's range, whatever the mode of the core.
template <typename A, typename B>
    requires(detail::VectorPair<A, B> && std::is_integral_v<detail::shared_t<A, B>>)
constexpr auto saturating_add(const A& a, const B& b) {
    using T = detail::shared_t<A, B>;
    return detail::pairwise(a, b, [](T x, T y) { return detail::saturated<int64_t, T>(int64_t(x) + int64_t(y)); });
}
template <typename A, typename B>
    requires(detail::VectorPair<A, B> && std::is_integral_v<detail::shared_t<A, B>>)
constexpr auto saturating_sub(const A& a, const B& b) {
    using T = detail::shared_t<A, B>;
    return detail::pairwise(a, b, [](T x, T y) { return detail::saturated<int64_t, T>(int64_t(x) - int64_t(y)); });
}

template <detail::Vector V>
constexpr V neg(const V& v) {
    return detail::unary(v, [](auto x) { return detail::negated(x); });
}
template <detail::Accum A>
constexpr A neg(const A& a) {
    A made;
    for (unsigned at = 0; at < A::size(); ++at) made.slots[at] = detail::negated(a.slots[at]);
    return made;
}
template <detail::Vector V>
constexpr V abs(const V& v) {
    return detail::unary(v, [](auto x) { return detail::absolute(x); });
}
template <detail::Vector V>
constexpr V conj(const V& v) {
    if constexpr (V::is_complex())
        return detail::unary(v, [](auto x) { return decltype(x){x.real, detail::negated(x.imag)}; });
    else
        return v;
}
/// |v[i] - w[i]|, made without wrapping in between; it wraps where it does not fit.
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto abs_diff(const A& a, const B& b) {
    return detail::pairwise(a, b, [](auto x, auto y) {
        return detail::is_less(x, y) ? detail::wrapped_sub(y, x) : detail::wrapped_sub(x, y);
    });
}

template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto max(const A& a, const B& b) {
    return detail::pairwise(a, b, [](auto x, auto y) { return detail::is_less(x, y) ? y : x; });
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto min(const A& a, const B& b) {
    return detail::pairwise(a, b, [](auto x, auto y) { return detail::is_less(y, x) ? y : x; });
}
template <detail::Vector V, typename L, typename H>
constexpr V clamp(const V& v, const L& low, const H& high) {
    return min(max(v, low), high);
}

// Bits. Elements are words of their width, floats and bfloat16 included.
namespace detail {
template <typename T>
using word_t = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
template <typename T>
constexpr word_t<T> word_of(T value) {
    if constexpr (is_packed_v<T>)
        return static_cast<word_t<T>>(value.value);
    else
        return std::bit_cast<word_t<T>>(value);
}
template <typename T>
constexpr T of_word(word_t<T> word) {
    if constexpr (is_packed_v<T>)
        return T(word);
    else
        return std::bit_cast<T>(word);
}
template <typename A, typename B, typename F>
constexpr auto bitwise(const A& a, const B& b, F f) {
    using T = shared_t<A, B>;
    return pairwise(a, b, [&](T x, T y) { return of_word<T>(static_cast<word_t<T>>(f(word_of(x), word_of(y)))); });
}
}  // namespace detail

template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto bit_and(const A& a, const B& b) {
    return detail::bitwise(a, b, [](auto x, auto y) { return x & y; });
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto bit_or(const A& a, const B& b) {
    return detail::bitwise(a, b, [](auto x, auto y) { return x | y; });
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto bit_xor(const A& a, const B& b) {
    return detail::bitwise(a, b, [](auto x, auto y) { return x ^ y; });
}
template <detail::Vector V>
constexpr V bit_not(const V& v) {
    using T = detail::element_t<V>;
    return detail::unary(
        v, [](T x) { return detail::of_word<T>(static_cast<detail::word_t<T>>(~detail::word_of(x))); });
}

/// Up by `shift` bits; the top falls off.
template <detail::Vector V>
    requires(V::is_integral() && V::is_real())
constexpr V upshift(const V& v, unsigned shift) {
    using T = detail::element_t<V>;
    return detail::unary(v, [=](T x) { return static_cast<T>(static_cast<uint64_t>(static_cast<int64_t>(x)) << shift); });
}
/// Down by `shift` bits, cut off below; the sign comes in above.
template <detail::Vector V>
    requires(V::is_integral() && V::is_real())
constexpr V downshift(const V& v, unsigned shift) {
    using T = detail::element_t<V>;
    return detail::unary(v, [=](T x) { return static_cast<T>(static_cast<int64_t>(x) >> std::min(shift, 63u)); });
}
/// Down by `shift` bits; zeros come in above.
template <detail::Vector V>
    requires(V::is_integral() && V::is_real())
constexpr V logical_downshift(const V& v, unsigned shift) {
    using T = detail::element_t<V>;
    return detail::unary(v, [=](T x) { return shift >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<detail::word_t<T>>(x) >> shift); });
}

}  // namespace aie
