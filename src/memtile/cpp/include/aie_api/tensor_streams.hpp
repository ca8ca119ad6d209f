// Memory as a tensor of vectors, read or written in an order of its own (UG1529, Memory: tensor buffer streams; UG1603,
// Multi-dimensional Addressing).
//
// Dimensions stand outermost first; a step counts vectors. A stream has the three outermost dimensions and gives vectors
// if there are no others, else streams over the rest. Its outermost dimension has no end (DEV-AIEAPI-9).
#pragma once

#include <array>
#include <cstddef>

#include "load_store.hpp"

namespace aie {

/// So many steps of a dimension, of so many vectors each.
struct tensor_dim {
    constexpr tensor_dim() = default;
    constexpr tensor_dim(unsigned number, int by) : num(number), step(by) {}
    unsigned num = 1;
    int step = 0;
};

template <unsigned Rank, typename T, unsigned Elems>
class tensor_descriptor {
  public:
    static_assert(Rank > 0, "aie::tensor_descriptor: a tensor has at least one dimension");
    using type = T;
    using vector_type = vector<T, Elems>;
    static constexpr unsigned elems = Elems;
    static constexpr unsigned rank = Rank;

    constexpr tensor_descriptor() = default;
    /// `byte_steps`: steps count bytes.
    constexpr explicit tensor_descriptor(const std::array<tensor_dim, Rank>& of, bool byte_steps = false)
        : dims(of), unit(byte_steps ? 1 : int(sizeof(vector_type{}.slots))) {}

    std::array<tensor_dim, Rank> dims{};
    int unit = int(sizeof(vector_type{}.slots));
};

template <typename T, unsigned Elems, typename... Dims>
    requires(std::is_same_v<Dims, tensor_dim> && ...)
constexpr auto make_tensor_descriptor(const Dims&... dims) {
    return tensor_descriptor<sizeof...(Dims), T, Elems>({dims...});
}

template <typename T, unsigned Elems, unsigned Rank>
class tensor_buffer_stream {
    static constexpr unsigned outer = 3;
    static constexpr bool innermost = Rank <= outer;
    static constexpr unsigned own = innermost ? Rank : outer;
    using plain = std::remove_const_t<T>;

  public:
    using vector_type = vector<plain, Elems>;

    tensor_buffer_stream(T* from, const tensor_descriptor<Rank, plain, Elems>& order) : base(from), shape(order) {}

    /// The next vector, or the stream over the dimensions within the next step of this one.
    auto pop() {
        T* const from = next();
        if constexpr (innermost) {
            return load_v<Elems>(static_cast<const plain*>(from));
        } else {
            tensor_descriptor<Rank - outer, plain, Elems> inner;
            for (unsigned at = outer; at < Rank; ++at) inner.dims[at - outer] = shape.dims[at];
            inner.unit = shape.unit;
            return tensor_buffer_stream<T, Elems, Rank - outer>(from, inner);
        }
    }
    void push(const vector_type& value)
        requires(innermost && !std::is_const_v<T>)
    {
        store_v(next(), value);
    }
    tensor_buffer_stream& operator>>(vector_type& to)
        requires innermost
    {
        to = pop();
        return *this;
    }
    tensor_buffer_stream& operator<<(const vector_type& value)
        requires(innermost && !std::is_const_v<T>)
    {
        push(value);
        return *this;
    }

  private:
    T* next() {
        std::ptrdiff_t steps = 0;
        for (unsigned at = 0; at < own; ++at) steps += std::ptrdiff_t(index[at]) * shape.dims[at].step;
        ++index[own - 1];
        for (unsigned at = own - 1; at > 0 && index[at] >= shape.dims[at].num; --at) {
            index[at] = 0;
            ++index[at - 1];
        }
        using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
        return reinterpret_cast<T*>(reinterpret_cast<Byte*>(base) + steps * shape.unit);
    }

    T* base;
    tensor_descriptor<Rank, plain, Elems> shape;
    std::array<unsigned, own> index{};
};

#define MEMTILE_TENSOR_STREAM(name)                                                                                     \
    template <aie_dm_resource Resource = aie_dm_resource::none, typename T, unsigned Rank, unsigned Elems>              \
    auto name(T* from, const tensor_descriptor<Rank, std::remove_const_t<T>, Elems>& order) {                           \
        return tensor_buffer_stream<T, Elems, Rank>(from, order);                                                       \
    }
MEMTILE_TENSOR_STREAM(make_tensor_buffer_stream)
MEMTILE_TENSOR_STREAM(make_restrict_tensor_buffer_stream)
#undef MEMTILE_TENSOR_STREAM

}  // namespace aie
