// The modes of a core: how it rounds and saturates. State of the core, kept from one call to the next.
//
// Source: UG1529, Configuration; after reset `floor` and no saturation (UG1603, Rounding and Saturation Modes).
#pragma once

#include <cstdint>

#include "memtile/core.h"

namespace aie {

/// Values are those of AIE-ML's control register (UG1583, Mode Settings, `rnd_floor` to `rnd_conv_odd`).
enum class rounding_mode : unsigned {
    floor = 0,
    ceil = 1,
    symmetric_floor = 2,
    symmetric_ceil = 3,
    negative_inf = 8,
    positive_inf = 9,
    symmetric_zero = 10,
    symmetric_inf = 11,
    conv_even = 12,
    conv_odd = 13,
};

enum class saturation_mode : unsigned {
    none = 0,
    saturate = 1,
    truncate = 1,  // the deprecated name of `saturate`
    symmetric = 3,
};

inline void set_rounding(rounding_mode mode) { memtile::set_mode(memtile::Mode::rounding, static_cast<uint32_t>(mode)); }
inline rounding_mode get_rounding() { return static_cast<rounding_mode>(memtile::rounding()); }
inline rounding_mode swap_rounding(rounding_mode mode) {
    const rounding_mode before = get_rounding();
    set_rounding(mode);
    return before;
}
inline void set_saturation(saturation_mode mode) {
    memtile::set_mode(memtile::Mode::saturation, static_cast<uint32_t>(mode));
}
inline saturation_mode get_saturation() { return static_cast<saturation_mode>(memtile::saturation()); }
inline saturation_mode swap_saturation(saturation_mode mode) {
    const saturation_mode before = get_saturation();
    set_saturation(mode);
    return before;
}

}  // namespace aie
