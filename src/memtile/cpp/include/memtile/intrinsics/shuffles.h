// shuffle(a, b, mode): a and b in one row as matrices of elements, transposed.
//
// A mode T<bits>_<rows>x<columns>_lo|hi names the elements' width and the matrix; element (r, c) comes to place
// (c, r), and _lo or _hi says which 512 bits of the result come out. Modes of matrices of at most 512 bits read `a`
// alone and do so for each matrix in it. Numbers of the modes: mlir-aie's AIEVec dialect; names and matrices: UG1583.
#pragma once

#include <cstring>

#include "aie_api/aie.hpp"
#include "memtile/core.h"
#include "memtile/intrinsics/elements.h"

#define MEMTILE_SHUFFLES(MODE)                                                                               \
    MODE(T8_64x2_lo, 0, 8, 64, 2, 0) MODE(T8_64x2_hi, 1, 8, 64, 2, 1)                                        \
    MODE(T16_32x2_lo, 2, 16, 32, 2, 0) MODE(T16_32x2_hi, 3, 16, 32, 2, 1)                                    \
    MODE(T32_16x2_lo, 4, 32, 16, 2, 0) MODE(T32_16x2_hi, 5, 32, 16, 2, 1)                                    \
    MODE(T64_8x2_lo, 6, 64, 8, 2, 0) MODE(T64_8x2_hi, 7, 64, 8, 2, 1)                                        \
    MODE(T128_4x2_lo, 8, 128, 4, 2, 0) MODE(T128_4x2_hi, 9, 128, 4, 2, 1)                                    \
    MODE(T256_2x2_lo, 10, 256, 2, 2, 0) MODE(T256_2x2_hi, 11, 256, 2, 2, 1)                                  \
    MODE(T128_2x4_lo, 12, 128, 2, 4, 0) MODE(T128_2x4_hi, 13, 128, 2, 4, 1)                                  \
    MODE(T64_2x8_lo, 14, 64, 2, 8, 0) MODE(T64_2x8_hi, 15, 64, 2, 8, 1)                                      \
    MODE(T32_2x16_lo, 16, 32, 2, 16, 0) MODE(T32_2x16_hi, 17, 32, 2, 16, 1)                                  \
    MODE(T16_2x32_lo, 18, 16, 2, 32, 0) MODE(T16_2x32_hi, 19, 16, 2, 32, 1)                                  \
    MODE(T8_2x64_lo, 20, 8, 2, 64, 0) MODE(T8_2x64_hi, 21, 8, 2, 64, 1)                                      \
    MODE(T512_1x2_lo, 22, 512, 1, 2, 0) MODE(T512_1x2_hi, 23, 512, 1, 2, 1)                                  \
    MODE(T16_16x4_lo, 24, 16, 16, 4, 0) MODE(T16_16x4_hi, 25, 16, 16, 4, 1)                                  \
    MODE(T16_4x16_lo, 26, 16, 4, 16, 0) MODE(T16_4x16_hi, 27, 16, 4, 16, 1)                                  \
    MODE(T16_8x4, 28, 16, 8, 4, 0) MODE(T16_4x8, 29, 16, 4, 8, 0)                                            \
    MODE(T32_8x4_lo, 30, 32, 8, 4, 0) MODE(T32_8x4_hi, 31, 32, 8, 4, 1)                                      \
    MODE(T32_4x8_lo, 32, 32, 4, 8, 0) MODE(T32_4x8_hi, 33, 32, 4, 8, 1)                                      \
    MODE(T32_4x4, 34, 32, 4, 4, 0) MODE(T8_8x8, 35, 8, 8, 8, 0)                                              \
    MODE(T8_16x4, 36, 8, 16, 4, 0) MODE(T8_4x16, 37, 8, 4, 16, 0)                                            \
    MODE(T16_4x4, 39, 16, 4, 4, 0) MODE(T16_4x2, 40, 16, 4, 2, 0) MODE(T16_2x4, 41, 16, 2, 4, 0)             \
    MODE(T16_8x2, 42, 16, 8, 2, 0) MODE(T16_2x8, 43, 16, 2, 8, 0) MODE(T16_16x2, 44, 16, 16, 2, 0)           \
    MODE(T16_2x16, 45, 16, 2, 16, 0) MODE(T8_8x4, 46, 8, 8, 4, 0) MODE(T8_4x8, 47, 8, 4, 8, 0)

#define MEMTILE_SHUFFLE_NAME(name, number, ...) name = number, shuffle_##name = number,
enum eShuffleMode : unsigned {
    MEMTILE_SHUFFLES(MEMTILE_SHUFFLE_NAME) T16_1x2_flip = 38,
    shuffle_T16_1x2_flip = 38,
};
#undef MEMTILE_SHUFFLE_NAME

namespace memtile {

inline constexpr unsigned register_bytes = 64;

// Copies the elements of one matrix of `rows` x `columns` to their places in its transpose.
inline void transpose(const unsigned char *from, unsigned char *to, unsigned width, unsigned rows, unsigned columns) {
    for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < columns; ++column)
            std::memcpy(to + (column * rows + row) * width, from + (row * columns + column) * width, width);
}

// The 64 bytes that a mode makes of the 128 of both inputs.
inline void shuffled(const unsigned char *both, unsigned char *found, unsigned mode) {
    unsigned char turned[2 * register_bytes];
    const auto turn = [&](unsigned bits, unsigned rows, unsigned columns, unsigned high) {
        const unsigned width = bits / 8, block = width * rows * columns;
        const unsigned total = block > register_bytes ? 2 * register_bytes : register_bytes;
        for (unsigned at = 0; at < total; at += block) transpose(both + at, turned + at, width, rows, columns);
        std::memcpy(found, turned + high * register_bytes, register_bytes);
    };
    switch (mode) {
#define MEMTILE_SHUFFLE_CASE(name, number, bits, rows, columns, high) \
    case number: turn(bits, rows, columns, high); return;
        MEMTILE_SHUFFLES(MEMTILE_SHUFFLE_CASE)
#undef MEMTILE_SHUFFLE_CASE
        case T16_1x2_flip:
            for (unsigned at = 0; at < register_bytes; at += 2) std::memcpy(found + at, both + (at ^ 2u), 2);
            return;
        default: fail("shuffle got a mode that UG1583 does not have (0 to 47)");
    }
}

}  // namespace memtile
#undef MEMTILE_SHUFFLES

template <typename T, unsigned N>
inline aie::vector<T, N> shuffle(const aie::vector<T, N> &a, const aie::vector<T, N> &b, unsigned mode) {
    static_assert(sizeof a == memtile::register_bytes, "shuffle takes vectors of 512 bits (UG1583, Shuffle)");
    memtile::count(memtile::Unit::shuffle);
    unsigned char both[2 * memtile::register_bytes], found[memtile::register_bytes];
    std::memcpy(both, &a, sizeof a);
    std::memcpy(both + memtile::register_bytes, &b, sizeof b);
    memtile::shuffled(both, found, mode);
    return memtile::bits_of<aie::vector<T, N>>(found);
}
template <typename T, unsigned N>
inline aie::vector<T, N> shuffle(const aie::vector<T, N> &a, unsigned mode) {
    return shuffle(a, a, mode);
}
