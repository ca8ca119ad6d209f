// Operators of vectors and accumulators, for those who say `using namespace aie::operators` (UG1529, Operators).
#pragma once

#include "compare_select.hpp"
#include "mul.hpp"

namespace aie::operators {

#define MEMTILE_OPERATOR(sign, function, assigning)                                                          \
    template <typename A, typename B>                                                                        \
        requires detail::VectorPair<A, B>                                                                    \
    constexpr auto operator sign(const A& a, const B& b) {                                                   \
        return function(a, b);                                                                               \
    }                                                                                                        \
    template <detail::Vector A, typename B>                                                                  \
        requires detail::VectorPair<A, B>                                                                    \
    constexpr A& operator assigning(A& a, const B& b) {                                                      \
        return a = function(a, b);                                                                           \
    }
MEMTILE_OPERATOR(+, add, +=)
MEMTILE_OPERATOR(-, sub, -=)
MEMTILE_OPERATOR(&, bit_and, &=)
MEMTILE_OPERATOR(|, bit_or, |=)
MEMTILE_OPERATOR(^, bit_xor, ^=)
#undef MEMTILE_OPERATOR
#define MEMTILE_OPERATOR(sign, function)              \
    template <typename A, typename B>                 \
        requires detail::VectorPair<A, B>             \
    constexpr auto operator sign(const A& a, const B& b) { \
        return function(a, b);                        \
    }
MEMTILE_OPERATOR(*, mul)
MEMTILE_OPERATOR(<, lt)
MEMTILE_OPERATOR(<=, le)
MEMTILE_OPERATOR(>, gt)
MEMTILE_OPERATOR(>=, ge)
MEMTILE_OPERATOR(==, eq)
MEMTILE_OPERATOR(!=, neq)
#undef MEMTILE_OPERATOR
template <detail::Accum A, typename V>
    requires(detail::is_accum_v<V> || detail::VectorOrValue<V>)
constexpr A operator+(const A& a, const V& v) {
    return add(a, v);
}
template <detail::Accum A, typename V>
    requires(detail::is_accum_v<V> || detail::VectorOrValue<V>)
constexpr A operator-(const A& a, const V& v) {
    return sub(a, v);
}
template <detail::Vector V>
constexpr V operator-(const V& v) {
    return neg(v);
}
template <detail::Vector V>
constexpr V operator~(const V& v) {
    return bit_not(v);
}
template <detail::Vector V>
constexpr V operator<<(const V& v, unsigned shift) {
    return upshift(v, shift);
}
template <detail::Vector V>
constexpr V operator>>(const V& v, unsigned shift) {
    return downshift(v, shift);
}

}  // namespace aie::operators
