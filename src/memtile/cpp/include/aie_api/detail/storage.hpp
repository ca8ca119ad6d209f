// The one representation of vectors, accumulators and masks that the AIE API and the intrinsics share.
//
// `v16int32` of the intrinsics is `aie::vector<int32, 16>` and `v16acc64` is `aie::accum<acc64, 16>`: the same
// type, so that a kernel may mix both as it does for the hardware. Bytes lie as in the core's memory: element
// 0 first, numbers of 4 bits in pairs. Sources: UG1529, Basic Types and Memory (alignment).
#pragma once

#include <algorithm>
#include <cassert>
#include <utility>

#include "scalars.hpp"

namespace aie {

/// The architecture that is compiled for (UG1529, Architecture helpers).
struct arch {
    enum ArchGeneration : unsigned { Gen1 = 1, Gen2 = 2 };
    enum ArchVersion : unsigned { AIE = 10, AIE_ML = 20, XDNA2 = 21, AIE_MLv2 = 22 };
    static constexpr ArchGeneration generation = ArchGeneration(__AIE_ARCH__ / 10);
    static constexpr ArchVersion version = ArchVersion(__AIE_ARCH__);

    template <typename... T>
        requires(std::is_same_v<T, ArchVersion> && ...)
    static constexpr bool is(T... versions) {
        return ((versions == version) || ...);
    }
    template <typename... T>
        requires(sizeof...(T) > 0 && (std::is_same_v<T, ArchGeneration> && ...))
    static constexpr bool is(T... generations) {
        return ((generations == generation) || ...);
    }
};

/// Bytes that a vector in memory is aligned to: the width of a load, 512 bits from AIE2P on (AM020, AM027).
inline constexpr unsigned vector_decl_align = arch::is(arch::AIE_ML) ? 32 : 64;

namespace detail {

template <typename T>
inline constexpr bool is_packed_v = std::is_same_v<T, int4> || std::is_same_v<T, uint4>;
template <typename T>
inline constexpr bool is_complex_v = false;
template <typename Part>
inline constexpr bool is_complex_v<complex_number<Part>> = true;
template <typename T>
inline constexpr bool is_floating_v =
    std::is_same_v<T, float> || std::is_same_v<T, bfloat16> || std::is_same_v<T, cfloat> || std::is_same_v<T, cbfloat16>;
template <typename T>
inline constexpr unsigned type_bits_v = is_packed_v<T> ? 4 : 8 * sizeof(T);
template <typename T>
inline constexpr bool is_signed_v = std::is_signed_v<T> || std::is_same_v<T, int4> || std::is_same_v<T, bfloat16> ||
                                    is_complex_v<T>;

template <typename T>
inline constexpr bool is_element_v =
    is_packed_v<T> || std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
    std::is_same_v<T, uint16_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t> ||
    std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t> || std::is_same_v<T, bfloat16> ||
    std::is_same_v<T, float> || is_complex_v<T>;

/// What one place of a vector's array holds: the element itself, or a byte with two numbers of 4 bits.
template <typename T>
using slot_t = std::conditional_t<is_packed_v<T>, uint8_t, T>;
template <typename T, unsigned N>
inline constexpr unsigned slots_v = is_packed_v<T> ? N / 2 : N;

constexpr unsigned alignment_of(unsigned bytes) {
    unsigned found = 1;
    while (found < bytes && found < vector_decl_align) found *= 2;
    return found;
}

// What a lane of an accumulator is: 32 or 64 bits, a float, or a pair of these (UG1529: acc40 to acc64 have 64).
template <typename Tag>
struct lane;
#define MEMTILE_LANE(tag, type, bits_, cls)                  \
    template <>                                              \
    struct lane<tag> {                                       \
        using slot = type;                                   \
        static constexpr unsigned bits = bits_;              \
        static constexpr int kind = cls;                     \
    };
MEMTILE_LANE(acc16, int32_t, 32, 0)
MEMTILE_LANE(acc24, int32_t, 32, 0)
MEMTILE_LANE(acc32, int32_t, 32, 0)
MEMTILE_LANE(acc40, int64_t, 64, 0)
MEMTILE_LANE(acc48, int64_t, 64, 0)
MEMTILE_LANE(acc56, int64_t, 64, 0)
MEMTILE_LANE(acc64, int64_t, 64, 0)
MEMTILE_LANE(cacc16, cint32, 32, 1)
MEMTILE_LANE(cacc24, cint32, 32, 1)
MEMTILE_LANE(cacc32, cint32, 32, 1)
MEMTILE_LANE(cacc40, cint64, 64, 1)
MEMTILE_LANE(cacc48, cint64, 64, 1)
MEMTILE_LANE(cacc56, cint64, 64, 1)
MEMTILE_LANE(cacc64, cint64, 64, 1)
MEMTILE_LANE(accfloat, float, 32, 2)
MEMTILE_LANE(caccfloat, cfloat, 32, 3)
#undef MEMTILE_LANE

}  // namespace detail

namespace detail {
/// Elements in the default vector of a type: 512 bits (UG1603, AI Engine-ML Data Types).
template <typename T>
inline constexpr unsigned default_size_v = 512 / type_bits_v<T>;
}  // namespace detail

template <typename T, unsigned N = detail::default_size_v<T>>
class vector;
template <typename Tag, unsigned N>
class accum;
template <unsigned N>
class mask;
template <typename Block, unsigned N>
class block_vector;

/// One element of a vector, to read and to write.
template <typename T, unsigned N>
class vector_elem_ref {
  public:
    using value_type = T;
    constexpr vector_elem_ref(vector<T, N>& of, unsigned at) : parent(of), offset(at) {}
    constexpr vector_elem_ref(const vector_elem_ref&) = default;
    constexpr T get() const { return parent.get(offset); }
    constexpr operator T() const { return get(); }
    /// Numbers of bfloat16 compare and add as floats.
    constexpr operator float() const
        requires std::is_same_v<T, bfloat16>
    {
        return get();
    }
    constexpr vector_elem_ref& operator=(const T& value) {
        parent.set(value, offset);
        return *this;
    }
    constexpr vector_elem_ref& operator=(const vector_elem_ref& other) { return *this = other.get(); }

    vector<T, N>& parent;
    unsigned offset;
};

/// One element of a vector, to read.
template <typename T, unsigned N>
class vector_elem_const_ref {
  public:
    using value_type = T;
    constexpr vector_elem_const_ref(const vector<T, N>& of, unsigned at) : parent(of), offset(at) {}
    constexpr vector_elem_const_ref(const vector_elem_ref<T, N>& other) : parent(other.parent), offset(other.offset) {}
    constexpr T get() const { return parent.get(offset); }
    constexpr operator T() const { return get(); }
    /// Numbers of bfloat16 compare and add as floats.
    constexpr operator float() const
        requires std::is_same_v<T, bfloat16>
    {
        return get();
    }

    const vector<T, N>& parent;
    unsigned offset;
};

/// N elements of a type, 128 to 2048 bits on the hardware. Elements that were not set are 0.
template <typename T, unsigned N>
class alignas(detail::alignment_of(N* detail::type_bits_v<T> / 8)) [[gnu::may_alias]] vector {
    static_assert(detail::is_element_v<T>, "aie::vector: this type is no element of a vector (UG1529, Basic Types)");
    static_assert(N * detail::type_bits_v<T> % 8 == 0, "aie::vector: a vector is a number of bytes");

  public:
    using value_type = T;
    using native_type = vector;
    using slot = detail::slot_t<T>;
    static constexpr unsigned Elems = N;

    constexpr vector() = default;
    template <typename... Values>
        requires(sizeof...(Values) > 0 && sizeof...(Values) < N && (std::is_convertible_v<Values, T> && ...))
    constexpr vector(T first, Values&&... others) {
        unsigned at = 0;
        set(first, at++);
        (set(static_cast<T>(others), at++), ...);
    }
    /// The same bits as another type, as a C cast of intrinsics does.
    template <typename U, unsigned M>
        requires((!std::is_same_v<U, T>) && M * detail::type_bits_v<U> == N * detail::type_bits_v<T>)
    explicit vector(const vector<U, M>& other) {
        std::memcpy(slots, other.slots, sizeof slots);
    }

    /// The bits of an accumulator, as a C cast of intrinsics takes them.
    template <typename Tag, unsigned M>
        requires(M * sizeof(typename detail::lane<Tag>::slot) == sizeof(slot) * detail::slots_v<T, N> &&
                 (detail::lane<Tag>::kind < 2))
    explicit vector(const accum<Tag, M>& other) {
        std::memcpy(static_cast<void*>(slots), other.slots, sizeof slots);
    }

    static constexpr unsigned size() { return N; }
    static constexpr unsigned type_bits() { return detail::type_bits_v<T>; }
    static constexpr unsigned bits() { return N * type_bits(); }
    static constexpr bool is_signed() { return detail::is_signed_v<T>; }
    static constexpr bool is_complex() { return detail::is_complex_v<T>; }
    static constexpr bool is_real() { return !is_complex(); }
    static constexpr bool is_integral() { return !is_floating_point(); }
    static constexpr bool is_floating_point() { return detail::is_floating_v<T>; }

    constexpr T get(unsigned at) const {
        if constexpr (detail::is_packed_v<T>)
            return T(slots[at / 2] >> (at % 2 * 4));
        else
            return slots[at];
    }
    constexpr void set(T value, unsigned at) {
        if constexpr (detail::is_packed_v<T>) {
            const unsigned down = at % 2 * 4;
            slots[at / 2] =
                static_cast<uint8_t>((slots[at / 2] & ~(15u << down)) | ((static_cast<unsigned>(value.value) & 15u) << down));
        } else {
            slots[at] = value;
        }
    }
    constexpr vector_elem_ref<T, N> operator[](unsigned at) { return {*this, at}; }
    constexpr vector_elem_const_ref<T, N> operator[](unsigned at) const { return {*this, at}; }
    constexpr vector_elem_ref<T, N> elem_ref(unsigned at) { return {*this, at}; }
    constexpr vector_elem_const_ref<T, N> elem_ref(unsigned at) const { return {*this, at}; }
    constexpr vector_elem_const_ref<T, N> elem_const_ref(unsigned at) const { return {*this, at}; }

    /// All elements one place up, the value at place 0; the last one falls out.
    constexpr vector& push(T value) {
        for (unsigned at = N; at-- > 1;) set(get(at - 1), at);
        set(value, 0);
        return *this;
    }

    template <unsigned M>
    constexpr vector<T, M> extract(unsigned part) const {
        static_assert(M <= N && N % M == 0, "aie::vector: extract takes a part of the vector");
        vector<T, M> found;
        constexpr unsigned width = detail::slots_v<T, M>;
        for (unsigned at = 0; at < width; ++at) found.slots[at] = slots[part * width + at];
        return found;
    }
    template <unsigned M>
    constexpr vector& insert(unsigned part, const vector<T, M>& other) {
        static_assert(M <= N && N % M == 0, "aie::vector: insert writes a part of the vector");
        constexpr unsigned width = detail::slots_v<T, M>;
        for (unsigned at = 0; at < width; ++at) slots[part * width + at] = other.slots[at];
        return *this;
    }
    template <unsigned M>
    constexpr vector<T, M> grow(unsigned part = 0) const {
        vector<T, M> found;
        found.insert(part, *this);
        return found;
    }
    template <unsigned M>
    constexpr vector<T, M> grow_replicate() const {
        vector<T, M> found;
        for (unsigned part = 0; part < M / N; ++part) found.insert(part, *this);
        return found;
    }
    template <unsigned M>
    constexpr vector<T, M> grow_extract(unsigned part) const {
        if constexpr (M >= N)
            return grow<M>(part);
        else
            return extract<M>(part);
    }
    template <unsigned M>
    constexpr std::array<vector<T, M>, N / M> split() const {
        std::array<vector<T, M>, N / M> parts;
        for (unsigned part = 0; part < N / M; ++part) parts[part] = extract<M>(part);
        return parts;
    }

    /// The same bits, read as elements of another type.
    template <typename U>
    vector<U, N * detail::type_bits_v<T> / detail::type_bits_v<U>> cast_to() const {
        vector<U, N * detail::type_bits_v<T> / detail::type_bits_v<U>> found;
        std::memcpy(found.slots, slots, sizeof slots);
        return found;
    }

    // Conversions to the next narrower and the next wider integer: conversions.hpp.
    template <typename U = void>
    auto pack() const;
    template <typename U>
    auto pack_sign(bool is_signed) const;
    template <typename U = void>
    auto unpack() const;
    template <typename U>
    auto unpack_sign(bool is_signed) const;

    // Loads and stores: load_store.hpp.
    template <typename U>
    vector& load(const U* from);
    template <typename U>
    vector& load_unaligned(const U* from, unsigned aligned_elems = 1);
    template <typename U>
    void store(U* to) const;
    template <typename U>
    void store_unaligned(U* to, unsigned aligned_elems = 1) const;

    vector to_native() const { return *this; }

    slot* data() { return slots; }
    const slot* data() const { return slots; }

    slot slots[detail::slots_v<T, N>] = {};
};

/// N lanes of 32 or 64 bits that wrap, or of floats.
template <typename Tag, unsigned N>
class alignas(detail::alignment_of(N * sizeof(typename detail::lane<Tag>::slot))) [[gnu::may_alias]] accum {
  public:
    using value_type = Tag;
    using slot = typename detail::lane<Tag>::slot;
    using native_type = accum;
    using storage_t = accum;

    constexpr accum() = default;
    /// From an accumulator of the same lanes: tags give the least number of bits.
    template <typename Other>
        requires(!std::is_same_v<Other, Tag> && detail::lane<Other>::kind == detail::lane<Tag>::kind &&
                 detail::lane<Other>::bits == detail::lane<Tag>::bits)
    constexpr accum(const accum<Other, N>& other) {
        for (unsigned at = 0; at < N; ++at) slots[at] = other.slots[at];
    }
    template <typename T>
    constexpr accum(const vector<T, N>& from, int shift = 0) {
        from_vector(from, shift);
    }
    template <typename Block>
    accum(const block_vector<Block, N>& from) {
        for (unsigned at = 0; at < N; ++at) slots[at] = from.get(at);
    }
    /// Sums of floats may be used as a vector of them.
    template <typename T>
        requires(detail::lane<Tag>::kind >= 2 && detail::is_floating_v<T>)
    constexpr operator vector<T, N>() const {
        return to_vector<T>();
    }

    static constexpr unsigned size() { return N; }
    static constexpr unsigned value_bits() { return detail::lane<Tag>::bits * (is_complex() ? 2 : 1); }
    static constexpr unsigned bits() { return N * value_bits(); }
    static constexpr bool is_complex() { return detail::lane<Tag>::kind % 2 == 1; }
    static constexpr bool is_real() { return !is_complex(); }
    static constexpr bool is_floating_point() { return detail::lane<Tag>::kind >= 2; }

    template <unsigned M>
    constexpr accum<Tag, M> extract(unsigned part) const {
        static_assert(M <= N && N % M == 0, "aie::accum: extract takes a part of the accumulator");
        accum<Tag, M> found;
        for (unsigned at = 0; at < M; ++at) found.slots[at] = slots[part * M + at];
        return found;
    }
    template <typename Other, unsigned M>
        requires(detail::lane<Other>::kind == detail::lane<Tag>::kind && detail::lane<Other>::bits == detail::lane<Tag>::bits)
    constexpr accum& insert(unsigned part, const accum<Other, M>& other) {
        static_assert(M <= N && N % M == 0, "aie::accum: insert writes a part of the accumulator");
        for (unsigned at = 0; at < M; ++at) slots[part * M + at] = other.slots[at];
        return *this;
    }
    template <unsigned M>
    constexpr accum<Tag, M> grow(unsigned part = 0) const {
        accum<Tag, M> found;
        found.insert(part, *this);
        return found;
    }
    template <unsigned M>
    constexpr accum<Tag, M> grow_replicate() const {
        accum<Tag, M> found;
        for (unsigned part = 0; part < M / N; ++part) found.insert(part, *this);
        return found;
    }
    template <unsigned M>
    constexpr accum<Tag, M> grow_extract(unsigned part) const {
        if constexpr (M >= N)
            return grow<M>(part);
        else
            return extract<M>(part);
    }
    template <unsigned M>
    constexpr std::array<accum<Tag, M>, N / M> split() const {
        std::array<accum<Tag, M>, N / M> parts;
        for (unsigned part = 0; part < N / M; ++part) parts[part] = extract<M>(part);
        return parts;
    }
    /// The same bits, read as lanes of another kind.
    template <typename Other>
    auto cast_to() const {
        accum<Other, N * sizeof(slot) / sizeof(typename detail::lane<Other>::slot)> found;
        static_assert(sizeof found.slots == sizeof slots);
        std::memcpy(found.slots, slots, sizeof slots);
        return found;
    }

    // Shifts, rounding and saturation: conversions.hpp.
    template <typename T>
    constexpr auto to_vector(int shift = 0) const;
    template <typename T>
    constexpr vector<T, N> to_vector_sign(bool is_signed, int shift = 0) const;
    template <typename T>
    constexpr void from_vector(const vector<T, N>& from, int shift = 0);
    template <typename T>
    constexpr void from_vector_sign(const vector<T, N>& from, bool is_signed, int shift = 0);

    accum to_native() const { return *this; }

    slot* data() { return slots; }
    const slot* data() const { return slots; }

    slot slots[N] = {};
};

/// N truth values, value 0 in the lowest bit of the first word.
template <unsigned N>
class mask {
  public:
    static constexpr unsigned words = (N + 63) / 64;

    constexpr mask() = default;
    constexpr explicit mask(bool all) {
        if (all)
            for (unsigned at = 0; at < N; ++at) set(at);
    }
    template <typename... Words>
        requires(sizeof...(Words) > 0)
    static constexpr mask from_words(Words... given) {
        return from_array(std::array{given...});
    }
    static constexpr mask from_uint32(uint32_t low) {
        mask made;
        made.bits[0] = low;
        return made.trimmed();
    }
    static constexpr mask from_uint64(uint64_t low) {
        mask made;
        made.bits[0] = low;
        return made.trimmed();
    }
    template <typename Word, size_t Count>
    static constexpr mask from_array(const std::array<Word, Count>& given) {
        constexpr unsigned width = 8 * sizeof(Word);
        mask made;
        for (unsigned at = 0; at < N && at < Count * width; ++at)
            if (given[at / width] >> (at % width) & 1) made.set(at);
        return made;
    }
    static constexpr unsigned size() { return N; }
    constexpr bool test(unsigned at) const { return bits[at / 64] >> (at % 64) & 1; }
    constexpr void set(unsigned at) { bits[at / 64] |= uint64_t(1) << (at % 64); }
    constexpr void clear(unsigned at) { bits[at / 64] &= ~(uint64_t(1) << (at % 64)); }
    constexpr void set(unsigned at, bool value) { value ? set(at) : clear(at); }
    constexpr void toggle(unsigned at) { bits[at / 64] ^= uint64_t(1) << (at % 64); }
    constexpr unsigned count() const {
        unsigned found = 0;
        for (uint64_t word : bits) found += static_cast<unsigned>(std::popcount(word));
        return found;
    }
    constexpr bool empty() const { return count() == 0; }
    constexpr bool full() const { return count() == N; }
    constexpr unsigned clz() const {
        unsigned found = 0;
        while (found < N && !test(N - 1 - found)) ++found;
        return found;
    }
    constexpr unsigned ctz() const {
        unsigned found = 0;
        while (found < N && !test(found)) ++found;
        return found;
    }
    constexpr uint32_t to_uint32(unsigned at = 0) const { return static_cast<uint32_t>(bits[at / 2] >> (at % 2 * 32)); }
    constexpr uint64_t to_uint64(unsigned at = 0) const { return bits[at]; }
    template <unsigned M>
    constexpr mask<M> extract(unsigned part) const {
        mask<M> found;
        for (unsigned at = 0; at < M; ++at) found.set(at, test(part * M + at));
        return found;
    }
    template <unsigned M>
    constexpr mask& insert(unsigned part, const mask<M>& other) {
        for (unsigned at = 0; at < M; ++at) set(part * M + at, other.test(at));
        return *this;
    }
    constexpr mask operator~() const {
        mask found = *this;
        for (uint64_t& word : found.bits) word = ~word;
        return found.trimmed();
    }
    constexpr mask operator!() const { return ~*this; }
    constexpr mask& operator&=(const mask& other) { return *this = *this & other; }
    constexpr mask& operator|=(const mask& other) { return *this = *this | other; }
    constexpr mask& operator^=(const mask& other) { return *this = *this ^ other; }
    friend constexpr mask operator&(mask a, const mask& b) {
        for (unsigned at = 0; at < words; ++at) a.bits[at] &= b.bits[at];
        return a;
    }
    friend constexpr mask operator|(mask a, const mask& b) {
        for (unsigned at = 0; at < words; ++at) a.bits[at] |= b.bits[at];
        return a;
    }
    friend constexpr mask operator^(mask a, const mask& b) {
        for (unsigned at = 0; at < words; ++at) a.bits[at] ^= b.bits[at];
        return a;
    }
    constexpr mask operator<<(unsigned by) const {
        mask found;
        for (unsigned at = by; at < N; ++at) found.set(at, test(at - by));
        return found;
    }
    constexpr mask operator>>(unsigned by) const {
        mask found;
        for (unsigned at = 0; at + by < N; ++at) found.set(at, test(at + by));
        return found;
    }
    constexpr bool operator==(const mask&) const = default;

    uint64_t bits[words] = {};

  private:
    constexpr mask trimmed() const {
        mask found = *this;
        if constexpr (N % 64 != 0) found.bits[words - 1] &= (uint64_t(1) << (N % 64)) - 1;
        return found;
    }
};

}  // namespace aie

// Names of the intrinsics for the same types.
#define MEMTILE_NATIVE(name, type)       \
    using v2##name = aie::vector<type, 2>;     \
    using v4##name = aie::vector<type, 4>;     \
    using v8##name = aie::vector<type, 8>;     \
    using v16##name = aie::vector<type, 16>;   \
    using v32##name = aie::vector<type, 32>;   \
    using v64##name = aie::vector<type, 64>;   \
    using v128##name = aie::vector<type, 128>; \
    using v256##name = aie::vector<type, 256>;
MEMTILE_NATIVE(int4, int4)
MEMTILE_NATIVE(uint4, uint4)
MEMTILE_NATIVE(int8, int8)
MEMTILE_NATIVE(uint8, uint8)
MEMTILE_NATIVE(int16, int16)
MEMTILE_NATIVE(uint16, uint16)
MEMTILE_NATIVE(int32, int32)
MEMTILE_NATIVE(uint32, uint32)
MEMTILE_NATIVE(int64, int64)
MEMTILE_NATIVE(uint64, uint64)
MEMTILE_NATIVE(bfloat16, bfloat16)
MEMTILE_NATIVE(float, float)
MEMTILE_NATIVE(cint16, cint16)
MEMTILE_NATIVE(cint32, cint32)
MEMTILE_NATIVE(cfloat, cfloat)
#undef MEMTILE_NATIVE
#define MEMTILE_NATIVE_ACC(tag)           \
    using v2##tag = aie::accum<tag, 2>;   \
    using v4##tag = aie::accum<tag, 4>;   \
    using v8##tag = aie::accum<tag, 8>;   \
    using v16##tag = aie::accum<tag, 16>; \
    using v32##tag = aie::accum<tag, 32>; \
    using v64##tag = aie::accum<tag, 64>; \
    using v128##tag = aie::accum<tag, 128>;
MEMTILE_NATIVE_ACC(acc32)
MEMTILE_NATIVE_ACC(acc48)
MEMTILE_NATIVE_ACC(acc64)
MEMTILE_NATIVE_ACC(cacc32)
MEMTILE_NATIVE_ACC(cacc64)
MEMTILE_NATIVE_ACC(accfloat)
MEMTILE_NATIVE_ACC(caccfloat)
#undef MEMTILE_NATIVE_ACC
