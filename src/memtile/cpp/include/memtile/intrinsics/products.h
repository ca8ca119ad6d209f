// Products of vectors: element by element (mul_elem_..) and of small matrices (mul_RxK_KxC), with their variants.
//
// mul, negmul: +-(a b); mac, msc: acc +- a b; addmac, addmsc: acc1 + acc2 +- a b. Integer lanes wrap; floats are summed
// in double and rounded once to the nearest float32, the accumulator with them (DEV-AIEVEC-2, DEV-INTRINSIC-1);
// subnormal numbers are zeros (DEV-AIEAPI-11). A name `elem_N_2` multiplies two vectors of 2 N elements and adds those N
// apart. Names: UG1583, Multiply Accumulate.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "aie_api/aie.hpp"
#include "memtile/core.h"
#include "memtile/intrinsics/elements.h"

namespace memtile {

// 64 bits hold products of 32-bit integers, modulo 2^64; a double holds those of float32 and, but for numbers that
// float32 loses anyway, sums of some of bfloat16.
template <typename Slot>
using sum_type = std::conditional_t<std::is_floating_point_v<Slot>, double, std::uint64_t>;

template <typename Sum, typename T>
inline Sum widened(T value) {
    if constexpr (std::is_floating_point_v<Sum>)
        return static_cast<Sum>(aie::detail::flushed(static_cast<float>(value)));
    else
        return static_cast<Sum>(static_cast<std::int64_t>(value));
}
template <typename Slot, typename Sum>
inline Slot narrowed(Sum sum) {
    if constexpr (std::is_floating_point_v<Slot>)
        return aie::detail::flushed(static_cast<float>(sum));
    else
        return static_cast<Slot>(sum);
}

// Lane by lane: terms(lane) is the sum of products of a lane.
template <typename Acc, typename Terms>
inline Acc summed(const Acc *first, const Acc *second, bool minus, Terms terms) {
    count(Unit::mac);
    using Slot = typename Acc::slot;
    using Sum = sum_type<Slot>;
    Acc to;
    for (unsigned lane = 0; lane < Acc::size(); ++lane) {
        const Sum product = terms(lane);
        Sum sum = minus ? Sum(0) - product : product;
        if (first) sum += widened<Sum>(first->slots[lane]);
        if (second) sum += widened<Sum>(second->slots[lane]);
        to.slots[lane] = narrowed<Slot>(sum);
    }
    return to;
}

// Element by element: `Apart` products of elements `lanes` apart are added.
template <typename Acc, unsigned Apart, typename A, typename B, unsigned N, unsigned M>
inline auto elementwise(const aie::vector<A, N> &a, const aie::vector<B, M> &b) {
    using Sum = sum_type<typename Acc::slot>;
    return [&a, &b](unsigned lane) {
        Sum sum = 0;
        for (unsigned term = 0; term < Apart; ++term)
            sum += widened<Sum>(a.get(lane + term * Acc::size())) * widened<Sum>(b.get(lane + term * Acc::size()));
        return sum;
    };
}

// Matrices, row-major; `Turned` has b's rows as columns.
template <typename Acc, unsigned Rows, unsigned Inner, unsigned Columns, bool Turned, typename A, typename B>
inline auto matrices(const A &a, const B &b) {
    using Sum = sum_type<typename Acc::slot>;
    return [&a, &b](unsigned lane) {
        const unsigned row = lane / Columns, column = lane % Columns;
        Sum sum = 0;
        for (unsigned k = 0; k < Inner; ++k)
            sum += widened<Sum>(a.get(row * Inner + k)) *
                   widened<Sum>(b.get(Turned ? column * Inner + k : k * Columns + column));
        return sum;
    };
}

}  // namespace memtile

// The six variants of a product for given operand types.
#define MEMTILE_PRODUCT(name, Acc, A, B, terms)                                                                   \
    inline Acc mul_##name(const A &a, const B &b) {                                                               \
        return memtile::summed<Acc>(nullptr, nullptr, false, terms);                                              \
    }                                                                                                             \
    inline Acc negmul_##name(const A &a, const B &b) {                                                            \
        return memtile::summed<Acc>(nullptr, nullptr, true, terms);                                               \
    }                                                                                                             \
    inline Acc mac_##name(const A &a, const B &b, const Acc &acc) {                                               \
        return memtile::summed<Acc>(&acc, nullptr, false, terms);                                                 \
    }                                                                                                             \
    inline Acc msc_##name(const A &a, const B &b, const Acc &acc) {                                               \
        return memtile::summed<Acc>(&acc, nullptr, true, terms);                                                  \
    }                                                                                                             \
    inline Acc addmac_##name(const A &a, const B &b, const Acc &acc, const Acc &other) {                          \
        return memtile::summed<Acc>(&acc, &other, false, terms);                                                  \
    }                                                                                                             \
    inline Acc addmsc_##name(const A &a, const B &b, const Acc &acc, const Acc &other) {                          \
        return memtile::summed<Acc>(&acc, &other, true, terms);                                                   \
    }
#define MEMTILE_ELEMENTS(name, Acc, A, B, apart) \
    MEMTILE_PRODUCT(name, Acc, A, B, (memtile::elementwise<Acc, apart>(a, b)))
#define MEMTILE_MATRICES(r, k, c, Acc, A, B) \
    MEMTILE_PRODUCT(r##x##k##_##k##x##c, Acc, A, B, (memtile::matrices<Acc, r, k, c, false>(a, b)))
// Integer operands of either sign.
#define MEMTILE_ELEMENTS_SIGNS(name, Acc, lanes, bits, apart)                         \
    MEMTILE_ELEMENTS(name, Acc, v##lanes##int##bits, v##lanes##int##bits, apart)      \
    MEMTILE_ELEMENTS(name, Acc, v##lanes##uint##bits, v##lanes##int##bits, apart)     \
    MEMTILE_ELEMENTS(name, Acc, v##lanes##int##bits, v##lanes##uint##bits, apart)     \
    MEMTILE_ELEMENTS(name, Acc, v##lanes##uint##bits, v##lanes##uint##bits, apart)
#define MEMTILE_MATRICES_SIGNS(r, k, c, Acc, la, ba, lb, bb)                          \
    MEMTILE_MATRICES(r, k, c, Acc, v##la##int##ba, v##lb##int##bb)                    \
    MEMTILE_MATRICES(r, k, c, Acc, v##la##uint##ba, v##lb##int##bb)                   \
    MEMTILE_MATRICES(r, k, c, Acc, v##la##int##ba, v##lb##uint##bb)                   \
    MEMTILE_MATRICES(r, k, c, Acc, v##la##uint##ba, v##lb##uint##bb)

MEMTILE_ELEMENTS_SIGNS(elem_32_2, v32acc32, 64, 8, 2)
MEMTILE_ELEMENTS_SIGNS(elem_32, v32acc32, 32, 16, 1)
MEMTILE_ELEMENTS_SIGNS(elem_16_2, v16acc64, 32, 16, 2)
MEMTILE_ELEMENTS(elem_16, v16acc64, v16int32, v16int32, 1)
MEMTILE_ELEMENTS(elem_16_2, v16accfloat, v32bfloat16, v32bfloat16, 2)
MEMTILE_ELEMENTS(elem_16, v16accfloat, v16float, v16float, 1)
MEMTILE_ELEMENTS(elem_32, v32accfloat, v32bfloat16, v32bfloat16, 1)
MEMTILE_ELEMENTS(elem_64, v64accfloat, v64bfloat16, v64bfloat16, 1)
MEMTILE_MATRICES_SIGNS(4, 8, 8, v32acc32, 32, 8, 64, 8)
MEMTILE_MATRICES_SIGNS(8, 8, 8, v64acc32, 64, 8, 64, 8)
MEMTILE_MATRICES_SIGNS(4, 4, 8, v32acc32, 16, 16, 32, 8)
MEMTILE_MATRICES_SIGNS(4, 2, 8, v32acc32, 8, 16, 16, 16)
MEMTILE_MATRICES_SIGNS(4, 4, 4, v16acc64, 16, 16, 16, 16)
MEMTILE_MATRICES_SIGNS(2, 8, 8, v16acc64, 16, 16, 64, 8)
MEMTILE_MATRICES(4, 8, 4, v16accfloat, v32bfloat16, v32bfloat16)
MEMTILE_MATRICES(8, 8, 4, v32accfloat, v64bfloat16, v32bfloat16)
MEMTILE_MATRICES(8, 8, 8, v64accfloat, v64bfloat16, v64bfloat16)

// Vectors of 32-bit integers in halves: products of a0 and b0, plus those of a1 and b1.
inline v16acc64 mul_elem_16_2(const v16int32 &a0, const v16int32 &a1, const v16int32 &b0, const v16int32 &b1) {
    return mac_elem_16(a1, b1, mul_elem_16(a0, b0));
}
inline v16acc64 mac_elem_16_2(const v16int32 &a0, const v16int32 &a1, const v16int32 &b0, const v16int32 &b1,
                              const v16acc64 &acc) {
    return mac_elem_16(a1, b1, mac_elem_16(a0, b0, acc));
}

// Block floats (AIE2P): a's rows and b's columns are blocks of eight with one exponent.
MEMTILE_PRODUCT(8x8_8x8T, v64accfloat, v64bfp16ebs8, v64bfp16ebs8, (memtile::matrices<v64accfloat, 8, 8, 8, true>(a, b)))

#undef MEMTILE_MATRICES_SIGNS
#undef MEMTILE_ELEMENTS_SIGNS
#undef MEMTILE_MATRICES
#undef MEMTILE_ELEMENTS
#undef MEMTILE_PRODUCT
