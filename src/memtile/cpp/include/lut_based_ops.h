// Functions that mlir-aie's kernels for AIE-ML look up in tables: exp, tanh and the reciprocal, of bfloat16.
//
// The steps are the hardware's: which bits of the input choose an entry, what is multiplied. The entries are computed
// from the functions themselves, halves to even (DEV-INTRINSIC-5). Source of the steps: mlir-aie, lut_based_ops.
#pragma once
#define __LUT_BASED_OPS_H__

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "aie_api/aie.hpp"
#include "memtile/intrinsics.h"

namespace memtile::lut {

inline bfloat16 nearest(double value) {
    return bfloat16::rounded(static_cast<float>(value), aie::rounding_mode::conv_even);
}

inline constexpr int exp_bits = 8;  // of the whole part of an exponent, and of its fraction
inline constexpr int exp_entries = 1 << exp_bits;

struct exp_tables {
    std::array<bfloat16, exp_entries> whole;     // exp(i), i as a signed number of 8 bits
    std::array<bfloat16, exp_entries> fraction;  // exp(i / 256)
    exp_tables() {
        for (int at = 0; at < exp_entries; ++at) {
            whole[at] = nearest(std::exp(static_cast<double>(static_cast<std::int8_t>(at))));
            fraction[at] = nearest(std::exp(static_cast<double>(at) / exp_entries));
        }
    }
};
inline const exp_tables &exps() {
    static const exp_tables made;
    return made;
}

// tanh in 32 pieces of a quarter from -4 on: chords, with slopes in bfloat16; the outermost pieces are -1 and 1.
inline constexpr int tanh_pieces = 32, tanh_bias = 16;
inline constexpr double tanh_step = 0.25;

struct tanh_table {
    std::array<bfloat16, tanh_pieces> slope;
    std::array<float, tanh_pieces> offset;
    tanh_table() {
        for (int at = 0; at < tanh_pieces; ++at) {
            const double from = (at - tanh_bias) * tanh_step;
            slope[at] = nearest((std::tanh(from + tanh_step) - std::tanh(from)) / tanh_step);
            offset[at] = static_cast<float>(std::tanh(from) - static_cast<float>(slope[at]) * from);
        }
        slope[0] = slope[tanh_pieces - 1] = nearest(0);
        offset[0] = -1;
        offset[tanh_pieces - 1] = 1;
    }
};
inline const tanh_table &tanhs() {
    static const tanh_table made;
    return made;
}

}  // namespace memtile::lut

// exp(x) as exp(whole part) * exp(fraction), the fraction cut to 8 bits; from 128 and -128 on the whole part wraps.
inline v16accfloat getExpBf16(const v16bfloat16 &x) {
    memtile::count(memtile::Unit::scalar, 2);
    memtile::count(memtile::Unit::mac);
    const auto &tables = memtile::lut::exps();
    v16accfloat to;
    for (unsigned at = 0; at < v16bfloat16::size(); ++at) {
        const auto fixed = static_cast<std::uint32_t>(memtile::floor_to_int(x.get(at), memtile::lut::exp_bits));
        const float whole = tables.whole[fixed >> memtile::lut::exp_bits & (memtile::lut::exp_entries - 1)];
        to.slots[at] = whole * static_cast<float>(tables.fraction[fixed & (memtile::lut::exp_entries - 1)]);
    }
    return to;
}

inline v16bfloat16 getTanhBf16(const v16bfloat16 &x) {
    memtile::count(memtile::Unit::scalar, 2);
    memtile::count(memtile::Unit::mac);
    const auto &table = memtile::lut::tanhs();
    v16accfloat to;
    for (unsigned at = 0; at < v16bfloat16::size(); ++at) {
        const float value = x.get(at);
        long long piece = static_cast<long long>(memtile::floor_to_int(value, 2)) + memtile::lut::tanh_bias;
        piece = piece < 0 ? 0 : piece >= memtile::lut::tanh_pieces ? memtile::lut::tanh_pieces - 1 : piece;
        const float slope = table.slope[piece];
        to.slots[at] = (slope == 0 ? 0 : slope * value) + table.offset[piece];
    }
    return to_v16bfloat16(to);
}

// 1 / x: the exponent is mirrored, the seven bits after the point are looked up; x is rounded to these bits first.
inline bfloat16 getInvBf16(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) + 0x8000u;
    const std::uint32_t exponent = bits >> 23 & 0xffu, fraction = bits >> 16 & 0x7fu;
    const double inverse = 2.0 / (1.0 + fraction / 128.0);  // in (1, 2]
    const auto found = fraction == 0 ? 0u : static_cast<std::uint32_t>(std::lround((inverse - 1.0) * 128.0));
    return bfloat16::of_word(static_cast<std::uint16_t>(((fraction == 0) + (253u - exponent) << 7) + found));
}
