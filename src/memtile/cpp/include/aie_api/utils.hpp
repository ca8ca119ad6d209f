// Printing of vectors, accumulators and masks (UG1529, Utility functions).
#pragma once

#include <cstdio>

#include "detail/operands.hpp"

/// A check while a kernel runs, as AMD's vision library makes it: where it fails, the run ends with the message.
#define RUNTIME_ASSERT(condition, message)          \
    do {                                            \
        if (!(condition)) memtile::fail((message)); \
    } while (false)

namespace aie {

namespace detail {
template <typename T>
void print_number(const T& value) {
    if constexpr (is_complex_v<T>) {
        print_number(value.real);
        std::printf(" + i*");
        print_number(value.imag);
    } else if constexpr (is_floating_v<T>) {
        std::printf("%f", static_cast<double>(value));
    } else {
        std::printf("%lld", static_cast<long long>(widened(value)));
    }
}
inline void print_start(const char* prefix) {
    if (prefix != nullptr) std::printf("%s", prefix);
}
}  // namespace detail

template <typename T, unsigned N>
void print(const vector<T, N>& v, bool newline = false, const char* prefix = nullptr) {
    detail::print_start(prefix);
    for (unsigned at = 0; at < N; ++at) {
        detail::print_number(v.get(at));
        std::printf(" ");
    }
    if (newline) std::printf("\n");
}
template <typename Tag, unsigned N>
void print(const accum<Tag, N>& a, bool newline = false, const char* prefix = nullptr) {
    detail::print_start(prefix);
    for (unsigned at = 0; at < N; ++at) {
        detail::print_number(a.slots[at]);
        std::printf(" ");
    }
    if (newline) std::printf("\n");
}
template <unsigned N>
void print(const mask<N>& m, bool newline = false, const char* prefix = nullptr) {
    detail::print_start(prefix);
    for (unsigned at = 0; at < N; ++at) std::printf("%d ", m.test(at) ? 1 : 0);
    if (newline) std::printf("\n");
}

}  // namespace aie
