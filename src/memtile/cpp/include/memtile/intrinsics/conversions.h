// Between vectors and accumulators: shift-round-saturate (srs), upshift (ups), and floats to integers.
//
// Rounding and saturation are those of the core's control registers. `s` variants narrow or widen to a quarter (acc32
// and 8 bits, acc64 and 16 bits), `l` variants to a half; `sign` 0 saturates to the range of unsigned numbers. Names
// and types: UG1583, Shift-Round-Saturate and Up-shift.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "aie_api/aie.hpp"
#include "memtile/core.h"
#include "memtile/intrinsics/elements.h"

namespace memtile {

// Shifts by less than 0 are defined only where nothing has to be rounded (UG1583), so from -4 on they shift up.
inline int checked_shift(int shift, int lowest, int highest) {
    if (shift < lowest || shift > highest) fail("a shift between vector and accumulator is outside what UG1583 allows");
    return shift;
}

template <typename T, typename Tag, unsigned N>
inline aie::vector<T, N> srs_to(const aie::accum<Tag, N> &from, int shift, int sign) {
    if constexpr (std::is_same_v<T, bfloat16> || std::is_same_v<T, float>)
        return from.template to_vector<T>();
    else
        return from.template to_vector_sign<T>(sign != 0, checked_shift(shift, -4, 59));
}
template <typename Tag, typename T, unsigned N>
inline aie::accum<Tag, N> ups_to(const aie::vector<T, N> &from, int shift, int sign) {
    aie::accum<Tag, N> to;
    if constexpr (std::is_same_v<T, bfloat16> || std::is_same_v<T, float>)
        to.from_vector(from);
    else
        to.from_vector_sign(from, sign != 0, checked_shift(shift, 0, 63));
    return to;
}
template <unsigned Bits>
struct integer_of;
template <>
struct integer_of<8> {
    using plain = std::int8_t;
    using natural = std::uint8_t;
};
template <>
struct integer_of<16> {
    using plain = std::int16_t;
    using natural = std::uint16_t;
};
template <>
struct integer_of<32> {
    using plain = std::int32_t;
    using natural = std::uint32_t;
};
template <typename Tag>
concept integer_lanes = std::is_same_v<Tag, acc32> || std::is_same_v<Tag, acc64>;
template <typename Tag>
inline constexpr unsigned lane_bits = std::is_same_v<Tag, acc64> ? 64 : 32;

}  // namespace memtile

template <memtile::integer_lanes Tag, unsigned N>
inline auto ssrs(const aie::accum<Tag, N> &from, int shift, int sign = 1) {
    return memtile::srs_to<typename memtile::integer_of<memtile::lane_bits<Tag> / 4>::plain>(from, shift, sign);
}
template <memtile::integer_lanes Tag, unsigned N>
inline auto lsrs(const aie::accum<Tag, N> &from, int shift, int sign = 1) {
    return memtile::srs_to<typename memtile::integer_of<memtile::lane_bits<Tag> / 2>::plain>(from, shift, sign);
}
template <memtile::integer_lanes Tag, unsigned N>
inline auto ussrs(const aie::accum<Tag, N> &from, int shift, int sign = 0) {
    return memtile::srs_to<typename memtile::integer_of<memtile::lane_bits<Tag> / 4>::natural>(from, shift, sign);
}
template <memtile::integer_lanes Tag, unsigned N>
inline auto ulsrs(const aie::accum<Tag, N> &from, int shift, int sign = 0) {
    return memtile::srs_to<typename memtile::integer_of<memtile::lane_bits<Tag> / 2>::natural>(from, shift, sign);
}
template <unsigned N>
inline aie::vector<bfloat16, N> srs(const aie::accum<accfloat, N> &from) {
    return memtile::srs_to<bfloat16>(from, 0, 1);
}

// srs_to_<type>(acc, shift, sign) and to_<type>(acc, shift, sign) say the type of the result.
#define MEMTILE_SRS(lanes, type, scalar, tag, sign_)                                                  \
    inline v##lanes##type srs_to_v##lanes##type(const v##lanes##tag &from, int shift, int sign = sign_) { \
        return memtile::srs_to<scalar>(from, shift, sign);                                           \
    }                                                                                                 \
    inline v##lanes##type to_v##lanes##type(const v##lanes##tag &from, int shift, int sign = sign_) { \
        return memtile::srs_to<scalar>(from, shift, sign);                                           \
    }
MEMTILE_SRS(32, int8, std::int8_t, acc32, 1)
MEMTILE_SRS(32, uint8, std::uint8_t, acc32, 0)
MEMTILE_SRS(16, int16, std::int16_t, acc32, 1)
MEMTILE_SRS(16, uint16, std::uint16_t, acc32, 0)
MEMTILE_SRS(32, int16, std::int16_t, acc32, 1)
MEMTILE_SRS(32, uint16, std::uint16_t, acc32, 0)
MEMTILE_SRS(16, int16, std::int16_t, acc64, 1)
MEMTILE_SRS(16, uint16, std::uint16_t, acc64, 0)
MEMTILE_SRS(8, int32, std::int32_t, acc64, 1)
MEMTILE_SRS(8, uint32, std::uint32_t, acc64, 0)
MEMTILE_SRS(16, int32, std::int32_t, acc64, 1)
MEMTILE_SRS(16, uint32, std::uint32_t, acc64, 0)
#undef MEMTILE_SRS
#define MEMTILE_TO_BF16(lanes)                                                                      \
    inline v##lanes##bfloat16 to_v##lanes##bfloat16(const v##lanes##accfloat &from) { return srs(from); } \
    inline v##lanes##bfloat16 srs_to_v##lanes##bfloat16(const v##lanes##accfloat &from) { return srs(from); }
MEMTILE_TO_BF16(8)
MEMTILE_TO_BF16(16)
MEMTILE_TO_BF16(32)
MEMTILE_TO_BF16(64)
#undef MEMTILE_TO_BF16

namespace memtile {

// Elements that upshifts take, with the tag that sups and lups make of them.
template <typename T>
concept short_element = sizeof(T) <= 2 && std::is_integral_v<T>;
template <typename T>
inline constexpr int signed_by_type = std::is_signed_v<T>;

}  // namespace memtile

template <memtile::short_element T, unsigned N>
inline aie::accum<acc32, N> sups(const aie::vector<T, N> &from, int shift, int sign = memtile::signed_by_type<T>) {
    return memtile::ups_to<acc32>(from, shift, sign);
}
template <typename T, unsigned N>
    requires(std::is_integral_v<T> && sizeof(T) >= 2)
inline aie::accum<acc64, N> lups(const aie::vector<T, N> &from, int shift, int sign = memtile::signed_by_type<T>) {
    return memtile::ups_to<acc64>(from, shift, sign);
}
template <unsigned N>
inline aie::accum<accfloat, N> ups(const aie::vector<bfloat16, N> &from) {
    return memtile::ups_to<accfloat>(from, 0, 1);
}
#define MEMTILE_UPS(lanes, tag)                                                                                 \
    template <typename T>                                                                                       \
        requires(std::is_integral_v<T>)                                                                         \
    inline v##lanes##tag ups_to_v##lanes##tag(const aie::vector<T, lanes> &from, int shift,                     \
                                              int sign = memtile::signed_by_type<T>) {                          \
        return memtile::ups_to<tag>(from, shift, sign);                                                         \
    }
MEMTILE_UPS(16, acc32)
MEMTILE_UPS(32, acc32)
MEMTILE_UPS(64, acc32)
MEMTILE_UPS(8, acc64)
MEMTILE_UPS(16, acc64)
MEMTILE_UPS(32, acc64)
#undef MEMTILE_UPS
inline v8accfloat ups_to_v8accfloat(const v8bfloat16 &from) { return ups(from); }
inline v16accfloat ups_to_v16accfloat(const v16bfloat16 &from) { return ups(from); }
inline v32accfloat ups_to_v32accfloat(const v32bfloat16 &from) { return ups(from); }
inline v64accfloat ups_to_v64accfloat(const v64bfloat16 &from) { return ups(from); }

// bfloat16 to 32-bit integers with `shift` bits after the point: always down, saturated, 0 for what is no number
// (the instruction is VFLOOR; it does not look at the rounding mode).
namespace memtile {

inline std::int32_t floor_to_int(float value, int shift) {
    const double scaled = std::floor(std::ldexp(static_cast<double>(value), shift));
    if (std::isnan(scaled)) return 0;
    if (scaled <= std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::min();
    if (scaled >= std::numeric_limits<std::int32_t>::max()) return std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(scaled);
}

}  // namespace memtile

template <unsigned N>
inline aie::vector<std::int32_t, N> bfloat16_to_int(const aie::vector<bfloat16, N> &from, int shift = 0) {
    memtile::count(memtile::Unit::convert);
    aie::vector<std::int32_t, N> to;
    for (unsigned at = 0; at < N; ++at) to.set(memtile::floor_to_int(from.get(at), shift), at);
    return to;
}
inline std::int32_t bfloat16_to_int(bfloat16 from, int shift = 0) { return memtile::floor_to_int(from, shift); }
