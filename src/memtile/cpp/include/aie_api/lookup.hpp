// Lookup tables (UG1529, Lookup Tables). In memory each 128 bits of a table stand twice, for parallel loads.
#pragma once

#include "arithmetic.hpp"

namespace aie {

/// What becomes of an index outside the table: the nearest entry, or the lowest bits.
enum class lut_oor_policy { saturate, truncate };

template <unsigned ParallelAccesses, typename OffsetType, typename SlopeType = OffsetType>
struct lut {
    static_assert(ParallelAccesses == 1 || ParallelAccesses == 2 || ParallelAccesses == 4,
                  "aie::lut: 1, 2 or 4 parallel accesses");
    using offset_type = OffsetType;
    using slope_type = SlopeType;
    static constexpr unsigned accesses = ParallelAccesses;

    lut(unsigned elements, const void* ab, const void* cd) : lut(elements, ab) { second = cd; }
    lut(unsigned elements, const void* ab) : number(elements), first(ab), second(ab) {}

    /// Bytes at `offset` of the table as if it stood once.
    template <typename T>
    T at(unsigned offset) const {
        constexpr unsigned line = 128 / 8;
        const unsigned place = accesses == 1 ? offset : offset / line * 2 * line + offset % line;
        T found;
        std::memcpy(&found, static_cast<const uint8_t*>(first) + place, sizeof found);
        return found;
    }

    unsigned number;
    const void* first;
    const void* second;
};

namespace detail {
constexpr unsigned held_index(int64_t index, unsigned number, lut_oor_policy policy) {
    if (policy == lut_oor_policy::truncate) return static_cast<unsigned>(index & (int64_t(std::bit_ceil(number)) - 1));
    return static_cast<unsigned>(std::clamp<int64_t>(index, 0, int64_t(number) - 1));
}
}  // namespace detail

/// The entry of each value of a vector: of (value >> step_bits) + bias.
template <typename T, typename Table, lut_oor_policy Policy = lut_oor_policy::saturate>
struct parallel_lookup {
    parallel_lookup(const Table& of, unsigned step = 0, int offset = 0) : table(of), step_bits(step), bias(offset) {}

    template <unsigned N>
    vector<typename Table::offset_type, N> fetch(const vector<T, N>& values) const {
        using Entry = typename Table::offset_type;
        memtile::count(memtile::Unit::load, (N + Table::accesses - 1) / Table::accesses);
        return detail::each<Entry, N>([&](unsigned at) {
            const int64_t index = (static_cast<int64_t>(values.get(at)) >> step_bits) + bias;
            return table.template at<Entry>(sizeof(Entry) * detail::held_index(index, table.number, Policy));
        });
    }

    const Table& table;
    unsigned step_bits;
    int bias;
};

/// Of integers slope * (low step_bits bits of a value) + (offset << shift_offset), with the pair of slope and offset of the
/// entry (value >> step_bits) + bias, held to the table. Of bfloat16 slope * value + offset, with the entry
/// floor(value / 2^step_bits) + bias; step_bits may be below 0. Pairs stand slope first (UG1603, Linear Approximation).
template <typename T, typename Table>
struct linear_approx {
    using Slope = typename Table::slope_type;
    using Offset = typename Table::offset_type;
    static constexpr bool of_floats = std::is_same_v<T, bfloat16>;
    static_assert(std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t> ||
                      (of_floats && std::is_same_v<Offset, float> && std::is_same_v<Slope, bfloat16>),
                  "aie::linear_approx: values are int8, int16, or bfloat16 with offsets in float and slopes in bfloat16 "
                  "(UG1529)");
    using tag = std::conditional_t<of_floats, accfloat, std::conditional_t<sizeof(T) == 1, acc32, acc64>>;

    linear_approx(const Table& of, unsigned step, int offset = 0, int shift = 0)
        : table(of), step_bits(static_cast<int>(step)), bias(offset), shift_offset(shift) {}

    template <unsigned N>
    accum<tag, N> compute(const vector<T, N>& values) const {
        memtile::count(memtile::Unit::load, (N + Table::accesses - 1) / Table::accesses);
        accum<tag, N> made;
        for (unsigned at = 0; at < N; ++at) {
            if constexpr (of_floats)
                made.slots[at] = of_float(values.get(at));
            else
                made.slots[at] = static_cast<typename accum<tag, N>::slot>(of_integer(values.get(at)));
        }
        return made;
    }

    const Table& table;
    int step_bits;
    int bias;
    int shift_offset;

  private:
    int64_t of_integer(int64_t value) const {
        const unsigned index = detail::held_index((value >> step_bits) + bias, table.number, lut_oor_policy::saturate);
        const unsigned place = index * static_cast<unsigned>(sizeof(Slope) + sizeof(Offset));
        const int64_t slope = table.template at<Slope>(place);
        const int64_t offset = table.template at<Offset>(place + static_cast<unsigned>(sizeof(Slope)));
        const int64_t rest = value & ((int64_t(1) << step_bits) - 1);
        return slope * rest + (offset << shift_offset);
    }
    /// A slope takes as much memory as an offset: it is the upper half of its 32 bits (DEV-AIEAPI-8).
    float of_float(float value) const {
        const double wanted = std::floor(std::ldexp(static_cast<double>(value), -step_bits)) + bias;
        const double last = table.number - 1;
        const unsigned index = wanted > 0 ? static_cast<unsigned>(std::min(wanted, last)) : 0;
        const unsigned place = index * 2 * sizeof(float);
        const float slope = table.template at<bfloat16>(place + sizeof(float) - sizeof(bfloat16));
        const float offset = table.template at<float>(place + sizeof(float));
        return static_cast<float>(static_cast<double>(slope) * static_cast<double>(value) + static_cast<double>(offset));
    }
};

}  // namespace aie
