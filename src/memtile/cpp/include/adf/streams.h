// Streams, packet streams and cascades of kernels (UG1603, Streams; Packet Processing; Cascade).
//
// AIE-ML's core has one stream port in each direction and one cascade, so a stream object has no number, and a kernel that
// no graph gives one may make it. A value wider than a word goes word by word, as it lies in memory (DEV-INTRINSIC-7).
#pragma once

#include <bit>

#include "aie_api/aie.hpp"
#include "memtile/intrinsics/core_calls.h"

/// Which of the first generation's two stream ports an access uses, a hint of the AIE API; AIE-ML has one.
enum class aie_stream_resource_in { none, a, b };
enum class aie_stream_resource_out { none, a, b };

/// Accumulators that only the first generation has: streams of them may be named, not used.
struct acc80;
struct cacc80;

namespace adf {

template <typename T>
class input_stream {};
template <typename T>
class output_stream {};
template <typename T>
class input_cascade {};
template <typename T>
class output_cascade {};

/// A packet stream; `port` is the place of its parameter.
struct input_pktstream {
    unsigned port = 0;
};
struct output_pktstream {
    unsigned port = 0;
};

namespace detail {

/// Values of 32 bits and several of these.
template <typename V>
concept Words = sizeof(V) % 4 == 0 && sizeof(V) / 4 <= memtile::request_words;

template <Words V>
V get_words(bool& tlast) {
    std::uint32_t words[sizeof(V) / 4];
    memtile::get_ss_words(0, words, sizeof(V) / 4, &tlast);
    V value;
    std::memcpy(static_cast<void*>(&value), words, sizeof value);
    return value;
}
template <Words V>
void put_words(const V& value, bool tlast) {
    std::uint32_t words[sizeof(V) / 4];
    std::memcpy(words, static_cast<const void*>(&value), sizeof value);
    memtile::put_ms_words(0, words, sizeof(V) / 4, tlast);
}

/// A number of less than a word: it has a word of its own, an integer with its sign (DEV-ADF-46).
template <typename V>
concept PartOfWord = sizeof(V) < 4;

template <PartOfWord V>
V get_words(bool& tlast) {
    const std::uint32_t word = memtile::get_ss(0, &tlast);
    V value;
    std::memcpy(static_cast<void*>(&value), &word, sizeof value);
    return value;
}
template <PartOfWord V>
void put_words(const V& value, bool tlast) {
    std::uint32_t word = 0;
    if constexpr (std::is_integral_v<V>)
        word = static_cast<std::uint32_t>(value);
    else
        std::memcpy(&word, static_cast<const void*>(&value), sizeof value);
    memtile::put_ms(0, word, tlast);
}

/// What a cascade of a type carries: an accumulator for its tag, else a vector.
template <typename T, unsigned N>
struct carried {
    using type = aie::accum<T, N>;
};
template <typename T, unsigned N>
    requires aie::detail::is_element_v<T>
struct carried<T, N> {
    using type = aie::vector<T, N>;
};

/// Streams of the first generation with the tag of an accumulator are cascades (UG1079).
template <typename T>
concept Element = aie::detail::is_element_v<T>;
template <typename T>
concept Accumulator = !Element<T>;

/// Header of a packet from this tile: id 4..0, type 14..12, row 20..16, column 27..21, odd parity in bit 31.
inline uint32 packet_header(unsigned type, unsigned id) {
    const uint32 fields = (id & 0x1f) | (type & 7) << 12 | (memtile::row() & 0x1f) << 16 | (memtile::column() & 0x7f) << 21;
    return fields | (std::popcount(fields) % 2 == 0 ? 1u << 31 : 0u);
}

}  // namespace detail

// Reading.
template <detail::Element T>
T readincr(input_stream<T>*, bool& tlast) {
    return detail::get_words<T>(tlast);
}
template <detail::Element T>
T readincr(input_stream<T>* from) {
    bool tlast;
    return readincr(from, tlast);
}
template <unsigned N, detail::Element T>
aie::vector<T, N> readincr_v(input_stream<T>*, bool& tlast) {
    return detail::get_words<aie::vector<T, N>>(tlast);
}
template <unsigned N, detail::Element T>
aie::vector<T, N> readincr_v(input_stream<T>* from) {
    bool tlast;
    return readincr_v<N>(from, tlast);
}
template <unsigned N, typename T>
auto readincr_v(input_cascade<T>*) {
    return memtile::get_cascade<typename detail::carried<T, N>::type>();
}
template <unsigned N, detail::Accumulator T>
auto readincr_v(input_stream<T>*) {
    return memtile::get_cascade<typename detail::carried<T, N>::type>();
}

// Writing.
template <detail::Element T>
void writeincr(output_stream<T>*, std::type_identity_t<T> value, bool tlast = false) {
    detail::put_words(value, tlast);
}
template <typename T, unsigned N>
void writeincr(output_stream<T>*, const aie::vector<T, N>& value, bool tlast = false) {
    detail::put_words(value, tlast);
}
template <typename T, unsigned N>
void writeincr(output_cascade<T>*, const aie::accum<T, N>& value) {
    memtile::put_cascade(value);
}
template <typename T, unsigned N>
void writeincr(output_cascade<T>*, const aie::vector<T, N>& value) {
    memtile::put_cascade(value);
}
template <detail::Accumulator T, unsigned N>
void writeincr(output_stream<T>*, const aie::accum<T, N>& value) {
    memtile::put_cascade(value);
}
template <unsigned N, typename Stream, typename V>
void writeincr_v(Stream* to, const V& value) {
    writeincr(to, value);
}
template <unsigned N, typename Stream, typename V>
void writeincr_v(Stream* to, const V& value, bool tlast) {
    writeincr(to, value, tlast);
}

// The same with a hint of the port.
template <aie_stream_resource_in Resource, typename Stream, typename... Last>
auto readincr(Stream* from, Last&... tlast) {
    return readincr(from, tlast...);
}
template <unsigned N, aie_stream_resource_in Resource, typename Stream, typename... Last>
auto readincr_v(Stream* from, Last&... tlast) {
    return readincr_v<N>(from, tlast...);
}
template <aie_stream_resource_out Resource, typename Stream, typename V, typename... Last>
void writeincr(Stream* to, const V& value, Last... tlast) {
    writeincr(to, value, tlast...);
}

// The same by the number of elements in the name (UG1076 of 2022).
#define MEMTILE_STREAM_LANES(n)                              \
    template <typename Stream>                               \
    auto readincr_v##n(Stream* from) {                       \
        return readincr_v<n>(from);                          \
    }                                                        \
    template <typename Stream>                               \
    auto readincr_v##n(Stream* from, bool& tlast) {          \
        return readincr_v<n>(from, tlast);                   \
    }                                                        \
    template <typename Stream, typename V>                   \
    void writeincr_v##n(Stream* to, const V& value) {        \
        writeincr(to, value);                                \
    }                                                        \
    template <typename Stream, typename V>                   \
    void writeincr_v##n(Stream* to, const V& value, bool tlast) { \
        writeincr(to, value, tlast);                         \
    }
MEMTILE_STREAM_LANES(2)
MEMTILE_STREAM_LANES(4)
MEMTILE_STREAM_LANES(8)
MEMTILE_STREAM_LANES(16)
#undef MEMTILE_STREAM_LANES

// Packet streams: words, and a header before them.
inline int32 readincr(input_pktstream*, bool& tlast) { return std::bit_cast<int32>(memtile::get_ss(0, &tlast)); }
inline int32 readincr(input_pktstream*) { return std::bit_cast<int32>(memtile::get_ss(0)); }
template <memtile::stream_word T>
void writeincr(output_pktstream*, T value, bool tlast = false) {
    memtile::put_ms(0, std::bit_cast<std::uint32_t>(value), tlast);
}
/// The id of packets of a branch of the split or merge that the stream leads to, or comes from.
inline uint32 getPacketid(input_pktstream* from, int branch) { return memtile::packet_id(from->port, branch); }
inline uint32 getPacketid(output_pktstream* to, int branch) { return memtile::packet_id(to->port, branch); }
inline void writeHeader(output_pktstream* to, unsigned type, unsigned id, bool tlast = false) {
    writeincr(to, detail::packet_header(type, id), tlast);
}

// Streams and cascades by name of what they carry. Streams of accumulators are cascades; DSPLib names those of cacc48
// itself, `input_cascade<cacc64>` on AIE-ML, which must be the same type.
#define MEMTILE_CASCADE_NAMES(type)                    \
    using input_cascade_##type = input_cascade<type>;  \
    using output_cascade_##type = output_cascade<type>;
#define MEMTILE_STREAM_NAMES(type)                     \
    using input_stream_##type = input_stream<type>;    \
    using output_stream_##type = output_stream<type>;  \
    MEMTILE_CASCADE_NAMES(type)
#define MEMTILE_STREAM_TYPES(use)                                                                          \
    use(int8) use(uint8) use(int16) use(uint16) use(int32) use(uint32) use(int64) use(uint64) use(cint16)  \
    use(cint32) use(float) use(cfloat) use(bfloat16) use(acc32) use(acc48) use(acc64) use(acc80) use(cacc32) \
    use(cacc64) use(cacc80) use(accfloat) use(caccfloat)
MEMTILE_STREAM_TYPES(MEMTILE_STREAM_NAMES)
MEMTILE_CASCADE_NAMES(cacc48)
using input_stream_cacc48 = input_cascade<cacc64>;
using output_stream_cacc48 = output_cascade<cacc64>;
#undef MEMTILE_CASCADE_NAMES
#undef MEMTILE_STREAM_NAMES

}  // namespace adf

#define MEMTILE_STREAM_NAMES(type)     \
    using adf::input_cascade_##type;   \
    using adf::input_stream_##type;    \
    using adf::output_cascade_##type;  \
    using adf::output_stream_##type;
MEMTILE_STREAM_TYPES(MEMTILE_STREAM_NAMES)
MEMTILE_STREAM_NAMES(cacc48)
#undef MEMTILE_STREAM_NAMES
#undef MEMTILE_STREAM_TYPES

using adf::getPacketid;
using adf::input_cascade;
using adf::input_pktstream;
using adf::input_stream;
using adf::output_cascade;
using adf::output_pktstream;
using adf::output_stream;
using adf::readincr;
using adf::readincr_v;
using adf::writeHeader;
using adf::writeincr;
using adf::writeincr_v;
#define MEMTILE_STREAM_LANES(n)  \
    using adf::readincr_v##n;    \
    using adf::writeincr_v##n;
MEMTILE_STREAM_LANES(2)
MEMTILE_STREAM_LANES(4)
MEMTILE_STREAM_LANES(8)
MEMTILE_STREAM_LANES(16)
#undef MEMTILE_STREAM_LANES

namespace aie {

/// A value of a stream with its TLAST, for `>>` and `<<` (AIE API: tlast).
template <typename T, typename Bool>
struct tlast {
    tlast(T&& of, Bool&& end) : value(static_cast<T&&>(of)), last(static_cast<Bool&&>(end)) {}
    T value;
    Bool last;
};
template <typename T, typename Bool>
tlast(T&&, Bool&&) -> tlast<T&&, Bool&&>;

}  // namespace aie

namespace adf {

template <typename T>
input_stream<T>& operator>>(input_stream<T>& from, std::type_identity_t<T>& to) {
    to = readincr(&from);
    return from;
}
template <typename T, unsigned N>
input_stream<T>& operator>>(input_stream<T>& from, aie::vector<T, N>& to) {
    to = readincr_v<N>(&from);
    return from;
}
template <typename T, typename V, typename Bool>
input_stream<T>& operator>>(input_stream<T>& from, aie::tlast<V, Bool> to) {
    bool end = false;
    to.value = detail::get_words<std::remove_cvref_t<V>>(end);
    to.last = end;
    return from;
}
template <typename T, typename Tag, unsigned N>
input_cascade<T>& operator>>(input_cascade<T>& from, aie::accum<Tag, N>& to) {
    to = readincr_v<N>(&from);
    return from;
}
template <typename T, unsigned N>
input_cascade<T>& operator>>(input_cascade<T>& from, aie::vector<T, N>& to) {
    to = readincr_v<N>(&from);
    return from;
}
template <typename T, typename V>
output_stream<T>& operator<<(output_stream<T>& to, const V& value) {
    writeincr(&to, value);
    return to;
}
template <typename T, typename V, typename Bool>
output_stream<T>& operator<<(output_stream<T>& to, const aie::tlast<V, Bool>& value) {
    writeincr(&to, value.value, value.last);
    return to;
}
template <typename T, typename V>
output_cascade<T>& operator<<(output_cascade<T>& to, const V& value) {
    writeincr(&to, value);
    return to;
}

}  // namespace adf
