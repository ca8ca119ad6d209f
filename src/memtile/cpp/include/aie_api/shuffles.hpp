// Elements in other places (UG1529, Reshaping): shifts, rotations, filters, zips, transposes.
#pragma once

#include "load_store.hpp"

namespace aie {

namespace detail {

/// The vector whose element i is `v`'s element `from(i)`, or `otherwise(i)` where that is no place.
template <typename T, unsigned N, typename From, typename Otherwise>
constexpr vector<T, N> placed(const vector<T, N>& v, From from, Otherwise otherwise) {
    memtile::count(memtile::Unit::shuffle, instructions(v.bits()));
    return each<T, N>([&](unsigned at) {
        const int64_t place = from(at);
        return place >= 0 && place < N ? v.get(static_cast<unsigned>(place)) : otherwise(at, place);
    });
}

}  // namespace detail

/// Element i to place i + n. What comes in below is undefined on the hardware, 0 here.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_up(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t(at) - n; }, [](unsigned, int64_t) { return T(0); });
}
/// Element i to place i - n. What comes in above is undefined on the hardware, 0 here.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_down(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t(at) + n; }, [](unsigned, int64_t) { return T(0); });
}
/// Up by n; the last n elements of `fill` come in below.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_up_fill(const vector<T, N>& v, const vector<T, N>& fill, unsigned n) {
    return detail::placed(
        v, [=](unsigned at) { return int64_t(at) - n; },
        [&](unsigned, int64_t place) { return fill.get(static_cast<unsigned>(place + N)); });
}
/// Down by n; the first n elements of `fill` come in above.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_down_fill(const vector<T, N>& v, const vector<T, N>& fill, unsigned n) {
    return detail::placed(
        v, [=](unsigned at) { return int64_t(at) + n; },
        [&](unsigned, int64_t place) { return fill.get(static_cast<unsigned>(place - N)); });
}
/// Up by n; the first element comes in below.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_up_replicate(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t(at) - n; }, [&](unsigned, int64_t) { return v.get(0); });
}
/// Down by n; the last element comes in above.
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_down_replicate(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t(at) + n; },
                          [&](unsigned, int64_t) { return v.get(N - 1); });
}
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_up_rotate(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t((at + N - n % N) % N); },
                          [](unsigned, int64_t) { return T(0); });
}
template <typename T, unsigned N>
constexpr vector<T, N> shuffle_down_rotate(const vector<T, N>& v, unsigned n) {
    return detail::placed(v, [=](unsigned at) { return int64_t((at + n) % N); }, [](unsigned, int64_t) { return T(0); });
}
template <typename T, unsigned N>
constexpr vector<T, N> reverse(const vector<T, N>& v) {
    return detail::placed(v, [](unsigned at) { return int64_t(N) - 1 - at; }, [](unsigned, int64_t) { return T(0); });
}

namespace detail {
// Of chunks of `step` elements every second one: the even ones (odd = 0) or the odd ones.
template <typename T, unsigned N>
constexpr vector<T, N / 2> filtered(const vector<T, N>& v, unsigned step, unsigned odd) {
    memtile::count(memtile::Unit::shuffle, instructions(v.bits()));
    return each<T, N / 2>([&](unsigned at) { return v.get((at / step * 2 + odd) * step + at % step); });
}
}  // namespace detail

template <typename T, unsigned N>
constexpr vector<T, N / 2> filter_even(const vector<T, N>& v, unsigned step = 1) {
    return detail::filtered(v, step, 0);
}
template <typename T, unsigned N>
constexpr vector<T, N / 2> filter_odd(const vector<T, N>& v, unsigned step = 1) {
    return detail::filtered(v, step, 1);
}

/// Chunks of `step` elements of both vectors in turn: the lower and the upper half of the result.
template <typename T, unsigned N>
constexpr std::pair<vector<T, N>, vector<T, N>> interleave_zip(const vector<T, N>& a, const vector<T, N>& b, unsigned step = 1) {
    memtile::count(memtile::Unit::shuffle, 2 * detail::instructions(a.bits()));
    vector<T, N> halves[2];
    for (unsigned at = 0; at < 2 * N; ++at) {
        const unsigned chunk = at / step;
        const unsigned from = chunk / 2 * step + at % step;
        halves[at / N].set(chunk % 2 == 0 ? a.get(from) : b.get(from), at % N);
    }
    return {halves[0], halves[1]};
}
/// Even chunks of `step` elements of a and b behind each other, and the odd ones.
template <typename T, unsigned N>
constexpr std::pair<vector<T, N>, vector<T, N>> interleave_unzip(const vector<T, N>& a, const vector<T, N>& b, unsigned step = 1) {
    const auto both = concat(a, b);
    return {detail::filtered(both, step, 0), detail::filtered(both, step, 1)};
}

/// A matrix of rows x cols, row by row, as the matrix of cols x rows.
template <typename T, unsigned N>
constexpr vector<T, N> transpose(const vector<T, N>& v, unsigned rows, unsigned cols) {
    return detail::placed(v, [=](unsigned at) { return int64_t(at % rows * cols + at / rows); },
                          [](unsigned, int64_t) { return T(0); });
}

namespace detail {
// Kernels of mlir-aie name this class.
template <typename T, unsigned N>
struct transpose {
    static constexpr vector<T, N> run(const vector<T, N>& v, unsigned rows, unsigned cols) {
        return aie::transpose(v, rows, cols);
    }
};
}  // namespace detail

}  // namespace aie
