// Parameters of a kernel's function as ports: direction, kind, element and size by the C++ type.
//
// Sources: UG1603, Kernel Function Signatures; Run-Time Graph Control API (parameters by value, by reference, arrays).
#pragma once

#include "../buffers.h"
#include "../streams.h"
#include "../windows.h"
#include "ports.h"

namespace adf::detail {

/// What a parameter's type says of its port.
struct Shape {
    const char* way = "in";
    const char* kind = "parameter";
    std::string element;
    std::size_t element_bytes = 0;
    std::vector<unsigned> dimensions;
    unsigned margin_elements = 0;
    bool is_async = false;
    bool is_circular = false;
};

template <typename T>
Shape shape_of(const char* way, const char* kind) {
    return {way, kind, recorder::element<T>::name(), recorder::bytes_of<T>(), {}, 0, false, false};
}

template <typename T>
inline constexpr bool is_never = false;

/// A type that no kernel may have as a parameter does not compile.
template <typename T>
struct argument {
    static_assert(std::is_arithmetic_v<T> || std::is_class_v<T> || std::is_enum_v<T>,
                  "a kernel's parameter is a buffer by reference, a stream, cascade or window by pointer, or a number");
    static Shape shape() { return shape_of<T>("in", "parameter"); }
};
template <typename T>
struct argument<const T> : argument<T> {};
template <typename T>
struct argument<T&> {
    static Shape shape() { return shape_of<T>("inout", "parameter"); }
};
template <typename T>
struct argument<const T&> {
    static Shape shape() { return shape_of<T>("in", "parameter"); }
};
template <typename T, std::size_t N>
Shape array_shape(const char* way) {
    Shape shape = shape_of<T>(way, "parameter_array");
    shape.dimensions = {static_cast<unsigned>(N)};
    return shape;
}
template <typename T, std::size_t N>
struct argument<T (&)[N]> {
    static Shape shape() { return array_shape<T, N>("inout"); }
};
template <typename T, std::size_t N>
struct argument<const T (&)[N]> {
    static Shape shape() { return array_shape<T, N>("in"); }
};
#define MEMTILE_POINTED(type, way, kind)                                          \
    template <typename T>                                                         \
    struct argument<type<T>*> {                                                   \
        static Shape shape() { return shape_of<T>(#way, kind); }        \
    };                                                                            \
    template <typename T>                                                         \
    struct argument<type<T>&> : argument<type<T>*> {};
MEMTILE_POINTED(input_stream, in, "stream")
MEMTILE_POINTED(output_stream, out, "stream")
MEMTILE_POINTED(input_cascade, in, "cascade")
MEMTILE_POINTED(output_cascade, out, "cascade")
MEMTILE_POINTED(input_window, in, "window")
MEMTILE_POINTED(output_window, out, "window")
#undef MEMTILE_POINTED
template <>
struct argument<input_pktstream*> {
    static Shape shape() { return shape_of<int32>("in", "packet_stream"); }
};
template <>
struct argument<output_pktstream*> {
    static Shape shape() { return shape_of<int32>("out", "packet_stream"); }
};

template <typename E>
struct extents_of;
template <unsigned... Sizes>
struct extents_of<extents<Sizes...>> {
    static std::vector<unsigned> known() {
        if constexpr (((Sizes != inherited_extent) && ...)) return {Sizes...};
        else return {};
    }
};
template <typename T, typename D, typename C>
struct argument<io_buffer<T, D, C>&> {
    static Shape shape() {
        Shape shape = shape_of<T>(way<D>, C::is_async ? "async_buffer" : "buffer");
        shape.dimensions = extents_of<typename C::extents_type>::known();
        shape.margin_elements = C::margin_elements;
        shape.is_async = C::is_async;
        shape.is_circular = C::is_circular;
        return shape;
    }
};
template <typename T, typename D, typename C>
struct argument<const io_buffer<T, D, C>&> : argument<io_buffer<T, D, C>&> {};

/// A type as C++ text.
template <typename T>
struct type_text {
    static std::string text() { return recorder::element<T>::name(); }
};
template <typename T>
struct type_text<const T> {
    static std::string text() { return "const " + type_text<T>::text(); }
};
template <typename T>
struct type_text<T&> {
    static std::string text() { return type_text<T>::text() + "&"; }
};
template <typename T>
struct type_text<T*> {
    static std::string text() { return type_text<T>::text() + "*"; }
};
template <typename T, std::size_t N>
struct type_text<T (&)[N]> {
    static std::string text() { return type_text<T>::text() + " (&)[" + std::to_string(N) + "]"; }
};

}  // namespace adf::detail
