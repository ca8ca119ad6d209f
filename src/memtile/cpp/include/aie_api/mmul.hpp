// Products of small matrices (UG1529, Matrix Multiplication): C of M x N += A of M x K times B of K x N, row by row.
//
// Integers are exact, in lanes that wrap. In floats the products of one call are exact and summed in double, in
// the order of k; the sum with the lane is rounded once, to nearest even (DEV-AIEAPI-1); subnormal numbers are zeros
// (DEV-AIEAPI-11).
#pragma once

#include "block_vector.hpp"
#include "detail/pair_products.hpp"
#include "mul.hpp"

namespace aie {

namespace detail {

/// The accumulator of a matrix product where the user names none: 16 x 16 bits have lanes of 64 bits in AIE-ML's
/// matrix instructions (UG1583, mac_4x4_4x4; DEV-AIEAPI-6).
template <typename Tag, typename A, typename B>
struct matrix_tag {
    static constexpr bool wide = part_bits<A>() >= 16 && part_bits<B>() >= 16 && !is_floating_v<A>;
    using chosen = tag_of<Tag, A, B>;
    using type = std::conditional_t<std::is_same_v<Tag, accauto> && wide && std::is_same_v<chosen, acc32>, acc64, chosen>;
};

/// What sums of a matrix product are made in: unsigned integers, which wrap as lanes do, or double.
template <typename Slot>
struct sum_of {
    using type = std::make_unsigned_t<Slot>;
};
template <>
struct sum_of<float> {
    using type = double;
};
template <typename Slot>
using sum_t = typename sum_of<Slot>::type;

/// Whether all numbers of a type fit 16 signed bits: compilers know a product of such, summed in 32 bits.
template <typename T>
inline constexpr bool fits_int16_v =
    is_packed_v<T> || std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t>;

/// What the factors are brought to, and multiplied in.
template <typename Slot, typename A, typename B>
using factor_t = std::conditional_t<fits_int16_v<A> && fits_int16_v<B>, int16_t, sum_t<Slot>>;

/// An element as a factor of a matrix product.
template <typename Factor, typename T>
__attribute__((always_inline)) constexpr Factor as_factor(const T& value) {
    if constexpr (std::is_same_v<Factor, double>)
        return static_cast<double>(flushed(static_cast<float>(value)));
    else
        return static_cast<Factor>(widened(value));
}

/// Lane + sum, in a lane.
template <typename Slot>
__attribute__((always_inline)) constexpr Slot onto_lane(Slot lane, sum_t<Slot> sum) {
    if constexpr (std::is_same_v<Slot, float>)
        return flushed(static_cast<float>(static_cast<double>(flushed(lane)) + sum));
    else
        return static_cast<Slot>(static_cast<sum_t<Slot>>(lane) + sum);
}

/// Whether products of a shape are summed in pairs.
template <unsigned K, unsigned N, typename Slot, typename A, typename B>
inline constexpr bool in_pairs_v = has_pair_products && std::is_same_v<factor_t<Slot, A, B>, int16_t> && K % 2 == 0 &&
                                   N % pair_lanes == 0;

/// The numbers of a factor in 16 bits.
template <typename T, unsigned Size>
struct as_int16 {
    __attribute__((always_inline)) explicit as_int16(const vector<T, Size>& given) {
        for (unsigned at = 0; at < Size; ++at) made[at] = static_cast<int16_t>(widened(given.get(at)));
    }
    const int16_t* data() const { return made; }
    int16_t made[Size];
};
template <unsigned Size>
struct as_int16<int16_t, Size> {
    __attribute__((always_inline)) explicit as_int16(const vector<int16_t, Size>& given) : made(given.slots) {}
    const int16_t* data() const { return made; }
    const int16_t* made;
};

/// sums[m][n] += a[m][k] * b[k][n], of real numbers.
template <unsigned M, unsigned K, unsigned N, typename Slot, typename A, typename B>
__attribute__((always_inline)) constexpr void add_products(sum_t<Slot> (&sums)[M * N], const vector<A, M * K>& a,
                                                           const vector<B, K * N>& b) {
    using Sum = sum_t<Slot>;
    using Factor = factor_t<Slot, A, B>;
    Factor right[K * N] = {};
    for (unsigned at = 0; at < K * N; ++at) right[at] = as_factor<Factor>(b.get(at));
    for (unsigned m = 0; m < M; ++m)
        for (unsigned k = 0; k < K; ++k) {
            const Factor left = as_factor<Factor>(a.get(m * K + k));
            // Compilers vectorize 32-bit sums of 16-bit products by themselves; other loops run faster unrolled.
            if constexpr (std::is_same_v<Factor, int16_t> && sizeof(Sum) == 4) {
                for (unsigned n = 0; n < N; ++n)
                    sums[m * N + n] += static_cast<Sum>(int32_t(left) * int32_t(right[k * N + n]));
            } else {
                using Wide = std::conditional_t<std::is_same_v<Factor, int16_t>, int32_t, Factor>;
#pragma GCC unroll 16
                for (unsigned n = 0; n < N; ++n)
                    sums[m * N + n] += static_cast<Sum>(Wide(left) * Wide(right[k * N + n]));
            }
        }
}

#if defined(AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16)
#define MEMTILE_BFLOAT16_AS_BLOCKS
inline constexpr bool bfloat16_as_blocks = true;
#else
inline constexpr bool bfloat16_as_blocks = false;
#endif

/// A matrix whose numbers share an exponent by eights along k, as bfp16: `at(outer, k)` is a place (DEV-AIEAPI-7).
template <unsigned Outer, unsigned K, typename At>
inline void round_to_blocks(vector<bfloat16, Outer * K>& matrix, At at) {
    const rounding_mode mode = get_rounding();
    for (unsigned outer = 0; outer < Outer; ++outer)
        for (unsigned first = 0; first < K; first += block_size) {
            int exponent = 0;
            for (unsigned k = first; k < first + block_size; ++k)
                exponent = std::max(exponent, block_exponent(matrix.get(at(outer, k))));
            for (unsigned k = first; k < first + block_size; ++k) {
                const int part = block_part(matrix.get(at(outer, k)), exponent, mode);
                const double value = std::ldexp(part, exponent - block_bias - block_fraction_bits);
                matrix.set(bfloat16::rounded(static_cast<float>(value), rounding_mode::floor), at(outer, k));
            }
        }
}

}  // namespace detail

template <unsigned M_, unsigned K_, unsigned N_, typename TypeA, typename TypeB = TypeA, typename AccumTag = accauto>
class mmul {
  public:
    static constexpr unsigned M = M_;
    static constexpr unsigned K = K_;
    static constexpr unsigned N = N_;
    static constexpr unsigned size_A = M * K;
    static constexpr unsigned size_B = K * N;
    static constexpr unsigned size_C = M * N;
    using tag = typename detail::matrix_tag<AccumTag, TypeA, TypeB>::type;
    using accum_type = accum<tag, size_C>;
    using vector_A_type = vector<TypeA, size_A>;
    using vector_B_type = vector<TypeB, size_B>;

    constexpr mmul() = default;
    constexpr mmul(const accum_type& onto) : sum(onto) {}
    template <typename T>
    constexpr mmul(const vector<T, size_C>& onto, int shift = 0) : sum(onto, shift) {}

    static constexpr unsigned size() { return size_C; }
    constexpr void mul(const vector_A_type& a, const vector_B_type& b) {
        sum = accum_type{};
        mac(a, b);
    }
    constexpr void mac(const vector_A_type& a, const vector_B_type& b) {
        constexpr bool both = std::is_same_v<TypeA, bfloat16> && std::is_same_v<TypeB, bfloat16>;
        if constexpr (detail::bfloat16_as_blocks && both && K % detail::block_size == 0) {
            vector_A_type left = a;
            vector_B_type right = b;
            detail::round_to_blocks<M, K>(left, [](unsigned m, unsigned k) { return m * K + k; });
            detail::round_to_blocks<N, K>(right, [](unsigned n, unsigned k) { return k * N + n; });
            add(left, right);
        } else {
            add(a, b);
        }
    }

    constexpr accum_type to_accum() const { return sum; }
    constexpr operator accum_type() const { return sum; }
    template <typename T>
    constexpr vector<T, size_C> to_vector(int shift = 0) const {
        return sum.template to_vector<T>(shift);
    }

  private:
    __attribute__((always_inline)) constexpr void add(const vector_A_type& a, const vector_B_type& b) {
        using Slot = typename accum_type::slot;
        detail::count_macs<TypeA, TypeB>(M * K * N);
        if constexpr (detail::is_complex_v<Slot>) {
            for (unsigned m = 0; m < M; ++m)
                for (unsigned n = 0; n < N; ++n)
                    for (unsigned k = 0; k < K; ++k)
                        sum.slots[m * N + n] = detail::lane_sum(
                            sum.slots[m * N + n], detail::product<Slot>(a.get(m * K + k), b.get(k * N + n)), false);
        } else {
            if constexpr (detail::in_pairs_v<K, N, Slot, TypeA, TypeB>)
                if (!std::is_constant_evaluated()) {
                    const detail::as_int16<TypeA, size_A> left(a);
                    const detail::as_int16<TypeB, size_B> right(b);
                    auto* lanes = reinterpret_cast<detail::sum_t<Slot>*>(sum.slots);
                    return detail::add_pair_products<M, K, N>(lanes, left.data(), right.data());
                }
            detail::sum_t<Slot> sums[size_C] = {};
            detail::add_products<M, K, N, Slot>(sums, a, b);
            for (unsigned at = 0; at < size_C; ++at) sum.slots[at] = detail::onto_lane(sum.slots[at], sums[at]);
        }
    }

    accum_type sum;
};

}  // namespace aie
