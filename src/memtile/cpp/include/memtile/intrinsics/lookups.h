// load_lut_2x_*: sixteen lookups at once in tables that lie in memory four times.
//
// A table of 16-byte pieces is stored with each piece twice in a row (UG1603, Lookup Tables), once for each bank, and
// `first` and `second` are two such copies. An offset counts bytes of the doubled table, so that entry i of B bytes
// has offset 2 B i; below 0 it goes back from pointers into the middle of a table. A lookup reads the entry and fills
// its 64 bits with zeros above; lanes 0 to 7 are in `low`, 8 to 15 in `high`. Widths of entries and which of the four
// copies a lane reads are DEV-INTRINSIC-2: tables that lie as documented do not show the copy.
#pragma once

#include <cstdint>
#include <cstring>

#include "aie_api/aie.hpp"
#include "memtile/core.h"
#include "memtile/intrinsics/elements.h"

namespace memtile {

inline constexpr unsigned lookup_lanes = 16, lookup_bytes = 8, bank_bytes = 16;

// The entry of `width` bytes at `offset`, as lane `lane` reads it.
inline void look_up(const void *first, const void *second, std::int32_t offset, unsigned lane, unsigned width,
                    unsigned char *entry) {
    const auto bank = static_cast<std::int32_t>(bank_bytes), place = offset >> 1, piece = place >> 4;
    const unsigned within = static_cast<unsigned>(place) % bank_bytes / width * width;
    const auto *table = static_cast<const unsigned char *>(lane / 2 % 2 ? second : first);
    const unsigned char *from = table + (2 * piece + static_cast<std::int32_t>(lane % 2)) * bank + within;
    before_load(from, width, 1);
    std::memcpy(entry, from, width);
}

template <typename V>
inline void look_up_all(const void *first, const void *second, const std::int32_t *offsets, unsigned width, V &low,
                        V *high) {
    count(Unit::scalar);
    const unsigned lanes = high ? lookup_lanes : lookup_lanes / 2;
    unsigned char found[lookup_lanes * lookup_bytes] = {};
    for (unsigned lane = 0; lane < lanes; ++lane)
        look_up(first, second, offsets[lane], lane, width, found + lane * lookup_bytes);
    std::memcpy(static_cast<void *>(&low), found, sizeof low);
    if (high) std::memcpy(static_cast<void *>(high), found + sizeof low, sizeof low);
}

}  // namespace memtile

#define MEMTILE_LOOKUP(name, result, width)                                                                      \
    template <typename T>                                                                                        \
        requires(sizeof(T) == 4)                                                                                 \
    inline void load_lut_2x_##name(const void *first, const void *second, const aie::vector<T, 16> &offsets,     \
                                   result &low, result &high) {                                                  \
        const auto numbers = memtile::bits_of<v16int32>(offsets);                                                \
        memtile::look_up_all(first, second, numbers.slots, width, low, &high);                                   \
    }                                                                                                            \
    template <typename T>                                                                                        \
        requires(sizeof(T) == 4)                                                                                 \
    inline void load_lut_##name(const void *first, const void *second, const aie::vector<T, 16> &offsets,        \
                                result &low) {                                                                   \
        const auto numbers = memtile::bits_of<v16int32>(offsets);                                                \
        memtile::look_up_all<result>(first, second, numbers.slots, width, low, nullptr);                         \
    }
MEMTILE_LOOKUP(int8, v64int8, 2)
MEMTILE_LOOKUP(int16, v32int16, 4)
MEMTILE_LOOKUP(int32, v16int32, 8)
MEMTILE_LOOKUP(float, v32bfloat16, 8)
#undef MEMTILE_LOOKUP
