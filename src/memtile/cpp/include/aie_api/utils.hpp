// Printing of vectors, accumulators and masks, and loops that are written out (UG1529, Utility functions).
#pragma once

#include <cstdio>

#include "detail/operands.hpp"

/// Ends the run with a message where a condition does not hold, as kernels of Vitis Libraries ask for it.
#undef RUNTIME_ASSERT
#define RUNTIME_ASSERT(condition, message) ((condition) ? void() : memtile::fail(message))

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

/// fn(Start), fn(Start + Step), ... below End; the number is a constant of its own type each time.
template <typename T, T Start, T End, T Step = 1, typename Fn>
constexpr void unroll_for(Fn&& fn) {
    if constexpr (Step > 0 ? Start < End : Start > End) {
        fn(std::integral_constant<T, Start>{});
        unroll_for<T, static_cast<T>(Start + Step), End, Step>(fn);
    }
}
/// The same over rows and columns, row by row.
template <typename T, T StartY, T EndY, T StepY, T StartX, T EndX, T StepX, typename Fn>
constexpr void unroll_for_2d(Fn&& fn) {
    unroll_for<T, StartY, EndY, StepY>([&](auto y) { unroll_for<T, StartX, EndX, StepX>([&](auto x) { fn(y, x); }); });
}
/// fn() or fn(0), fn(1), ... so many times.
template <unsigned Times, typename Fn>
constexpr void unroll_times(Fn&& fn) {
    unroll_for<unsigned, 0, Times>([&](auto at) {
        if constexpr (std::is_invocable_v<Fn&, decltype(at)>) fn(at);
        else fn();
    });
}

}  // namespace aie
