// The tile a kernel runs on: its place, its clock, its modes (UG1529, Configuration).
#pragma once

#include "detail/core_modes.hpp"

namespace aie {

struct tile_id {
    uint32_t col;
    uint32_t row;
};

/// The tile of a kernel, or one that a graph names (UG1603, Location Constraints).
class tile {
  public:
    constexpr tile() = default;
    constexpr tile(int column, int row) : named_column(column), named_row(row) {}
    int named_column = 0;
    int named_row = 0;

    static tile current() { return {}; }
    /// Simulated cycles of the array's clock.
    uint64_t cycles() const { return memtile::get_cycles(); }
    /// Within the partition of the design; the array of a simulation is one partition.
    tile_id id() const { return {memtile::column(), memtile::row()}; }
    tile_id global_id() const { return id(); }

    void set_rounding(rounding_mode mode) const { aie::set_rounding(mode); }
    rounding_mode get_rounding() const { return aie::get_rounding(); }
    void set_saturation(saturation_mode mode) const { aie::set_saturation(mode); }
    saturation_mode get_saturation() const { return aie::get_saturation(); }
};

}  // namespace aie
