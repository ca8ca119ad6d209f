// Scalar types of the AIE API on the host: integers, bfloat16, complex numbers and accumulator tags.
//
// Source: UG1529 (AI Engine API User Guide), Basic Types. How a float becomes a bfloat16: DEV-KERNEL-8.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core_modes.hpp"

#if !defined(restrict)
#define restrict __restrict
#endif

using int8 = int8_t;
using uint8 = uint8_t;
using int16 = int16_t;
using uint16 = uint16_t;
using int32 = int32_t;
using uint32 = uint32_t;
using int64 = int64_t;
using uint64 = uint64_t;

/// An integer of 4 bits; a vector packs two into a byte, the lower index in the lower half.
struct int4 {
    int8_t value = 0;
    int4() = default;
    constexpr int4(int v) : value(static_cast<int8_t>(static_cast<int8_t>(v << 4) >> 4)) {}
    constexpr operator int() const { return value; }
};
struct uint4 {
    uint8_t value = 0;
    uint4() = default;
    constexpr uint4(int v) : value(static_cast<uint8_t>(v & 15)) {}
    constexpr operator int() const { return value; }
};

namespace aie::detail {

/// Whether the part of a number that is cut off adds one to what is left (`down` cut towards minus infinity).
constexpr bool rounds_up(rounding_mode mode, bool odd, bool negative, bool above, bool tie, bool inexact) {
    switch (mode) {
        case rounding_mode::floor: return false;
        case rounding_mode::ceil: return inexact;
        case rounding_mode::symmetric_floor: return inexact && negative;
        case rounding_mode::symmetric_ceil: return inexact && !negative;
        case rounding_mode::positive_inf: return above || tie;
        case rounding_mode::negative_inf: return above;
        case rounding_mode::symmetric_inf: return above || (tie && !negative);
        case rounding_mode::symmetric_zero: return above || (tie && negative);
        case rounding_mode::conv_even: return above || (tie && odd);
        case rounding_mode::conv_odd: return above || (tie && !odd);
    }
    return false;
}

/// A float as the vector unit's floating-point data path has it: a subnormal number is a zero of its sign
/// (DEV-AIEAPI-11).
constexpr float flushed(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    return std::bit_cast<float>((word & 0x7f800000u) != 0 ? word : word & 0x80000000u);
}

/// The upper half of a float's word, rounded; NaN stays NaN (quiet), a carry may reach infinity.
constexpr uint16_t bf16_word(float value, rounding_mode mode) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = word & 0x7fffffffu;
    const uint16_t upper = static_cast<uint16_t>(word >> 16);
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(upper | 0x40u);
    const uint32_t rest = word & 0xffffu;
    const bool negative = (word >> 31) != 0;
    bool more = rest > 0x8000u;
    // The word of a negative number grows as the number falls, so directed modes swap ends.
    switch (mode) {
        case rounding_mode::floor: more = negative && rest != 0; break;
        case rounding_mode::ceil: more = !negative && rest != 0; break;
        case rounding_mode::symmetric_floor: more = false; break;
        case rounding_mode::symmetric_ceil: more = rest != 0; break;
        case rounding_mode::positive_inf: more = more || (rest == 0x8000u && !negative); break;
        case rounding_mode::negative_inf: more = more || (rest == 0x8000u && negative); break;
        case rounding_mode::symmetric_inf: more = more || rest == 0x8000u; break;
        case rounding_mode::symmetric_zero: break;
        case rounding_mode::conv_even: more = more || (rest == 0x8000u && (upper & 1) != 0); break;
        case rounding_mode::conv_odd: more = more || (rest == 0x8000u && (upper & 1) == 0); break;
    }
    return static_cast<uint16_t>(upper + (more ? 1 : 0));
}

}  // namespace aie::detail

/// A float of 16 bits. A constant is rounded by the compiler, halves to even (DEV-AIEAPI-5), all others by the mode of
/// the core; sums and products are floats until they are stored.
struct [[gnu::may_alias]] bfloat16 {
    uint16_t word;
    bfloat16() = default;
    template <typename T>
        requires std::is_arithmetic_v<T>
    __attribute__((always_inline)) constexpr bfloat16(T number) : word(0) {
        const float value = static_cast<float>(number);
        if (std::is_constant_evaluated() || __builtin_constant_p(value))
            word = aie::detail::bf16_word(value, aie::rounding_mode::conv_even);
        else
            word = aie::detail::bf16_word(aie::detail::flushed(value), aie::get_rounding());
    }
    constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(word) << 16); }
    static constexpr bfloat16 of_word(uint16_t w) {
        bfloat16 made{0};
        made.word = w;
        return made;
    }
    static constexpr bfloat16 rounded(float value, aie::rounding_mode mode) {
        return of_word(aie::detail::bf16_word(value, mode));
    }
    constexpr bfloat16& operator+=(float other) { return *this = bfloat16(static_cast<float>(*this) + other); }
    constexpr bfloat16& operator-=(float other) { return *this = bfloat16(static_cast<float>(*this) - other); }
    constexpr bfloat16& operator*=(float other) { return *this = bfloat16(static_cast<float>(*this) * other); }
    constexpr bfloat16& operator/=(float other) { return *this = bfloat16(static_cast<float>(*this) / other); }
};

namespace aie::detail {

/// A complex number: `real` first in memory. Products are exact in the type of the parts they are made in.
template <typename Part>
struct complex_number {
    using part_type = Part;
    Part real;
    Part imag;
    complex_number() = default;
    constexpr complex_number(Part r, Part i = Part(0)) : real(r), imag(i) {}
    constexpr bool operator==(const complex_number&) const = default;
    friend constexpr complex_number operator+(complex_number a, complex_number b) {
        return {static_cast<Part>(a.real + b.real), static_cast<Part>(a.imag + b.imag)};
    }
    friend constexpr complex_number operator-(complex_number a, complex_number b) {
        return {static_cast<Part>(a.real - b.real), static_cast<Part>(a.imag - b.imag)};
    }
    friend constexpr complex_number operator-(complex_number a) {
        return {static_cast<Part>(-a.real), static_cast<Part>(-a.imag)};
    }
    friend constexpr complex_number operator*(complex_number a, complex_number b) {
        return {static_cast<Part>(a.real * b.real - a.imag * b.imag),
                static_cast<Part>(a.real * b.imag + a.imag * b.real)};
    }
};

}  // namespace aie::detail

using cint16 = aie::detail::complex_number<int16_t>;
using cint32 = aie::detail::complex_number<int32_t>;
using cint64 = aie::detail::complex_number<int64_t>;
using cfloat = aie::detail::complex_number<float>;
using cbfloat16 = aie::detail::complex_number<bfloat16>;
using cint16_t = cint16;
using cint32_t = cint32;

// Tags of accumulators: the least number of bits a lane must have (UG1529, Accumulator Element Tags).
struct accauto {};
struct caccauto {};
#define MEMTILE_ACC_TAG(bits) \
    struct acc##bits {};      \
    struct cacc##bits {};
MEMTILE_ACC_TAG(16)
MEMTILE_ACC_TAG(24)
MEMTILE_ACC_TAG(32)
MEMTILE_ACC_TAG(40)
MEMTILE_ACC_TAG(48)
MEMTILE_ACC_TAG(56)
MEMTILE_ACC_TAG(64)
#undef MEMTILE_ACC_TAG
struct accfloat {};
struct caccfloat {};
