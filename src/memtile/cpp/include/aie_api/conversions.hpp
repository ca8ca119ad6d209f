// Between accumulators, vectors and types: shift, round, saturate (UG1529, Basic Types; Vector Conversion).
//
// Lanes of an accumulator are signed. `to_vector` shifts down, rounds by the mode of the core and stores: with
// saturation clipped to the type's range, without it the lowest bits. `from_vector` shifts up and wraps.
#pragma once

#include "block_vector.hpp"
#include "detail/operands.hpp"

namespace aie {

namespace detail {

template <typename Wide>
constexpr Wide shifted_down(Wide value, int shift, rounding_mode mode) {
    using Bits = std::make_unsigned_t<Wide>;
    constexpr int width = 8 * sizeof(Wide);
    if (shift <= 0) return value;
    if (shift >= width) {
        // Everything is cut off: what is left is the sign, the rest lies below half if it is more than one bit down.
        if (shift > width) return rounds_up(mode, value < 0, value < 0, value < 0, false, value != 0) ? Wide((value >> (width - 1)) + 1) : Wide(value >> (width - 1));
        const Wide down = value >> (width - 1);
        const Bits half = Bits(1) << (width - 1);
        const Bits rest = static_cast<Bits>(value);
        return rounds_up(mode, down & 1, value < 0, rest > half, rest == half, rest != 0) ? Wide(down + 1) : down;
    }
    const Wide down = static_cast<Wide>(value >> shift);
    const Bits rest = static_cast<Bits>(value) & ((Bits(1) << shift) - 1);
    const Bits half = Bits(1) << (shift - 1);
    return static_cast<Wide>(down + rounds_up(mode, down & 1, value < 0, rest > half, rest == half, rest != 0));
}

/// The least and the greatest number of an integer of `bits` bits that saturation allows.
constexpr int64_t least(unsigned bits, bool is_signed, saturation_mode mode) {
    if (!is_signed) return 0;
    const int64_t most = static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1);
    return mode == saturation_mode::symmetric ? -most : -most - 1;
}
constexpr int64_t greatest(unsigned bits, bool is_signed) {
    const unsigned digits = is_signed ? bits - 1 : bits;
    return digits >= 63 ? INT64_MAX : static_cast<int64_t>((uint64_t(1) << digits) - 1);
}

/// A whole number in an integer of T's width: clipped, or its lowest bits.
template <typename T>
constexpr T held(int64_t value, bool is_signed, saturation_mode mode) {
    constexpr unsigned bits = type_bits_v<T>;
    if (mode != saturation_mode::none) {
        value = std::max(value, least(bits, is_signed, mode));
        value = std::min(value, greatest(bits, is_signed));
    }
    return static_cast<T>(value);
}

/// Lane -> element. Floats: rounded by the mode of the core, without a shift.
template <typename T, typename Slot>
constexpr T from_lane(const Slot& value, bool is_signed, int shift, rounding_mode rounding, saturation_mode saturation) {
    if constexpr (is_complex_v<T>) {
        using Part = typename T::part_type;
        return {from_lane<Part>(value.real, is_signed, shift, rounding, saturation),
                from_lane<Part>(value.imag, is_signed, shift, rounding, saturation)};
    } else if constexpr (std::is_same_v<T, bfloat16>) {
        static_assert(std::is_same_v<Slot, float>, "aie::accum: bfloat16 comes from an accumulator of floats");
        return bfloat16::rounded(flushed(value), rounding);
    } else if constexpr (std::is_same_v<T, float>) {
        static_assert(sizeof(Slot) == sizeof(float), "aie::accum: float comes from lanes of 32 bits");
        return std::bit_cast<float>(value);  // integer lanes keep the bits of floats: DEV-AIEAPI-4
    } else {
        static_assert(std::is_integral_v<Slot>, "aie::accum: integers come from an accumulator of integers");
        return held<T>(shifted_down(value, shift, rounding), is_signed, saturation);
    }
}

/// Element -> lane.
template <typename Slot, typename T>
constexpr Slot to_lane(const T& value, bool is_signed, int shift) {
    if constexpr (is_complex_v<Slot>) {
        using Part = typename Slot::part_type;
        if constexpr (is_complex_v<T>)
            return {to_lane<Part>(value.real, is_signed, shift), to_lane<Part>(value.imag, is_signed, shift)};
        else
            return {to_lane<Part>(value, is_signed, shift), Part(0)};
    } else if constexpr (std::is_same_v<Slot, float>) {
        static_assert(std::is_same_v<T, float> || std::is_same_v<T, bfloat16>,
                      "aie::accum: an accumulator of floats takes float or bfloat16");
        return static_cast<float>(value);
    } else if constexpr (std::is_same_v<T, float>) {
        static_assert(sizeof(Slot) == sizeof(float), "aie::accum: an accumulator of integers takes integers");
        return std::bit_cast<Slot>(value);  // as bits: DEV-AIEAPI-4
    } else {
        static_assert(!is_floating_v<T>, "aie::accum: an accumulator of integers takes integers");
        int64_t whole = static_cast<int64_t>(value);
        if (!is_signed && type_bits_v<T> < 64) whole &= static_cast<int64_t>((uint64_t(1) << type_bits_v<T>) - 1);
        return static_cast<Slot>(shift >= 64 ? 0 : static_cast<uint64_t>(whole) << shift);
    }
}

}  // namespace detail

template <typename Tag, unsigned N>
template <typename T>
constexpr vector<T, N> accum<Tag, N>::to_vector_sign(bool is_signed, int shift) const {
    memtile::count(memtile::Unit::convert, detail::instructions(N * detail::type_bits_v<T>));
    const rounding_mode rounding = get_rounding();
    const saturation_mode saturation = get_saturation();
    // Most kernels keep the modes of reset: these loops are the plain ones.
    if constexpr (std::is_integral_v<slot> && std::is_integral_v<T>)
        if (rounding == rounding_mode::floor && saturation == saturation_mode::none && shift >= 0 &&
            shift < static_cast<int>(8 * sizeof(slot)))
            return detail::each<T, N>([&](unsigned at) { return static_cast<T>(slots[at] >> shift); });
    return detail::each<T, N>(
        [&](unsigned at) { return detail::from_lane<T>(slots[at], is_signed, shift, rounding, saturation); });
}
template <typename Tag, unsigned N>
template <typename T>
constexpr auto accum<Tag, N>::to_vector(int shift) const {
    if constexpr (detail::is_block_v<T>)
        return block_vector<T, N>::of(*this);
    else
        return to_vector_sign<T>(detail::is_signed_v<T>, shift);
}
template <typename Tag, unsigned N>
template <typename T>
constexpr void accum<Tag, N>::from_vector_sign(const vector<T, N>& from, bool is_signed, int shift) {
    memtile::count(memtile::Unit::convert, detail::instructions(N * detail::type_bits_v<T>));
    for (unsigned at = 0; at < N; ++at) slots[at] = detail::to_lane<slot>(from.get(at), is_signed, shift);
}
template <typename Tag, unsigned N>
template <typename T>
constexpr void accum<Tag, N>::from_vector(const vector<T, N>& from, int shift) {
    from_vector_sign(from, detail::is_signed_v<T>, shift);
}

template <typename T, detail::Accum A>
constexpr auto to_vector(const A& a, int shift = 0) {
    return a.template to_vector<T>(shift);
}
template <typename Tag, typename T, unsigned N>
constexpr accum<Tag, N> from_vector(const vector<T, N>& from, int shift = 0) {
    return accum<Tag, N>(from, shift);
}

namespace detail {
template <typename T>
struct sizes_of;
#define MEMTILE_SIZES(type, below, above) \
    template <>                           \
    struct sizes_of<type> {               \
        using narrower = below;           \
        using wider = above;              \
    };
MEMTILE_SIZES(int4, void, int8_t)
MEMTILE_SIZES(uint4, void, uint8_t)
MEMTILE_SIZES(int8_t, int4, int16_t)
MEMTILE_SIZES(uint8_t, uint4, uint16_t)
MEMTILE_SIZES(int16_t, int8_t, int32_t)
MEMTILE_SIZES(uint16_t, uint8_t, uint32_t)
MEMTILE_SIZES(int32_t, int16_t, int64_t)
MEMTILE_SIZES(uint32_t, uint16_t, uint64_t)
#undef MEMTILE_SIZES
}  // namespace detail

/// To the next narrower integer: saturated as the core does, else the lowest bits.
template <typename T, unsigned N>
template <typename U>
auto vector<T, N>::pack_sign(bool is_signed) const {
    memtile::count(memtile::Unit::convert, detail::instructions(bits()));
    const saturation_mode mode = get_saturation();
    return detail::each<U, N>(
        [&](unsigned at) { return detail::held<U>(static_cast<int64_t>(get(at)), is_signed, mode); });
}
template <typename T, unsigned N>
template <typename U>
auto vector<T, N>::pack() const {
    using Narrow = std::conditional_t<std::is_void_v<U>, typename detail::sizes_of<T>::narrower, U>;
    return pack_sign<Narrow>(detail::is_signed_v<Narrow>);
}
/// To the next wider integer, sign or zeros above.
template <typename T, unsigned N>
template <typename U>
auto vector<T, N>::unpack_sign(bool is_signed) const {
    memtile::count(memtile::Unit::convert, detail::instructions(2 * bits()));
    return detail::each<U, N>([&](unsigned at) {
        const int64_t whole = static_cast<int64_t>(get(at));
        return static_cast<U>(is_signed ? whole : whole & ((int64_t(1) << detail::type_bits_v<T>)-1));
    });
}
template <typename T, unsigned N>
template <typename U>
auto vector<T, N>::unpack() const {
    using Wide = std::conditional_t<std::is_void_v<U>, typename detail::sizes_of<T>::wider, U>;
    return unpack_sign<Wide>(detail::is_signed_v<T>);
}
template <detail::Vector V>
auto pack(const V& v) {
    return v.pack();
}
template <typename U, detail::Vector V>
auto pack(const V& v) {
    return v.template pack<U>();
}
template <detail::Vector V>
auto unpack(const V& v) {
    return v.unpack();
}
template <typename U, detail::Vector V>
auto unpack(const V& v) {
    return v.template unpack<U>();
}

namespace detail {

/// value * 2**shift as an integer, saturated. Halves round by `mode`; NaN is 0 (DEV-KERNEL-8).
template <typename T>
constexpr T fixed(float value, int shift, rounding_mode mode) {
    if (value != value) return T(0);
    constexpr int64_t low = least(type_bits_v<T>, is_signed_v<T>, saturation_mode::saturate);
    constexpr int64_t high = greatest(type_bits_v<T>, is_signed_v<T>);
    const double scaled = std::ldexp(static_cast<double>(value), shift);
    if (scaled <= static_cast<double>(low)) return static_cast<T>(low);
    if (scaled >= static_cast<double>(high)) return static_cast<T>(high);
    const double down = std::floor(scaled);
    const double rest = scaled - down;
    const int64_t whole = static_cast<int64_t>(down);
    return static_cast<T>(whole + rounds_up(mode, whole & 1, scaled < 0, rest > 0.5, rest == 0.5, rest != 0));
}

}  // namespace detail

/// Floats to integers of 2**-shift, rounded by the mode of the core from bfloat16 down (UG1529 2025.2,
/// Floating-point Conversion); out of range the nearest, NaN 0.
template <typename R = int32_t, typename T, unsigned N>
    requires detail::is_floating_v<T>
vector<R, N> to_fixed(const vector<T, N>& v, int shift = 0) {
    constexpr bool down = std::is_same_v<T, bfloat16> && detail::type_bits_v<R> >= 16;
    const rounding_mode mode = down ? rounding_mode::floor : rounding_mode::conv_even;
    memtile::count(memtile::Unit::convert, detail::instructions(v.bits()));
    return detail::each<R, N>([&](unsigned at) { return detail::fixed<R>(v.get(at), shift, mode); });
}
template <typename R, unsigned N, detail::Vector V>
    requires(detail::is_floating_v<detail::element_t<V>> && V::size() == N)
vector<R, N> to_fixed(const V& v, int shift = 0) {
    return to_fixed<R>(v, shift);
}
template <typename R = int32_t, typename T>
    requires(std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)
R to_fixed(T value, int shift = 0) {
    return to_fixed<R>(vector<T, 2>(value, value), shift).get(0);
}
/// Integers of 2**-shift to floats: to float rounded to even, on to bfloat16 by the mode of the core.
template <typename R = float, typename T, unsigned N>
    requires(!detail::is_floating_v<T>)
vector<R, N> to_float(const vector<T, N>& v, int shift = 0) {
    memtile::count(memtile::Unit::convert, detail::instructions(N * detail::type_bits_v<R>));
    return detail::each<R, N>([&](unsigned at) {
        const double exact = std::ldexp(static_cast<double>(static_cast<int64_t>(v.get(at))), -shift);
        return detail::narrowed<R>(static_cast<float>(exact));
    });
}
template <typename R, unsigned N, detail::Vector V>
    requires(!detail::is_floating_v<detail::element_t<V>> && V::size() == N)
vector<R, N> to_float(const V& v, int shift = 0) {
    return to_float<R>(v, shift);
}
template <typename R = float, typename T>
    requires std::is_integral_v<T>
R to_float(T value, int shift = 0) {
    return to_float<R>(vector<T, 2>(value, value), shift).get(0);
}

}  // namespace aie
