// Memory as a range of vectors (UG1529, Memory: vector iterators; UG1603, buffer streams).
#pragma once

#include <iterator>

#include "load_store.hpp"

namespace aie {

namespace detail {

/// Steps by whole vectors. `*it` is the vector in memory, to read and, unless const, to write.
template <typename T, unsigned N>
class vector_iterator {
  public:
    using plain = std::remove_const_t<T>;
    using value_type = vector<plain, N>;
    using reference = std::conditional_t<std::is_const_v<T>, const value_type&, value_type&>;
    using pointer = std::remove_reference_t<reference>*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;

    vector_iterator() = default;
    explicit vector_iterator(T* from) : at(from) {}

    reference operator*() const {
        memtile::count(memtile::Unit::load, instructions(value_type::bits()));
        memtile::check_aligned(at, access_alignment(value_type::bits() / 8));
        return *reinterpret_cast<pointer>(at);
    }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type by) const { return *(*this + by); }
    vector_iterator& operator++() { return *this += 1; }
    vector_iterator& operator--() { return *this -= 1; }
    vector_iterator operator++(int) {
        const vector_iterator before = *this;
        ++*this;
        return before;
    }
    vector_iterator operator--(int) {
        const vector_iterator before = *this;
        --*this;
        return before;
    }
    vector_iterator& operator+=(difference_type by) {
        at += by * difference_type(is_packed_v<plain> ? N / 2 : N);
        return *this;
    }
    vector_iterator& operator-=(difference_type by) { return *this += -by; }
    friend vector_iterator operator+(vector_iterator it, difference_type by) { return it += by; }
    friend vector_iterator operator+(difference_type by, vector_iterator it) { return it += by; }
    friend vector_iterator operator-(vector_iterator it, difference_type by) { return it -= by; }
    friend difference_type operator-(vector_iterator a, vector_iterator b) {
        return (a.at - b.at) / difference_type(is_packed_v<plain> ? N / 2 : N);
    }
    auto operator<=>(const vector_iterator&) const = default;
    explicit operator bool() const { return at != nullptr; }

  private:
    T* at = nullptr;
};

/// Steps by whole vectors from any multiple of `aligned_elems` elements, to read and to write through `*it`.
template <typename T, unsigned N>
class unaligned_iterator {
  public:
    using value_type = vector<std::remove_const_t<T>, N>;
    class reference {
      public:
        reference(T* from, unsigned elems) : at(from), aligned_elems(elems) {}
        operator value_type() const { return load_unaligned_v<N>(at, aligned_elems); }
        const reference& operator=(const value_type& value) const
            requires(!std::is_const_v<T>)
        {
            store_unaligned_v(at, value, aligned_elems);
            return *this;
        }

      private:
        T* at;
        unsigned aligned_elems;
    };
    unaligned_iterator(T* from, unsigned elems) : at(from), aligned_elems(elems) {}
    reference operator*() const { return {at, aligned_elems}; }
    unaligned_iterator& operator++() {
        at += N;
        return *this;
    }
    unaligned_iterator operator++(int) {
        const unaligned_iterator before = *this;
        ++*this;
        return before;
    }
    unaligned_iterator& operator+=(std::ptrdiff_t by) {
        at += by * std::ptrdiff_t(N);
        return *this;
    }
    bool operator==(const unaligned_iterator&) const = default;

  private:
    T* at;
    unsigned aligned_elems;
};

/// Steps by whole vectors within `elements` elements, then from the beginning again.
template <typename T, unsigned N>
class circular_iterator {
  public:
    using value_type = vector<std::remove_const_t<T>, N>;
    circular_iterator(T* from, unsigned elements) : begin(from), number(elements / N) {}
    auto& operator*() const { return *(vector_iterator<T, N>(begin) + index); }
    circular_iterator& operator++() { return *this += 1; }
    circular_iterator operator++(int) {
        const circular_iterator before = *this;
        ++*this;
        return before;
    }
    circular_iterator& operator--() { return *this += -1; }
    circular_iterator operator--(int) {
        const circular_iterator before = *this;
        --*this;
        return before;
    }
    auto& operator[](std::ptrdiff_t by) const { return *(*this + by); }
    circular_iterator& operator+=(std::ptrdiff_t by) {
        const std::ptrdiff_t all = number;
        index = ((index + by) % all + all) % all;
        return *this;
    }
    circular_iterator& operator-=(std::ptrdiff_t by) { return *this += -by; }
    friend circular_iterator operator+(circular_iterator it, std::ptrdiff_t by) { return it += by; }
    friend circular_iterator operator-(circular_iterator it, std::ptrdiff_t by) { return it += -by; }
    bool operator==(const circular_iterator&) const = default;

  private:
    T* begin;
    unsigned number;
    std::ptrdiff_t index = 0;
};

/// Steps by elements within `elements` elements, then from the beginning again, and the other way round.
template <typename T>
class circular_scalar {
  public:
    using value_type = std::remove_const_t<T>;
    circular_scalar(T* from, unsigned elements) : begin(from), number(elements) {}
    T& operator*() const { return begin[index]; }
    T& operator[](std::ptrdiff_t by) const { return *(*this + by); }
    circular_scalar& operator++() { return *this += 1; }
    circular_scalar& operator--() { return *this += -1; }
    circular_scalar operator++(int) {
        const circular_scalar before = *this;
        ++*this;
        return before;
    }
    circular_scalar operator--(int) {
        const circular_scalar before = *this;
        --*this;
        return before;
    }
    circular_scalar& operator+=(std::ptrdiff_t by) {
        const std::ptrdiff_t all = number;
        index = ((index + by) % all + all) % all;
        return *this;
    }
    circular_scalar& operator-=(std::ptrdiff_t by) { return *this += -by; }
    friend circular_scalar operator+(circular_scalar it, std::ptrdiff_t by) { return it += by; }
    friend circular_scalar operator-(circular_scalar it, std::ptrdiff_t by) { return it += -by; }
    bool operator==(const circular_scalar&) const = default;

  private:
    T* begin;
    unsigned number;
    std::ptrdiff_t index = 0;
};

}  // namespace detail

#define MEMTILE_ITERATOR(name)                                                                     \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>            \
    auto name(T* from) {                                                                           \
        return detail::vector_iterator<T, N>(from);                                                \
    }                                                                                              \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>            \
    auto c##name(const T* from) {                                                                  \
        return detail::vector_iterator<const T, N>(from);                                          \
    }
MEMTILE_ITERATOR(begin_vector)
MEMTILE_ITERATOR(begin_restrict_vector)
#undef MEMTILE_ITERATOR
template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>
auto begin_unaligned_vector(T* from, unsigned aligned_elems = 1) {
    static_assert(!detail::is_packed_v<std::remove_const_t<T>>, "aie: numbers of 4 bits have no unaligned iterators");
    return detail::unaligned_iterator<T, N>(from, aligned_elems);
}
template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>
auto begin_restrict_unaligned_vector(T* from, unsigned aligned_elems = 1) {
    return begin_unaligned_vector<N>(from, aligned_elems);
}
#define MEMTILE_CIRCULAR(name)                                                                     \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>            \
    auto name(T* from, unsigned elements) {                                                        \
        return detail::circular_iterator<T, N>(from, elements);                                    \
    }                                                                                              \
    template <unsigned N, unsigned Elements, aie_dm_resource Resource = aie_dm_resource::none, typename T> \
    auto name(T* from) {                                                                           \
        return detail::circular_iterator<T, N>(from, Elements);                                    \
    }                                                                                              \
    template <unsigned N, aie_dm_resource Resource = aie_dm_resource::none, typename T>            \
    auto c##name(const T* from, unsigned elements) {                                               \
        return detail::circular_iterator<const T, N>(from, elements);                              \
    }                                                                                              \
    template <unsigned N, unsigned Elements, aie_dm_resource Resource = aie_dm_resource::none, typename T> \
    auto c##name(const T* from) {                                                                  \
        return detail::circular_iterator<const T, N>(from, Elements);                              \
    }
MEMTILE_CIRCULAR(begin_vector_circular)
MEMTILE_CIRCULAR(begin_vector_random_circular)
#undef MEMTILE_CIRCULAR
#define MEMTILE_CIRCULAR_SCALAR(name)                                                              \
    template <aie_dm_resource Resource = aie_dm_resource::none, typename T>                        \
    auto name(T* from, std::size_t elements) {                                                     \
        return detail::circular_scalar<T>(from, static_cast<unsigned>(elements));                  \
    }                                                                                              \
    template <unsigned Elements, aie_dm_resource Resource = aie_dm_resource::none, typename T>     \
    auto name(T* from) {                                                                           \
        return detail::circular_scalar<T>(from, Elements);                                         \
    }                                                                                              \
    template <aie_dm_resource Resource = aie_dm_resource::none, typename T>                        \
    auto c##name(const T* from, std::size_t elements) {                                            \
        return detail::circular_scalar<const T>(from, static_cast<unsigned>(elements));            \
    }                                                                                              \
    template <unsigned Elements, aie_dm_resource Resource = aie_dm_resource::none, typename T>     \
    auto c##name(const T* from) {                                                                  \
        return detail::circular_scalar<const T>(from, Elements);                                   \
    }
MEMTILE_CIRCULAR_SCALAR(begin_circular)
MEMTILE_CIRCULAR_SCALAR(begin_random_circular)
#undef MEMTILE_CIRCULAR_SCALAR

// The types of circular iterators whose number of elements is known (AIE API, iterator.hpp).
#define MEMTILE_CIRCULAR_CLASS(name, base)                                                         \
    template <typename T, std::size_t Elements, aie_dm_resource Resource = aie_dm_resource::none>  \
    class name : public detail::base<T> {                                                          \
      public:                                                                                      \
        explicit name(T* from) : detail::base<T>(from, Elements) {}                                \
    };                                                                                             \
    template <typename T, unsigned N, std::size_t Elements, aie_dm_resource Resource = aie_dm_resource::none> \
    class vector_##name : public detail::circular_iterator<T, N> {                                 \
      public:                                                                                      \
        explicit vector_##name(T* from) : detail::circular_iterator<T, N>(from, Elements) {}       \
    };
MEMTILE_CIRCULAR_CLASS(circular_iterator, circular_scalar)
MEMTILE_CIRCULAR_CLASS(random_circular_iterator, circular_scalar)
#undef MEMTILE_CIRCULAR_CLASS

/// Vectors one after another from memory.
template <typename T, unsigned N, aie_dm_resource Resource = aie_dm_resource::none>
class input_buffer_stream {
  public:
    using value_type = vector<T, N>;
    explicit input_buffer_stream(const T* from) : at(from) {}
    value_type pop() {
        const value_type found = load_v<N>(at);
        at += detail::slots_v<T, N>;
        return found;
    }
    input_buffer_stream& seek(int number) {
        at += number * static_cast<int>(detail::slots_v<T, N>);
        return *this;
    }
    friend input_buffer_stream& operator>>(input_buffer_stream& from, value_type& to) {
        to = from.pop();
        return from;
    }

  private:
    const T* at;
};

/// Vectors one after another into memory.
template <typename T, unsigned N, aie_dm_resource Resource = aie_dm_resource::none>
class output_buffer_stream {
  public:
    using value_type = vector<T, N>;
    explicit output_buffer_stream(T* to) : at(to) {}
    void push(const value_type& value) {
        store_v(at, value);
        at += detail::slots_v<T, N>;
    }
    output_buffer_stream& seek(int number) {
        at += number * static_cast<int>(detail::slots_v<T, N>);
        return *this;
    }
    friend output_buffer_stream& operator<<(output_buffer_stream& to, const value_type& value) {
        to.push(value);
        return to;
    }

  private:
    T* at;
};

}  // namespace aie
