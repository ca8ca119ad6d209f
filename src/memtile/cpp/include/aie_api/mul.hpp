// Products of elements into accumulators (UG1529, Multiplication; Operation modifiers).
//
// Integers: exact, in lanes that wrap. Products of floats and of bfloat16 are exact; the sum with the lane is made in
// double and rounded to float, to nearest even (DEV-AIEAPI-1); subnormal numbers are zeros (DEV-AIEAPI-11).
#pragma once

#include "arithmetic.hpp"

namespace aie {

namespace detail {

/// Bits of the larger part of an element, as the choice of an accumulator counts them.
template <typename T>
constexpr unsigned part_bits() {
    if constexpr (is_complex_v<T>)
        return 8 * sizeof(typename T::part_type);
    else
        return type_bits_v<T>;
}

/// The accumulator of AIE-ML for products of A and B where the user names none: 32 bits up to 16 x 16, else 64
/// (DEV-AIEAPI-6).
template <typename A, typename B>
struct default_tag {
    static constexpr bool complex = is_complex_v<A> || is_complex_v<B>;
    static constexpr bool floating = is_floating_v<A> || is_floating_v<B>;
    static constexpr bool wide = part_bits<A>() > 16 || part_bits<B>() > 16;
    using type = std::conditional_t<floating, std::conditional_t<complex, caccfloat, accfloat>,
                                    std::conditional_t<complex, cacc64, std::conditional_t<wide, acc64, acc32>>>;
};
template <typename Tag, typename A, typename B>
using tag_of = std::conditional_t<std::is_same_v<Tag, accauto> || std::is_same_v<Tag, caccauto>,
                                  typename default_tag<A, B>::type, Tag>;

/// The product of two elements, in the arithmetic that sums of it are made in before they become a lane.
template <typename Slot, typename A, typename B>
constexpr auto product(const A& a, const B& b) {
    if constexpr (is_complex_v<Slot>) {
        using Part = typename Slot::part_type;
        if constexpr (is_complex_v<A> && is_complex_v<B>) {
            const auto real = product<Part>(a.real, b.real) - product<Part>(a.imag, b.imag);
            const auto imag = product<Part>(a.real, b.imag) + product<Part>(a.imag, b.real);
            return complex_number<std::remove_cvref_t<decltype(real)>>(real, imag);
        } else if constexpr (is_complex_v<A>) {
            const auto real = product<Part>(a.real, b);
            return complex_number<std::remove_cvref_t<decltype(real)>>(real, product<Part>(a.imag, b));
        } else {
            const auto real = product<Part>(a, b.real);
            return complex_number<std::remove_cvref_t<decltype(real)>>(real, product<Part>(a, b.imag));
        }
    } else if constexpr (std::is_same_v<Slot, float>) {
        return static_cast<double>(flushed(static_cast<float>(a))) * static_cast<double>(flushed(static_cast<float>(b)));
    } else {
        using Bits = std::make_unsigned_t<Slot>;
        return static_cast<Bits>(static_cast<Bits>(widened(a)) * static_cast<Bits>(widened(b)));
    }
}

/// lane + sign * p, in the lane's arithmetic.
template <typename Slot, typename P>
constexpr Slot lane_sum(Slot lane, P p, bool minus) {
    if constexpr (is_complex_v<Slot>)
        return {lane_sum(lane.real, p.real, minus), lane_sum(lane.imag, p.imag, minus)};
    else if constexpr (std::is_same_v<Slot, float>)
        return flushed(static_cast<float>(minus ? static_cast<P>(flushed(lane)) - p : static_cast<P>(flushed(lane)) + p));
    else
        return static_cast<Slot>(minus ? static_cast<P>(lane) - p : static_cast<P>(lane) + p);
}
template <typename Slot, typename P>
constexpr Slot lane_of(P p, bool minus) {
    if constexpr (is_complex_v<Slot>)
        return {lane_of<typename Slot::part_type>(p.real, minus), lane_of<typename Slot::part_type>(p.imag, minus)};
    else if constexpr (std::is_same_v<Slot, float>)
        return flushed(static_cast<float>(minus ? P(0) - p : p));
    else
        return static_cast<Slot>(minus ? P(0) - p : p);
}

/// Multiply-accumulates that a core does per cycle, by the widths of the factors (AM020); later ones twice (DEV-KERNEL-1).
template <typename A, typename B>
constexpr unsigned macs_per_cycle() {
    constexpr unsigned bits = part_bits<A>() * part_bits<B>();
    constexpr unsigned complex = (is_complex_v<A> ? 2 : 1) * (is_complex_v<B> ? 2 : 1);
    unsigned found = bits <= 32 ? 512 : bits <= 64 ? 256 : bits <= 128 ? 128 : bits <= 256 ? 64 : bits <= 512 ? 32 : 16;
    if (is_floating_v<A>) found = bits <= 256 ? 128 : 16;
    if (!arch::is(arch::AIE_ML)) found *= 2;
    return std::max(1u, found / complex);
}
template <typename A, typename B>
constexpr void count_macs(unsigned number) {
    constexpr unsigned each = macs_per_cycle<A, B>();
    memtile::count(memtile::Unit::mac, (number + each - 1) / each);
}

template <typename Tag, typename A, typename B>
constexpr auto products(const A& a, const B& b, bool minus) {
    using X = element_t<A>;
    using Y = element_t<B>;
    constexpr unsigned N = size_of_both<A, B>();
    using Used = tag_of<Tag, X, Y>;
    accum<Used, N> made;
    count_macs<X, Y>(N);
    for (unsigned at = 0; at < N; ++at) {
        using Slot = typename accum<Used, N>::slot;
        made.slots[at] = lane_of<Slot>(product<Slot>(element(a, at), element(b, at)), minus);
    }
    return made;
}

template <typename Acc, typename A, typename B>
constexpr Acc products_onto(const Acc& onto, const A& a, const B& b, bool minus) {
    using Slot = typename Acc::slot;
    constexpr unsigned N = size_of_both<A, B>();
    static_assert(Acc::size() == N, "aie::mac: the accumulator needs the size of the vectors");
    Acc made;
    count_macs<element_t<A>, element_t<B>>(N);
    for (unsigned at = 0; at < N; ++at)
        made.slots[at] = lane_sum(onto.slots[at], product<Slot>(element(a, at), element(b, at)), minus);
    return made;
}

/// A value of any arithmetic type beside a vector, in an element's type: int stays as it is, double is a float.
template <typename V, typename Beside>
constexpr auto factor(const V& v) {
    if constexpr (is_vector_v<V>) {
        return v;
    } else {
        using T = element_t<V>;
        using Other = element_t<Beside>;
        if constexpr (std::is_same_v<T, double> || (std::is_same_v<T, float> && std::is_same_v<Other, bfloat16>))
            return as_element<Other>(v);
        else
            return element(v, 0);
    }
}

}  // namespace detail

template <typename Tag = accauto, typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto mul(const A& a, const B& b) {
    return detail::products<Tag>(detail::factor<A, B>(a), detail::factor<B, A>(b), false);
}
template <typename Tag = accauto, typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto negmul(const A& a, const B& b) {
    return detail::products<Tag>(detail::factor<A, B>(a), detail::factor<B, A>(b), true);
}
template <detail::Accum Acc, typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr Acc mac(const Acc& onto, const A& a, const B& b) {
    return detail::products_onto(onto, detail::factor<A, B>(a), detail::factor<B, A>(b), false);
}
template <detail::Accum Acc, typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr Acc msc(const Acc& onto, const A& a, const B& b) {
    return detail::products_onto(onto, detail::factor<A, B>(a), detail::factor<B, A>(b), true);
}
template <typename Tag = accauto, detail::Vector V>
constexpr auto mul_square(const V& v) {
    return mul<Tag>(v, v);
}
template <detail::Accum Acc, detail::Vector V>
constexpr Acc mac_square(const Acc& onto, const V& v) {
    return mac(onto, v, v);
}
template <detail::Accum Acc, detail::Vector V>
constexpr Acc msc_square(const Acc& onto, const V& v) {
    return msc(onto, v, v);
}

/// coeff[start] * data0 + coeff[start + 1] * data1 + ... for each lane.
template <unsigned Lanes, typename Tag = accauto, detail::Vector C, detail::Vector V, typename... Vs>
constexpr auto accumulate(const C& coeff, unsigned start, const V& first, const Vs&... others) {
    static_assert(V::size() == Lanes, "aie::accumulate: each vector needs as many elements as there are lanes");
    auto sum = mul<Tag>(first, coeff.get(start % C::size()));
    ((sum = mac(sum, others, coeff.get(++start % C::size()))), ...);
    return sum;
}
/// The same from the first coefficient on.
template <unsigned Lanes, typename Tag = accauto, detail::Vector C, detail::Vector V, typename... Vs>
constexpr auto accumulate(const C& coeff, const V& first, const Vs&... others) {
    return accumulate<Lanes, Tag>(coeff, 0, first, others...);
}
/// The same, onto an accumulator.
template <unsigned Lanes, detail::Accum Acc, detail::Vector C, detail::Vector V, typename... Vs>
constexpr Acc accumulate(const Acc& onto, const C& coeff, unsigned start, const V& first, const Vs&... others) {
    Acc sum = mac(onto, first, coeff.get(start % C::size()));
    ((sum = mac(sum, others, coeff.get(++start % C::size()))), ...);
    return sum;
}

}  // namespace aie
