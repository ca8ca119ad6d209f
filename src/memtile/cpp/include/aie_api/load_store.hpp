// Vectors in memory: loads, stores, and vectors made of nothing or of parts (UG1529, Memory; Initialization).
#pragma once

#include "detail/operands.hpp"

/// Hints of where data lies; they change no value.
enum class aie_dm_resource { none, a, b, c, d, stack };

namespace aie {

namespace detail {

/// Bytes that an aligned access of `bytes` has to be aligned to (UG1529, Memory).
constexpr unsigned access_alignment(unsigned bytes) { return alignment_of(bytes); }

/// Elements of 4 bits are addressed by byte.
template <typename T>
constexpr const uint8_t* bytes_at(const T* pointer) {
    return reinterpret_cast<const uint8_t*>(pointer);
}

template <typename T, unsigned N>
vector<T, N> loaded(const void* from, unsigned alignment) {
    memtile::before_load(from, sizeof(vector<T, N>{}.slots), alignment);
    vector<T, N> found;
    std::memcpy(static_cast<void*>(found.slots), from, sizeof found.slots);
    return found;
}

template <typename T, unsigned N>
void stored(void* to, const vector<T, N>& from, unsigned alignment) {
    memtile::before_store(to, sizeof from.slots, alignment);
    std::memcpy(to, static_cast<const void*>(from.slots), sizeof from.slots);
}

template <typename T>
constexpr unsigned element_alignment(unsigned elems) {
    return std::max(1u, elems * type_bits_v<T> / 8);
}

}  // namespace detail

template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>
vector<T, N> load_v(const T* from) {
    return detail::loaded<T, N>(from, detail::access_alignment(N * detail::type_bits_v<T> / 8));
}
template <aie_dm_resource Resource = aie_dm_resource::none, typename T>
auto load_v(const T* from) {
    return load_v<detail::default_size_v<T>, Resource>(from);
}
/// A load from any multiple of `aligned_elems` elements.
template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>
vector<T, N> load_unaligned_v(const T* from, unsigned aligned_elems = 1) {
    return detail::loaded<T, N>(from, detail::element_alignment<T>(aligned_elems));
}
template <aie_dm_resource Resource = aie_dm_resource::none, typename T>
auto load_unaligned_v(const T* from, unsigned aligned_elems = 1) {
    return load_unaligned_v<detail::default_size_v<T>, Resource>(from, aligned_elems);
}
/// A load from the last aligned address at or below `from`.
template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>
vector<T, N> load_floor_v(const T* from) {
    constexpr uintptr_t width = detail::access_alignment(N * detail::type_bits_v<T> / 8);
    return load_v<N>(reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(from) / width * width));
}

template <aie_dm_resource Resource = aie_dm_resource::none, typename P, typename T, unsigned N>
P* store_v(P* to, const vector<T, N>& from) {
    detail::stored(to, from, detail::access_alignment(sizeof from.slots));
    return to;
}
/// The same with the number of elements before the pointer, as some write it.
template <unsigned Elems, aie_dm_resource Resource = aie_dm_resource::none, typename T>
T* store_v(T* to, const std::type_identity_t<vector<T, Elems>>& from) {
    return store_v(to, from);
}
/// A store to any multiple of `aligned_elems` elements.
template <aie_dm_resource Resource = aie_dm_resource::none, typename P, typename T, unsigned N>
P* store_unaligned_v(P* to, const vector<T, N>& from, unsigned aligned_elems = 1) {
    const unsigned alignment = detail::element_alignment<T>(aligned_elems);
    if (alignment >= detail::access_alignment(sizeof from.slots)) return store_v(to, from);
    // Written as a read and a write of the aligned windows around it.
    memtile::before_store_window(to, sizeof from.slots, vector_decl_align);
    std::memcpy(static_cast<void*>(to), from.slots, sizeof from.slots);
    return to;
}

template <unsigned Elems, aie_dm_resource Resource = aie_dm_resource::none, typename T>
T* store_unaligned_v(T* to, const std::type_identity_t<vector<T, Elems>>& from, unsigned aligned_elems = 1) {
    return store_unaligned_v(to, from, aligned_elems);
}

template <typename T, unsigned N>
template <typename U>
vector<T, N>& vector<T, N>::load(const U* from) {
    return *this = detail::loaded<T, N>(from, detail::access_alignment(sizeof slots));
}
template <typename T, unsigned N>
template <typename U>
vector<T, N>& vector<T, N>::load_unaligned(const U* from, unsigned aligned_elems) {
    return *this = detail::loaded<T, N>(from, detail::element_alignment<T>(aligned_elems));
}
template <typename T, unsigned N>
template <typename U>
void vector<T, N>::store(U* to) const {
    store_v(to, *this);
}
template <typename T, unsigned N>
template <typename U>
void vector<T, N>::store_unaligned(U* to, unsigned aligned_elems) const {
    store_unaligned_v(to, *this, aligned_elems);
}

/// A vector or an accumulator of zeros.
template <typename T, unsigned N>
constexpr auto zeros() {
    if constexpr (detail::is_element_v<T>)
        return vector<T, N>{};
    else
        return accum<T, N>{};
}
template <typename T>
    requires detail::is_element_v<T>
constexpr auto zeros() {
    return vector<T, detail::default_size_v<T>>{};
}
/// One value in each element.
template <typename T, unsigned N, typename V>
    requires(detail::is_value_v<V>)
constexpr vector<T, N> broadcast(const V& value) {
    memtile::count(memtile::Unit::shuffle, detail::instructions(N * detail::type_bits_v<T>));
    return detail::lifted<T, N>(value);
}
template <unsigned N, typename V>
    requires(detail::is_value_v<V>)
constexpr auto broadcast(const V& value) {
    return broadcast<detail::element_t<V>, N>(value);
}
template <typename V>
    requires(detail::is_value_v<V>)
constexpr auto broadcast(const V& value) {
    using T = detail::element_t<V>;
    return broadcast<T, detail::default_size_v<T>>(value);
}
/// start, start + step, start + 2 step, ...
template <typename T, unsigned N>
constexpr vector<T, N> iota(T start, T step) {
    vector<T, N> made;
    for (unsigned at = 0; at < N; ++at, start = detail::wrapped_add(start, step)) made.set(start, at);
    return made;
}
template <unsigned N, typename T>
constexpr vector<T, N> iota(T start, T step) {
    return iota<T, N>(start, step);
}

namespace detail {
template <typename Whole, typename... Parts>
constexpr Whole joined(const Parts&... parts) {
    Whole made;
    unsigned at = 0;
    (made.insert(at++, parts), ...);
    return made;
}
}  // namespace detail

/// Vectors one behind the other.
template <typename T, unsigned N, typename... Others>
    requires((std::is_same_v<Others, vector<T, N>> && ...))
constexpr auto concat(const vector<T, N>& first, const Others&... others) {
    return detail::joined<vector<T, N*(1 + sizeof...(Others))>>(first, others...);
}
template <typename Tag, unsigned N, typename... Others>
    requires((std::is_same_v<Others, accum<Tag, N>> && ...))
constexpr auto concat(const accum<Tag, N>& first, const Others&... others) {
    return detail::joined<accum<Tag, N*(1 + sizeof...(Others))>>(first, others...);
}

/// The same bits as elements of another type.
template <typename U, detail::Vector V>
auto vector_cast(const V& v) {
    if constexpr (requires { typename detail::lane<U>::slot; }) {
        constexpr unsigned bits = 8 * sizeof(typename detail::lane<U>::slot);
        accum<U, V::bits() / bits> found;
        std::memcpy(static_cast<void*>(found.slots), v.slots, sizeof v.slots);
        return found;
    } else {
        return v.template cast_to<U>();
    }
}
template <typename U, detail::Accum A>
auto accum_cast(const A& a) {
    return a.template cast_to<U>();
}

}  // namespace aie
