// Operations on operands of a product, and products onto two accumulators (UG1529, Lazy Operations; Arithmetic).
//
// The hardware may merge such an operation with the product; its result is that of doing it first.
#pragma once

#include "mul.hpp"

namespace aie {

template <typename V>
constexpr V op_none(const V& v) {
    return v;
}
template <detail::Accum A>
constexpr A op_add(const A& a) {
    return a;
}
/// `mac(op_sub(acc), a, b)` is a * b - acc.
template <detail::Accum A>
constexpr A op_sub(const A& a) {
    return neg(a);
}
template <detail::Vector V>
constexpr V op_abs(const V& v) {
    return abs(v);
}
template <detail::Vector V>
constexpr V op_conj(const V& v) {
    return conj(v);
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto op_max(const A& a, const B& b) {
    return max(a, b);
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
constexpr auto op_min(const A& a, const B& b) {
    return min(a, b);
}

/// acc1 + acc2 + a * b, and the other three signs.
template <detail::Accum Acc, typename A, typename B>
constexpr Acc addmac(const Acc& acc1, const Acc& acc2, const A& a, const B& b) {
    return mac(add(acc1, acc2), a, b);
}
template <detail::Accum Acc, typename A, typename B>
constexpr Acc addmsc(const Acc& acc1, const Acc& acc2, const A& a, const B& b) {
    return msc(add(acc1, acc2), a, b);
}
template <detail::Accum Acc, typename A, typename B>
constexpr Acc submac(const Acc& acc1, const Acc& acc2, const A& a, const B& b) {
    return mac(sub(acc1, acc2), a, b);
}
template <detail::Accum Acc, typename A, typename B>
constexpr Acc submsc(const Acc& acc1, const Acc& acc2, const A& a, const B& b) {
    return msc(sub(acc1, acc2), a, b);
}

/// The real and the imaginary parts of complex numbers.
template <detail::Vector V>
    requires(V::is_complex())
constexpr auto real(const V& v) {
    using Part = typename detail::element_t<V>::part_type;
    return detail::each<Part, V::size()>([&](unsigned at) { return v.get(at).real; });
}
template <detail::Vector V>
    requires(V::is_complex())
constexpr auto imag(const V& v) {
    using Part = typename detail::element_t<V>::part_type;
    return detail::each<Part, V::size()>([&](unsigned at) { return v.get(at).imag; });
}

}  // namespace aie
