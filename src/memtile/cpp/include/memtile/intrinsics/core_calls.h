// Calls into the simulated core: streams, cascade, locks, instruction events, cycles and control registers.
//
// A call that waits does so in simulated time. Sources: UG1583, Streams and Mode Settings. AIE-ML's core has one
// stream port in each direction, so calls have no port number.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "aie_api/aie.hpp"
#include "memtile/core.h"

// Streams: words of 32 bits. `tlast` of a write ends the packet. What does not succeed in its cycle gives 0, without TLAST
// (DEV-INTRINSIC-6).
#define MEMTILE_STREAM_READ(type, get, get_nb)                                                       \
    inline type get() { return std::bit_cast<type>(memtile::get_ss(0)); }                            \
    inline type get(bool &tlast) { return std::bit_cast<type>(memtile::get_ss(0, &tlast)); }         \
    inline type get_nb(bool &success, bool &tlast) {                                                 \
        std::uint32_t word = 0;                                                                      \
        tlast = false;                                                                               \
        success = memtile::try_get_ss(0, word, &tlast);                                              \
        return std::bit_cast<type>(word);                                                            \
    }                                                                                                \
    inline type get_nb(bool &success) {                                                              \
        bool tlast = false;                                                                          \
        return get_nb(success, tlast);                                                               \
    }
MEMTILE_STREAM_READ(int, get_ss, get_ss_nb)
MEMTILE_STREAM_READ(int, get_ss_int, get_ss_nb_int)
MEMTILE_STREAM_READ(unsigned, get_ss_uint, get_ss_nb_uint)
MEMTILE_STREAM_READ(float, getf_ss, getf_ss_nb)
MEMTILE_STREAM_READ(float, get_ss_float, get_ss_nb_float)
#undef MEMTILE_STREAM_READ

namespace memtile {

template <typename T>
concept stream_word = sizeof(T) == 4 && std::is_trivially_copyable_v<T>;

}  // namespace memtile

template <memtile::stream_word T>
inline void put_ms(T value, int tlast = 0) {
    memtile::put_ms(0, std::bit_cast<std::uint32_t>(value), tlast != 0);
}
template <memtile::stream_word T>
inline void put_ms_nb(T value, int tlast, bool &success) {
    success = memtile::try_put_ms(0, std::bit_cast<std::uint32_t>(value), tlast != 0);
}
template <memtile::stream_word T>
inline void put_ms_nb(T value, bool &success) {
    put_ms_nb(value, 0, success);
}

// Cascade: 512 bits a word; a value of 1,024 or 2,048 bits goes as two or four, the lowest first (DEV-INTRINSIC-3). With
// `enabled` 0 nothing moves.
namespace memtile {

inline constexpr unsigned cascade_words = 16;

template <typename V>
constexpr void check_cascade() {
    static_assert(sizeof(V) == 64 || sizeof(V) == 128 || sizeof(V) == 256,
                  "a cascade takes vectors and accumulators of 512, 1,024 or 2,048 bits");
}
template <typename V>
inline void put_cascade(const V &value) {
    check_cascade<V>();
    std::uint32_t words[sizeof(V) / 4];
    std::memcpy(words, &value, sizeof value);
    for (unsigned at = 0; at < sizeof(V) / 4; at += cascade_words) put_mcd(words + at, cascade_words);
}
template <typename V>
inline V get_cascade() {
    check_cascade<V>();
    std::uint32_t words[sizeof(V) / 4];
    for (unsigned at = 0; at < sizeof(V) / 4; at += cascade_words) get_scd(words + at, cascade_words);
    V value;
    std::memcpy(static_cast<void *>(&value), words, sizeof value);
    return value;
}

}  // namespace memtile

template <typename T, unsigned N>
inline void put_mcd(const aie::vector<T, N> &value, int enabled = 1) {
    if (enabled) memtile::put_cascade(value);
}
template <typename Tag, unsigned N>
inline void put_mcd(const aie::accum<Tag, N> &value, int enabled = 1) {
    if (enabled) memtile::put_cascade(value);
}
#define MEMTILE_CASCADE_READ(type) \
    inline type get_scd_##type(int enabled = 1) { return enabled ? memtile::get_cascade<type>() : type{}; }
MEMTILE_CASCADE_READ(v64int8)
MEMTILE_CASCADE_READ(v64uint8)
MEMTILE_CASCADE_READ(v32int16)
MEMTILE_CASCADE_READ(v32uint16)
MEMTILE_CASCADE_READ(v16int32)
MEMTILE_CASCADE_READ(v16uint32)
MEMTILE_CASCADE_READ(v32int32)
MEMTILE_CASCADE_READ(v32uint32)
MEMTILE_CASCADE_READ(v64int16)
MEMTILE_CASCADE_READ(v128int8)
MEMTILE_CASCADE_READ(v32bfloat16)
MEMTILE_CASCADE_READ(v16float)
MEMTILE_CASCADE_READ(v16cint16)
MEMTILE_CASCADE_READ(v8cint32)
MEMTILE_CASCADE_READ(v16acc32)
MEMTILE_CASCADE_READ(v32acc32)
MEMTILE_CASCADE_READ(v8acc64)
MEMTILE_CASCADE_READ(v16acc64)
MEMTILE_CASCADE_READ(v16accfloat)
MEMTILE_CASCADE_READ(v32accfloat)
#undef MEMTILE_CASCADE_READ

// Locks, by the number that the core's instructions use.
inline void acquire_equal(unsigned lock, int value) { memtile::acquire_equal(lock, value); }
inline void acquire_greater_equal(unsigned lock, int value) { memtile::acquire_greater_equal(lock, value); }
inline void acquire(unsigned lock, int value) { memtile::acquire(lock, value); }
inline void release(unsigned lock, int value) { memtile::release(lock, value); }

// Instruction events and time.
inline void event0() { memtile::event(0); }
inline void event1() { memtile::event(1); }
inline void event2() { memtile::event(2); }
inline void event3() { memtile::event(3); }
inline unsigned long long get_cycles() { return memtile::get_cycles(); }
inline unsigned get_coreid() { return memtile::column() << 16 | memtile::row(); }

// The tile's registers behind the processor bus.
inline unsigned read_tm(unsigned) {
    memtile::fail("read_tm reads a register of the tile, which C++ kernels on the host cannot: use a Python kernel");
}
inline void write_tm(unsigned, unsigned) {
    memtile::fail("write_tm writes a register of the tile, which C++ kernels on the host cannot: use a Python kernel");
}

// Control registers (UG1583, Mode Settings).
#define rnd_floor 0
#define rnd_ceil 1
#define rnd_sym_floor 2
#define rnd_sym_ceil 3
#define rnd_neg_inf 8
#define rnd_pos_inf 9
#define rnd_sym_zero 10
#define rnd_sym_inf 11
#define rnd_conv_even 12
#define rnd_conv_odd 13

inline void set_rnd(unsigned mode) { aie::set_rounding(static_cast<aie::rounding_mode>(mode)); }
inline unsigned get_rnd() { return static_cast<unsigned>(aie::get_rounding()); }
inline void clr_rnd() { set_rnd(rnd_floor); }
inline void set_satmode(unsigned mode) { aie::set_saturation(static_cast<aie::saturation_mode>(mode)); }
inline unsigned get_satmode() { return static_cast<unsigned>(aie::get_saturation()); }
inline void set_sat() { aie::set_saturation(aie::saturation_mode::saturate); }
inline void set_symsat() { aie::set_saturation(aie::saturation_mode::symmetric); }
inline void clr_sat() { aie::set_saturation(aie::saturation_mode::none); }
inline unsigned get_sat() { return get_satmode() == 1; }
inline unsigned get_symsat() { return get_satmode() == 3; }
