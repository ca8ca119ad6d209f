// Reciprocals, roots and transcendental functions (UG1529, Elementary Functions; Floating-point Scalar Operations).
//
// Each is the mathematical function of its argument, rounded once: to float to nearest even, to bfloat16 by the mode
// of the core. How far the hardware's own approximations differ is not public (DEV-AIEAPI-3, DEV-KERNEL-4).
#pragma once

#include "arithmetic.hpp"

namespace aie {

namespace detail {

template <typename R, typename F, typename V>
auto elementwise(const V& v, F f) {
    if constexpr (is_vector_v<V>) {
        memtile::count(memtile::Unit::scalar, V::size());
        return each<R, V::size()>(
            [&](unsigned at) { return narrowed<R>(static_cast<float>(f(static_cast<double>(v.get(at))))); });
    } else {
        memtile::count(memtile::Unit::scalar);
        return narrowed<R>(static_cast<float>(f(static_cast<double>(element(v, 0)))));
    }
}

/// Integers have these functions as floats.
template <typename V>
using real_of = std::conditional_t<std::is_integral_v<element_t<V>> || std::is_same_v<element_t<V>, double>, float, element_t<V>>;

}  // namespace detail

template <typename V>
auto inv(const V& v) {
    return detail::elementwise<detail::real_of<V>>(v, [](double x) { return 1.0 / x; });
}
template <typename V>
auto sqrt(const V& v) {
    return detail::elementwise<detail::real_of<V>>(v, [](double x) { return std::sqrt(x); });
}
template <typename V>
auto invsqrt(const V& v) {
    return detail::elementwise<detail::real_of<V>>(v, [](double x) { return 1.0 / std::sqrt(x); });
}
template <typename A, typename B>
    requires detail::VectorPair<A, B>
auto div(const A& a, const B& b) {
    using T = detail::shared_t<A, B>;
    return detail::pairwise(a, b, [](T x, T y) {
        return detail::narrowed<T>(static_cast<float>(static_cast<double>(x) / static_cast<double>(y)));
    });
}
template <typename V>
auto sin(const V& v) {
    return detail::elementwise<detail::real_of<V>>(v, [](double x) { return std::sin(x); });
}
template <typename V>
auto cos(const V& v) {
    return detail::elementwise<detail::real_of<V>>(v, [](double x) { return std::cos(x); });
}
template <typename V>
auto sincos(const V& v) {
    return std::pair(aie::sin(v), aie::cos(v));
}
/// 2**x, in the type R.
template <typename R = bfloat16, typename V>
auto exp2(const V& v) {
    return detail::elementwise<R>(v, [](double x) { return std::exp2(x); });
}
template <typename R = bfloat16, typename V>
auto tanh(const V& v) {
    return detail::elementwise<R>(v, [](double x) { return std::tanh(x); });
}

}  // namespace aie
