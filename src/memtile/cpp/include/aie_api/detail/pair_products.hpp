// Sums of products of 16-bit numbers as processors of x86 make them: two products to a sum of 32 bits, four sums at once.
//
// Exact: the sum of two such products is -2^31 + 2^16 at least and 2^31 at most, and only the latter does not fit 32 signed
// bits. So lanes of 64 bits take the sum less 1, and 1 more.
#pragma once

#include <cstdint>
#include <cstring>

namespace aie::detail {

#if defined(__SSE2__)
inline constexpr bool has_pair_products = true;

inline constexpr unsigned pair_lanes = 4;
using eight_halves = short __attribute__((vector_size(16)));
using four_words = int __attribute__((vector_size(16)));
using two_longs = long long __attribute__((vector_size(16)));

/// Elements of `first` and `second` in turns, from the lower or the upper half of both.
template <typename V>
inline V in_turns(V first, V second, bool upper) {
#if defined(__clang__)
    if constexpr (sizeof(first[0]) == 2)
        return upper ? __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15)
                     : __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
    else
        return upper ? __builtin_shufflevector(first, second, 2, 6, 3, 7)
                     : __builtin_shufflevector(first, second, 0, 4, 1, 5);
#else
    if constexpr (sizeof(first[0]) == 2)
        return upper ? __builtin_shuffle(first, second, V{4, 12, 5, 13, 6, 14, 7, 15})
                     : __builtin_shuffle(first, second, V{0, 8, 1, 9, 2, 10, 3, 11});
    else
        return upper ? __builtin_shuffle(first, second, V{2, 6, 3, 7}) : __builtin_shuffle(first, second, V{0, 4, 1, 5});
#endif
}

/// Rows k and k + 1 of four columns of a K x N matrix, column by column.
template <unsigned N>
inline eight_halves column_pairs(const int16_t* row) {
    long long first, second;
    std::memcpy(&first, row, sizeof first);
    std::memcpy(&second, row + N, sizeof second);
    return in_turns(reinterpret_cast<eight_halves>(two_longs{first}), reinterpret_cast<eight_halves>(two_longs{second}), false);
}

/// lanes += sums, of which each is `less` too small.
inline void add_sums(uint32_t* lanes, four_words sums) {
    four_words found;
    std::memcpy(&found, lanes, sizeof found);
    found += sums;
    std::memcpy(lanes, &found, sizeof found);
}
inline void add_wide(two_longs (&wide)[2], four_words sums) {
    const four_words below = sums - 1, sign = below < 0;
    wide[0] += reinterpret_cast<two_longs>(in_turns(below, sign, false)) + 1;
    wide[1] += reinterpret_cast<two_longs>(in_turns(below, sign, true)) + 1;
}

/// lanes[m][n] += sum over k of left[m][k] * right[k][n], in lanes that wrap.
template <unsigned M, unsigned K, unsigned N, typename Lane>
inline void add_pair_products(Lane* lanes, const int16_t* left, const int16_t* right) {
    eight_halves pairs[K / 2][N / pair_lanes];
    for (unsigned k = 0; k < K; k += 2)
        for (unsigned n = 0; n < N; n += pair_lanes) pairs[k / 2][n / pair_lanes] = column_pairs<N>(right + k * N + n);
    for (unsigned m = 0; m < M; ++m)
        for (unsigned n = 0; n < N; n += pair_lanes) {
            Lane* place = lanes + m * N + n;
            four_words narrow{};
            two_longs wide[2];
            if constexpr (sizeof(Lane) == 8) std::memcpy(wide, place, sizeof wide);
            for (unsigned k = 0; k < K; k += 2) {
                int both;
                std::memcpy(&both, left + m * K + k, sizeof both);
                const auto factor = reinterpret_cast<eight_halves>(four_words{both, both, both, both});
                const four_words sums = __builtin_ia32_pmaddwd128(factor, pairs[k / 2][n / pair_lanes]);
                if constexpr (sizeof(Lane) == 8)
                    add_wide(wide, sums);
                else
                    narrow += sums;
            }
            if constexpr (sizeof(Lane) == 8) std::memcpy(place, wide, sizeof wide);
            else add_sums(place, narrow);
        }
}
#else
inline constexpr bool has_pair_products = false;
inline constexpr unsigned pair_lanes = 4;
template <unsigned M, unsigned K, unsigned N, typename Lane>
inline void add_pair_products(Lane*, const int16_t*, const int16_t*) {}
#endif

}  // namespace aie::detail
