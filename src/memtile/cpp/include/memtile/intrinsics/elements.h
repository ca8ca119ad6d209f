// Parts of vectors and accumulators: single elements, halves and quarters, broadcasts, shifts of lanes, bitwise
// operations.
//
// An index counts in elements for one element, in parts of the given width for a part (UG1583, Vector Operations).
// Lanes that an intrinsic leaves undefined are 0 here (DEV-INTRINSIC-4).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "aie_api/aie.hpp"
#include "memtile/core.h"

namespace memtile {

// Ends the run: the hardware takes an index modulo the number of lanes or reads another register, by the intrinsic.
inline unsigned lane_index(long long index, unsigned lanes) {
    if (index < 0 || index >= lanes) fail("an intrinsic got the index of a lane that its vector does not have");
    return static_cast<unsigned>(index);
}

template <typename To, typename From>
inline To bits_of(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "a cast between vectors keeps all bits");
    To to;
    std::memcpy(static_cast<void *>(&to), &from, sizeof to);
    return to;
}

}  // namespace memtile

// Single elements. `sign` is for compilers that widen the element; here its type says so.
template <typename T, unsigned N>
inline T ext_elem(const aie::vector<T, N> &from, long long index, int = 1) {
    memtile::count(memtile::Unit::shuffle);
    return from.get(memtile::lane_index(index, N));
}
template <typename T, unsigned N>
inline T extract_elem(const aie::vector<T, N> &from, long long index, int = 1) {
    return ext_elem(from, index);
}
template <typename T, unsigned N>
inline aie::vector<T, N> upd_elem(aie::vector<T, N> to, long long index, std::type_identity_t<T> value) {
    memtile::count(memtile::Unit::shuffle);
    to.set(value, memtile::lane_index(index, N));
    return to;
}
template <typename T, unsigned N>
inline aie::vector<T, N> insert_elem(const aie::vector<T, N> &to, long long index, std::type_identity_t<T> value) {
    return upd_elem(to, index, value);
}
// A new element at one end; the others move by one. To the left, with the new one in the last place, are bytes of the pair
// (vector, element) from 1 element on in LLVM-AIE's header; to the right is into place 0.
template <typename T, unsigned N>
inline aie::vector<T, N> shiftl_elem(const aie::vector<T, N> &to, std::type_identity_t<T> value) {
    memtile::count(memtile::Unit::shuffle);
    return aie::detail::each<T, N>([&](unsigned at) { return at + 1 < N ? to.get(at + 1) : value; });
}
template <typename T, unsigned N>
inline aie::vector<T, N> shiftr_elem(aie::vector<T, N> to, std::type_identity_t<T> value) {
    memtile::count(memtile::Unit::shuffle);
    to.push(value);
    return to;
}

// Parts.
template <typename T, unsigned N, unsigned M>
inline aie::vector<T, N> insert(aie::vector<T, N> to, int part, const aie::vector<T, M> &value) {
    memtile::count(memtile::Unit::shuffle);
    return to.insert(memtile::lane_index(part, N / M), value);
}
template <typename Tag, unsigned N, unsigned M>
inline aie::accum<Tag, N> insert(aie::accum<Tag, N> to, int part, const aie::accum<Tag, M> &value) {
    memtile::count(memtile::Unit::shuffle);
    return to.insert(memtile::lane_index(part, N / M), value);
}
namespace memtile {

template <typename Part, typename V>
inline Part part_of(const V &from, int part) {
    count(Unit::shuffle);
    return from.template extract<Part::size()>(lane_index(part, V::size() / Part::size()));
}
template <typename Whole, typename Part>
inline Whole with_part(int part, const Part &value) {
    count(Unit::shuffle);
    Whole whole;
    whole.insert(lane_index(part, Whole::size() / Part::size()), value);
    return whole;
}

}  // namespace memtile

// extract_<type>(v, part), set_<type>(part, value), undef_<type>() for a type.
#define MEMTILE_PARTS(type)                                                                              \
    template <typename V>                                                                                \
    inline type extract_##type(const V &from, int part) {                                                \
        return memtile::part_of<type>(from, part);                                                       \
    }                                                                                                    \
    template <typename Part>                                                                             \
    inline type set_##type(int part, const Part &value) {                                                \
        return memtile::with_part<type>(part, value);                                                    \
    }                                                                                                    \
    inline type undef_##type() { return {}; }
// ... and broadcasts of an element, of zeros and ones.
#define MEMTILE_VECTOR(type, lanes)                                                                      \
    MEMTILE_PARTS(v##lanes##type)                                                                        \
    inline v##lanes##type broadcast_to_v##lanes##type(v##lanes##type::value_type value) {                \
        return aie::broadcast<v##lanes##type::value_type, lanes>(value);                                 \
    }                                                                                                    \
    template <typename T, unsigned M>                                                                    \
        requires(M < lanes && std::is_same_v<T, v##lanes##type::value_type>)                             \
    inline v##lanes##type broadcast_to_v##lanes##type(const aie::vector<T, M> &part) {                   \
        memtile::count(memtile::Unit::shuffle);                                                          \
        return part.template grow_replicate<lanes>();                                                    \
    }                                                                                                    \
    inline v##lanes##type broadcast_zero_to_v##lanes##type() { return {}; }                              \
    inline v##lanes##type broadcast_one_to_v##lanes##type() {                                            \
        return broadcast_to_v##lanes##type(v##lanes##type::value_type(1));                               \
    }
#define MEMTILE_VECTORS(type, a, b, c, d) \
    MEMTILE_VECTOR(type, a) MEMTILE_VECTOR(type, b) MEMTILE_VECTOR(type, c) MEMTILE_VECTOR(type, d)
MEMTILE_VECTORS(int8, 16, 32, 64, 128)
MEMTILE_VECTORS(uint8, 16, 32, 64, 128)
MEMTILE_VECTORS(int16, 8, 16, 32, 64)
MEMTILE_VECTORS(uint16, 8, 16, 32, 64)
MEMTILE_VECTORS(bfloat16, 8, 16, 32, 64)
MEMTILE_VECTORS(int32, 4, 8, 16, 32)
MEMTILE_VECTORS(uint32, 4, 8, 16, 32)
MEMTILE_VECTORS(float, 4, 8, 16, 32)
MEMTILE_VECTOR(int16, 4)
MEMTILE_VECTOR(bfloat16, 4)
MEMTILE_VECTOR(float, 64)
MEMTILE_PARTS(v8cint16)
MEMTILE_PARTS(v16cint16)
MEMTILE_PARTS(v8cint32)
#define MEMTILE_ACCUMS(tag, a, b, c, d) \
    MEMTILE_PARTS(v##a##tag) MEMTILE_PARTS(v##b##tag) MEMTILE_PARTS(v##c##tag) MEMTILE_PARTS(v##d##tag)
MEMTILE_ACCUMS(acc32, 8, 16, 32, 64)
MEMTILE_ACCUMS(acc64, 4, 8, 16, 32)
MEMTILE_ACCUMS(accfloat, 8, 16, 32, 64)
#undef MEMTILE_ACCUMS
#undef MEMTILE_VECTORS
#undef MEMTILE_VECTOR
#undef MEMTILE_PARTS

#define MEMTILE_ACC_BROADCAST(type, scalar)                        \
    inline type broadcast_to_##type(scalar value) {                \
        memtile::count(memtile::Unit::shuffle);                    \
        type to;                                                   \
        for (auto &slot : to.slots) slot = value;                  \
        return to;                                                 \
    }                                                              \
    inline type broadcast_zero_to_##type() { return {}; }
MEMTILE_ACC_BROADCAST(v8accfloat, float)
MEMTILE_ACC_BROADCAST(v16accfloat, float)
MEMTILE_ACC_BROADCAST(v32accfloat, float)
MEMTILE_ACC_BROADCAST(v64accfloat, float)
MEMTILE_ACC_BROADCAST(v16acc32, std::int32_t)
MEMTILE_ACC_BROADCAST(v32acc32, std::int32_t)
MEMTILE_ACC_BROADCAST(v8acc64, std::int64_t)
MEMTILE_ACC_BROADCAST(v16acc64, std::int64_t)
#undef MEMTILE_ACC_BROADCAST

// Broadcasts by the type of the element, to 512 bits.
#define MEMTILE_BROADCAST(name, type, scalar)                                          \
    inline type broadcast_##name(scalar value) { return broadcast_to_##type(value); }  \
    inline type broadcast_zero_##name() { return {}; }                                 \
    inline type broadcast_one_##name() { return broadcast_one_to_##type(); }
MEMTILE_BROADCAST(s8, v64int8, int)
MEMTILE_BROADCAST(u8, v64uint8, unsigned)
MEMTILE_BROADCAST(s16, v32int16, int)
MEMTILE_BROADCAST(u16, v32uint16, unsigned)
MEMTILE_BROADCAST(s32, v16int32, int)
MEMTILE_BROADCAST(u32, v16uint32, unsigned)
MEMTILE_BROADCAST(bfloat16, v32bfloat16, bfloat16)
MEMTILE_BROADCAST(float, v16float, float)
#undef MEMTILE_BROADCAST

template <typename T, unsigned N>
inline aie::vector<T, N> broadcast_elem(const aie::vector<T, N> &from, int index) {
    return aie::broadcast<T, N>(ext_elem(from, index));
}

// Shifts of lanes: the lanes of a and b in one row, from place `by` on. `bytes` counts bytes.
namespace memtile {

template <typename V>
inline V from_byte(const V &low, const V &high, long long bytes) {
    count(Unit::shuffle);
    const unsigned from = lane_index(bytes, sizeof(V) + 1);
    unsigned char both[2 * sizeof(V)];
    std::memcpy(both, &low, sizeof(V));
    std::memcpy(both + sizeof(V), &high, sizeof(V));
    V to;
    std::memcpy(static_cast<void *>(&to), both + from, sizeof(V));
    return to;
}

}  // namespace memtile

template <typename T, unsigned N>
inline aie::vector<T, N> shift_bytes(const aie::vector<T, N> &low, const aie::vector<T, N> &high, long long bytes) {
    return memtile::from_byte(low, high, bytes);
}
template <typename T, unsigned N>
inline aie::vector<T, N> shift(const aie::vector<T, N> &low, const aie::vector<T, N> &high, long long by) {
    return memtile::from_byte(low, high, by * static_cast<long long>(sizeof low / N));
}
template <typename Tag, unsigned N>
inline aie::accum<Tag, N> shift(const aie::accum<Tag, N> &low, const aie::accum<Tag, N> &high, long long by) {
    return memtile::from_byte(low, high, by * static_cast<long long>(sizeof low / N));
}
template <typename Tag, unsigned N>
inline aie::accum<Tag, N> shift_bytes(const aie::accum<Tag, N> &low, const aie::accum<Tag, N> &high, long long bytes) {
    return memtile::from_byte(low, high, bytes);
}

// Bitwise operations, on all bits whatever the elements are.
namespace memtile {

template <typename V, typename Operation>
inline V bitwise(const V &a, const V &b, Operation operation) {
    count(Unit::alu);
    unsigned char left[sizeof(V)], right[sizeof(V)];
    std::memcpy(left, &a, sizeof(V));
    std::memcpy(right, &b, sizeof(V));
    for (unsigned at = 0; at < sizeof(V); ++at) left[at] = static_cast<unsigned char>(operation(left[at], right[at]));
    V to;
    std::memcpy(static_cast<void *>(&to), left, sizeof(V));
    return to;
}

}  // namespace memtile

template <typename T, unsigned N>
inline aie::vector<T, N> band(const aie::vector<T, N> &a, const std::type_identity_t<aie::vector<T, N>> &b) {
    return memtile::bitwise(a, b, [](int x, int y) { return x & y; });
}
template <typename T, unsigned N>
inline aie::vector<T, N> bor(const aie::vector<T, N> &a, const std::type_identity_t<aie::vector<T, N>> &b) {
    return memtile::bitwise(a, b, [](int x, int y) { return x | y; });
}
template <typename T, unsigned N>
inline aie::vector<T, N> bxor(const aie::vector<T, N> &a, const std::type_identity_t<aie::vector<T, N>> &b) {
    return memtile::bitwise(a, b, [](int x, int y) { return x ^ y; });
}
template <typename T, unsigned N>
inline aie::vector<T, N> bneg(const aie::vector<T, N> &a) {
    return memtile::bitwise(a, a, [](int x, int) { return ~x; });
}
