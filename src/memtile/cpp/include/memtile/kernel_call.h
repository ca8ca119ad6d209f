// A call of a graph's kernel by the model: from plain numbers and pointers to what the kernel's parameters are.
//
// `adf/kernel_sources.py` writes a function `memtile_kernel_<id>` for each kernel. Its arguments are, parameter by
// parameter: a buffer or window has a pointer for each of its buffers and their bytes; an array or a reference that the
// kernel may write has a pointer; a number has its bits; a stream or cascade has nothing. A letter says which it is, in the
// graph and here: b buffer, a asynchronous buffer, w window, s stream, p pointer, v value.
#pragma once

#include "memtile/own_letters.h"
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "adf/buffers.h"
#include "adf/streams.h"
#include "adf/windows.h"

namespace memtile {

/// What a parameter of type P is made of: `arguments` of them, by the letter `kind`; `get` gives the parameter.
template <typename P>
struct Bound {
    static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= sizeof(std::int64_t) && !std::is_pointer_v<P>,
                  "a kernel of a graph has buffers, windows, streams, cascades, numbers of at most 8 bytes and arrays by "
                  "reference as parameters (UG1603)");
    static constexpr unsigned arguments = 1;
    static constexpr char kind = 'v';
    std::remove_const_t<P> value;
    Bound(const std::int64_t* given, unsigned) { std::memcpy(static_cast<void*>(&value), given, sizeof value); }
    P& get() { return value; }
};
template <typename T>
struct Bound<const T&> : Bound<T> {
    using Bound<T>::Bound;
};
template <typename T>
struct Bound<T&> {
    static constexpr unsigned arguments = 1;
    static constexpr char kind = 'p';
    T* place;
    Bound(const std::int64_t* given, unsigned) : place(reinterpret_cast<T*>(given[0])) {}
    T& get() { return *place; }
};
template <typename T, std::size_t N>
struct Bound<T (&)[N]> {
    static constexpr unsigned arguments = 1;
    static constexpr char kind = 'p';
    using Array = T[N];
    Array* place;
    Bound(const std::int64_t* given, unsigned) : place(reinterpret_cast<Array*>(given[0])) {}
    Array& get() { return *place; }
};
template <typename T, std::size_t N>
struct Bound<const T (&)[N]> {
    static constexpr unsigned arguments = 1;
    static constexpr char kind = 'p';
    using Array = const T[N];
    Array* place;
    Bound(const std::int64_t* given, unsigned) : place(reinterpret_cast<Array*>(given[0])) {}
    Array& get() { return *place; }
};
template <typename T, typename Way, typename Config>
struct Bound<adf::io_buffer<T, Way, Config>&> {
    static constexpr unsigned buffers = Config::is_async ? 2 : 1;
    static constexpr unsigned arguments = buffers + 1;
    static constexpr char kind = Config::is_async ? 'a' : 'b';
    adf::io_buffer<T, Way, Config> made;
    Bound(const std::int64_t* given, unsigned port)
        : made(port, reinterpret_cast<T*>(given[0]), reinterpret_cast<T*>(given[buffers - 1]),
               static_cast<std::size_t>(given[buffers])) {}
    auto& get() { return made; }
};
template <typename T, typename Way, typename Config>
struct Bound<const adf::io_buffer<T, Way, Config>&> : Bound<adf::io_buffer<T, Way, Config>&> {
    using Bound<adf::io_buffer<T, Way, Config>&>::Bound;
};
/// A window gets both buffers: whether its port is asynchronous is said by the graph, not by its type.
template <typename W>
    requires adf::detail::AnyWindow<W>
struct Bound<W*> {
    static constexpr unsigned arguments = 4;
    static constexpr char kind = 'w';
    using T = typename W::value_type;
    W made;
    Bound(const std::int64_t* given, unsigned port)
        : made(port, reinterpret_cast<T*>(given[0]), reinterpret_cast<T*>(given[1]), static_cast<std::size_t>(given[2]),
               given[3] != 0) {}
    W* get() { return &made; }
};
template <typename S>
    requires std::is_empty_v<S>
struct Bound<S*> {
    static constexpr unsigned arguments = 0;
    static constexpr char kind = 's';
    S made;
    Bound(const std::int64_t*, unsigned) {}
    S* get() { return &made; }
};
template <typename S>
    requires std::is_empty_v<S>
struct Bound<S&> : Bound<S*> {
    using Bound<S*>::Bound;
    S& get() { return this->made; }
};
template <typename S>
    requires std::is_same_v<S, adf::input_pktstream> || std::is_same_v<S, adf::output_pktstream>
struct Bound<S*> {
    static constexpr unsigned arguments = 0;
    static constexpr char kind = 's';
    S made;
    Bound(const std::int64_t*, unsigned port) : made{port} {}
    S* get() { return &made; }
};

namespace detail {

template <typename... P>
constexpr unsigned first_argument(unsigned parameter) {
    constexpr unsigned counts[] = {Bound<P>::arguments..., 0};
    unsigned first = 0;
    for (unsigned at = 0; at < parameter; ++at) first += counts[at];
    return first;
}

/// A parameter in its place: it is made where it stays, as buffers cannot be copied.
template <std::size_t At, typename P>
struct Placed : Bound<P> {
    Placed(const std::int64_t* given, unsigned first) : Bound<P>(given + first, At) {}
};
template <typename Places, typename... P>
struct AllPlaced;
template <std::size_t... At, typename... P>
struct AllPlaced<std::index_sequence<At...>, P...> : Placed<At, P>... {
    explicit AllPlaced(const std::int64_t* given) : Placed<At, P>(given, first_argument<P...>(At))... {}
    template <typename Call>
    void pass(const Call& call) {
        call(static_cast<P>(static_cast<Placed<At, P>&>(*this).get())...);
    }
};
template <char... Kinds>
struct Letters {
    template <typename... P>
    static constexpr bool are_of() {
        constexpr char wanted[] = {Kinds..., 0}, found[] = {Bound<P>::kind..., 0};
        if (sizeof...(Kinds) != sizeof...(P)) return false;
        for (std::size_t at = 0; at < sizeof...(P); ++at)
            if (wanted[at] != found[at]) return false;
        return true;
    }
};
template <typename Expected, typename... P, std::size_t N, typename Call>
void call_bound(const std::int64_t (&given)[N], const Call& call) {
    static_assert(Expected::template are_of<P...>() && N == first_argument<P...>(sizeof...(P)) + 1,
                  "the parameters of the kernel's function are not those that the graph has ports for");
    AllPlaced<std::index_sequence_for<P...>, P...>(given).pass(call);
}

}  // namespace detail

/// Call a function with what its parameters are, which the graph has as these letters; `given` ends with an unused number.
template <char... Kinds, typename R, typename... P, std::size_t N>
void call_kernel(R (*function)(P...), const std::int64_t (&given)[N]) {
    detail::call_bound<detail::Letters<Kinds...>, P...>(given, [&](P... each) { function(static_cast<P>(each)...); });
}
template <char... Kinds, typename Class, typename Base, typename R, typename... P, std::size_t N>
void call_kernel(Class& object, R (Base::*function)(P...), const std::int64_t (&given)[N]) {
    detail::call_bound<detail::Letters<Kinds...>, P...>(
        given, [&](P... each) { (object.*function)(static_cast<P>(each)...); });
}
template <char... Kinds, typename Class, typename Base, typename R, typename... P, std::size_t N>
void call_kernel(Class& object, R (Base::*function)(P...) const, const std::int64_t (&given)[N]) {
    detail::call_bound<detail::Letters<Kinds...>, P...>(
        given, [&](P... each) { (object.*function)(static_cast<P>(each)...); });
}

}  // namespace memtile

#include "memtile/users_letters.h"
