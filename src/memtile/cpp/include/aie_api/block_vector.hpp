// Block floating point of AIE2P: eight numbers that share an exponent (`bfp16ebs8`), in vectors and buffer streams.
//
// A block is 9 bytes: the exponent, biased by 127, then eight signed bytes in 64ths, each byte / 64 *
// 2**(exponent - 127) (mlir-aie, block_datatypes, helper.h). From floats: the greatest exponent of the eight, the
// others rounded by the mode of the core; what does not fit becomes the greatest byte (DEV-KERNEL-6).
#pragma once

#include "detail/operands.hpp"

/// One block of a buffer: a pointer to it steps by eight numbers and has no alignment beyond a byte.
struct bfp16ebs8 {
    uint8_t bytes[9];
};

namespace aie {

namespace detail {

template <typename T>
inline constexpr bool is_block_v = std::is_same_v<T, bfp16ebs8>;

inline constexpr unsigned block_size = 8;
inline constexpr unsigned block_bytes = block_size + 1;
inline constexpr int block_bias = 127;
inline constexpr int block_fraction_bits = 6;
inline constexpr int block_most = 254;

/// The exponent field of a float's magnitude: 0 for zero, the greatest finite one for what is larger.
inline int block_exponent(float value) {
    if (value == 0) return 0;
    if (std::isinf(value) || std::isnan(value)) return block_most;
    return std::clamp(std::ilogb(value) + block_bias, 0, block_most);
}

inline int8_t block_part(float value, int exponent, rounding_mode mode) {
    if (std::isnan(value)) return 0;
    const double scaled = std::clamp(std::ldexp(static_cast<double>(value), block_bias + block_fraction_bits - exponent), -1024.0, 1024.0);
    const double down = std::floor(scaled);
    const double rest = scaled - down;
    const int whole = static_cast<int>(down);
    const int rounded = whole + rounds_up(mode, whole & 1, scaled < 0, rest > 0.5, rest == 0.5, rest != 0);
    return static_cast<int8_t>(std::clamp(rounded, -128, 127));
}

}  // namespace detail

/// N numbers in blocks of eight.
template <typename Block, unsigned N>
class [[gnu::may_alias]] block_vector {
    static_assert(detail::is_block_v<Block>, "aie::block_vector: the type of blocks is bfp16ebs8");
    static_assert(N % detail::block_size == 0, "aie::block_vector: a vector has a whole number of blocks");

  public:
    using value_type = Block;
    static constexpr unsigned blocks = N / detail::block_size;

    static constexpr unsigned size() { return N; }
    static constexpr unsigned bits() { return 8 * blocks * detail::block_bytes; }

    /// The number at place `at`, exactly.
    float get(unsigned at) const {
        const uint8_t* block = bytes + at / detail::block_size * detail::block_bytes;
        const int part = static_cast<int8_t>(block[1 + at % detail::block_size]);
        return static_cast<float>(std::ldexp(part, block[0] - detail::block_bias - detail::block_fraction_bits));
    }
    int exponent(unsigned block) const { return bytes[block * detail::block_bytes]; }

    static block_vector of(const accum<accfloat, N>& from) {
        memtile::count(memtile::Unit::convert, detail::instructions(bits()));
        const rounding_mode mode = get_rounding();
        block_vector made;
        for (unsigned block = 0; block < blocks; ++block) {
            const float* values = from.slots + block * detail::block_size;
            int exponent = 0;
            for (unsigned at = 0; at < detail::block_size; ++at)
                exponent = std::max(exponent, detail::block_exponent(values[at]));
            uint8_t* to = made.bytes + block * detail::block_bytes;
            to[0] = static_cast<uint8_t>(exponent);
            for (unsigned at = 0; at < detail::block_size; ++at)
                to[1 + at] = static_cast<uint8_t>(detail::block_part(values[at], exponent, mode));
        }
        return made;
    }

    template <unsigned M>
    block_vector<Block, M> extract(unsigned part) const {
        block_vector<Block, M> found;
        std::memcpy(found.bytes, bytes + part * sizeof found.bytes, sizeof found.bytes);
        return found;
    }
    template <unsigned M>
    block_vector& insert(unsigned part, const block_vector<Block, M>& other) {
        std::memcpy(bytes + part * sizeof other.bytes, other.bytes, sizeof other.bytes);
        return *this;
    }

    uint8_t bytes[blocks * detail::block_bytes] = {};
};

/// Vectors of blocks one after another from memory, which need no alignment.
template <typename Block, unsigned N>
class block_vector_input_buffer_stream {
  public:
    using value_type = block_vector<Block, N>;
    explicit block_vector_input_buffer_stream(const Block* from) : at(reinterpret_cast<const uint8_t*>(from)) {}

    value_type pop() {
        value_type found;
        memtile::before_load(at, sizeof found.bytes, 1);
        std::memcpy(found.bytes, at, sizeof found.bytes);
        at += sizeof found.bytes;
        return found;
    }
    /// One vector, then over `number` more.
    value_type pop_seek(int number) {
        const value_type found = pop();
        seek(number);
        return found;
    }
    block_vector_input_buffer_stream& seek(int number) {
        at += number * static_cast<int>(sizeof(value_type));
        return *this;
    }
    friend block_vector_input_buffer_stream& operator>>(block_vector_input_buffer_stream& from, value_type& to) {
        to = from.pop();
        return from;
    }

  private:
    const uint8_t* at;
};

/// Vectors of blocks one after another into memory.
template <typename Block, unsigned N>
class block_vector_output_buffer_stream {
  public:
    using value_type = block_vector<Block, N>;
    explicit block_vector_output_buffer_stream(Block* to) : at(reinterpret_cast<uint8_t*>(to)) {}

    void push(const value_type& value) {
        memtile::before_store(at, sizeof value.bytes, 1);
        std::memcpy(at, value.bytes, sizeof value.bytes);
        at += sizeof value.bytes;
    }
    block_vector_output_buffer_stream& seek(int number) {
        at += number * static_cast<int>(sizeof(value_type));
        return *this;
    }
    friend block_vector_output_buffer_stream& operator<<(block_vector_output_buffer_stream& to, const value_type& value) {
        to.push(value);
        return to;
    }

  private:
    uint8_t* at;
};

}  // namespace aie

using v64bfp16ebs8 = aie::block_vector<bfp16ebs8, 64>;
using v128bfp16ebs8 = aie::block_vector<bfp16ebs8, 128>;
