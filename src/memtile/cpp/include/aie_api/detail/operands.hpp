// What functions of the AIE API take: vectors, accumulators, single values, references to elements.
//
// A value beside a vector stands for a vector of that value in each element (UG1529, Arithmetic).
#pragma once

#include "storage.hpp"

namespace aie {

namespace detail {

template <typename V>
inline constexpr bool is_vector_v = false;
template <typename T, unsigned N>
inline constexpr bool is_vector_v<vector<T, N>> = true;
template <typename A>
inline constexpr bool is_accum_v = false;
template <typename Tag, unsigned N>
inline constexpr bool is_accum_v<accum<Tag, N>> = true;
template <typename R>
inline constexpr bool is_elem_ref_v = false;
template <typename T, unsigned N>
inline constexpr bool is_elem_ref_v<vector_elem_ref<T, N>> = true;
template <typename T, unsigned N>
inline constexpr bool is_elem_ref_v<vector_elem_const_ref<T, N>> = true;

/// The type of an operand's elements: of a vector, of the vector a reference points into, or the value itself.
template <typename V>
struct element_of {
    using type = V;
};
template <typename T, unsigned N>
struct element_of<vector<T, N>> {
    using type = T;
};
template <typename T, unsigned N>
struct element_of<vector_elem_ref<T, N>> {
    using type = T;
};
template <typename T, unsigned N>
struct element_of<vector_elem_const_ref<T, N>> {
    using type = T;
};
template <typename V>
using element_t = typename element_of<std::remove_cvref_t<V>>::type;

template <typename V>
inline constexpr bool is_value_v = is_element_v<V> || is_elem_ref_v<V> || std::is_arithmetic_v<V>;

/// The number of elements that two operands have, of which at least one is a vector.
template <typename A, typename B>
constexpr unsigned size_of_both() {
    if constexpr (is_vector_v<A>) {
        if constexpr (is_vector_v<B>) static_assert(A::size() == B::size(), "aie: both vectors need the same size");
        return A::size();
    } else {
        return B::size();
    }
}

/// Element `at` of an operand.
template <typename T, unsigned N>
constexpr T element(const vector<T, N>& v, unsigned at) {
    return v.get(at);
}
template <typename V>
    requires is_elem_ref_v<V>
constexpr element_t<V> element(const V& v, unsigned) {
    return v.get();
}
template <typename V>
    requires(is_element_v<V> || std::is_arithmetic_v<V>)
constexpr V element(V v, unsigned) {
    return v;
}

/// Vector instructions that `bits` take, of 512 bits each: what a core's unit is busy for.
constexpr unsigned instructions(unsigned bits) { return (bits + 511) / 512; }

template <typename V>
concept Vector = is_vector_v<V>;
template <typename A>
concept Accum = is_accum_v<A>;
template <typename V>
concept Value = is_value_v<V> && !is_vector_v<V>;
template <typename V>
concept VectorOrValue = is_vector_v<V> || is_value_v<V>;
template <typename A, typename B>
concept VectorPair = VectorOrValue<A> && VectorOrValue<B> && (is_vector_v<A> || is_vector_v<B>);

/// The type of elements that an operation on two operands works in: that of the vector.
template <typename A, typename B>
using shared_t = element_t<std::conditional_t<is_vector_v<A>, A, B>>;

/// A number in the type that sums and comparisons of it are made in.
template <typename T>
constexpr auto widened(T value) {
    if constexpr (std::is_same_v<T, bfloat16>)
        return static_cast<float>(value);
    else if constexpr (is_packed_v<T>)
        return static_cast<int>(value);
    else
        return value;
}

/// A number as an operand or a result of a sum: as widened, but subnormal floats are zeros (DEV-AIEAPI-11).
template <typename T>
constexpr auto summand(T value) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>)
        return flushed(static_cast<float>(value));
    else
        return widened(value);
}

/// A wide result in an element again: integers wrap, floats are rounded by the mode of the core.
template <typename T, typename Wide>
constexpr T narrowed(Wide value) {
    if constexpr (std::is_same_v<T, bfloat16>)
        return bfloat16::rounded(value, get_rounding());
    else
        return static_cast<T>(value);
}

template <typename T>
struct unsigned_of {
    using type = std::make_unsigned_t<T>;
};

/// a + b, a - b and a * b of elements; integers wrap.
template <typename T>
constexpr T wrapped_add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else if constexpr (is_complex_v<T>)
        return {wrapped_add(a.real, b.real), wrapped_add(a.imag, b.imag)};
    else
        return narrowed<T>(summand(summand(a) + summand(b)));
}
template <typename T>
constexpr T wrapped_sub(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
    else if constexpr (is_complex_v<T>)
        return {wrapped_sub(a.real, b.real), wrapped_sub(a.imag, b.imag)};
    else
        return narrowed<T>(summand(summand(a) - summand(b)));
}

/// The vector of what `f` makes of each element or pair of elements.
template <typename R, unsigned N, typename F>
constexpr vector<R, N> each(F f) {
    vector<R, N> made;
    for (unsigned at = 0; at < N; ++at) made.set(f(at), at);
    return made;
}

/// An element of a value of any arithmetic type, as the API converts it.
template <typename T, typename V>
constexpr T as_element(const V& v) {
    if constexpr (is_elem_ref_v<V>)
        return static_cast<T>(v.get());
    else
        return static_cast<T>(v);
}

/// Both operands as vectors of one type.
template <typename T, unsigned N, typename V>
constexpr vector<T, N> lifted(const V& v) {
    if constexpr (is_vector_v<V>) {
        static_assert(std::is_same_v<T, element_t<V>>, "aie: both vectors need the same type of elements");
        return v;
    } else {
        const T value = as_element<T>(v);
        return each<T, N>([&](unsigned) { return value; });
    }
}

}  // namespace detail

}  // namespace aie
