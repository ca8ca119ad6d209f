// Stages of decimation-in-time FFTs of radix 2 and 4 (UG1529, Fast Fourier Transform).
//
// A stage of vectorization V joins transforms of n / (Radix * V) points, in Stockham's order: point k * V + s of the q-th
// part of the output is the sum over p of x[(k * Radix + p) * V + s] * tw[p][k] * exp(-2i pi p q / Radix). The products and
// the first point, shifted up by `shift_tw`, are summed in one lane, which is shifted down by `shift`, rounded and
// saturated once, by the modes of the core (DEV-AIEAPI-10).
#pragma once

#include "mul.hpp"

namespace aie {

namespace detail {

/// i**quarters * value.
template <typename Part>
constexpr complex_number<Part> turned(const complex_number<Part>& value, unsigned quarters) {
    const Part real = value.real, imag = value.imag, zero = 0;
    switch (quarters % 4) {
        case 0: return {real, imag};
        case 1: return {static_cast<Part>(zero - imag), real};
        case 2: return {static_cast<Part>(zero - real), static_cast<Part>(zero - imag)};
        default: return {imag, static_cast<Part>(zero - real)};
    }
}

/// What a stage is called with, beside its data.
struct FftStage {
    unsigned n;
    unsigned vectorization;
    unsigned shift_tw;
    unsigned shift;
    bool inv;
};

/// A stage; `tables` are the twiddles of the powers 1, 2, 3.
template <typename Input, typename Output, typename Twiddle, std::size_t Others>
void fft_stage(const FftStage& of, const Input* x, const std::array<const Twiddle*, Others>& tables, Output* out) {
    using Slot = std::conditional_t<is_floating_v<Input>, cfloat, cint64>;
    using Part = typename Slot::part_type;
    constexpr unsigned radix = Others + 1;
    const unsigned points = of.n / radix, step = of.vectorization;
    if (step == 0 || of.n % (radix * step) != 0)
        memtile::fail("a stage of an FFT takes a number of points that is a multiple of its radix times its vectorization");
    memtile::before_load(x, of.n * sizeof(Input), alignof(Input));
    for (const Twiddle* table : tables) memtile::before_load(table, points / step * sizeof(Twiddle), alignof(Twiddle));
    memtile::before_store(out, of.n * sizeof(Output), alignof(Output));
    count_macs<Input, Twiddle>(of.n * radix);
    const rounding_mode rounding = get_rounding();
    const saturation_mode saturation = get_saturation();
    for (unsigned point = 0; point < points; ++point) {
        const unsigned k = point / step;
        const Input* first = x + k * radix * step + point % step;
        const auto factor = [&](unsigned p) {  // wide: -32768 has no opposite in 16 bits
            const Part imag = static_cast<Part>(tables[p - 1][k].imag);
            return Slot(static_cast<Part>(tables[p - 1][k].real), of.inv ? -imag : imag);
        };
        for (unsigned q = 0; q < radix; ++q) {
            Slot sum = to_lane<Slot>(*first, true, static_cast<int>(of.shift_tw));
            for (unsigned p = 1; p < radix; ++p) {
                const unsigned quarters = p * q * (4 / radix);
                const auto term = product<Slot>(first[p * step], factor(p));
                sum = lane_sum(sum, turned(term, of.inv ? quarters : 3 * quarters), false);
            }
            out[q * points + point] = from_lane<Output>(sum, true, static_cast<int>(of.shift), rounding, saturation);
        }
    }
}

template <typename T>
concept Complex = is_complex_v<T>;

}  // namespace detail

// The vectorization is a template value, or an argument behind the number of points. Floats have no shifts. Tables of
// radix 4 are those of the powers 2, 1 and 3.
template <unsigned Vectorization, detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r2_stage(const Input* x, const Twiddle* tw, unsigned n, unsigned shift_tw, unsigned shift, bool inv, Output* out) {
    detail::fft_stage({n, Vectorization, shift_tw, shift, inv}, x, std::array{tw}, out);
}
template <unsigned Vectorization, detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r2_stage(const Input* x, const Twiddle* tw, unsigned n, bool inv, Output* out) {
    detail::fft_stage({n, Vectorization, 0, 0, inv}, x, std::array{tw}, out);
}
template <detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r2_stage(const Input* x, const Twiddle* tw, unsigned n, unsigned vectorization, unsigned shift_tw,
                      unsigned shift, bool inv, Output* out) {
    detail::fft_stage({n, vectorization, shift_tw, shift, inv}, x, std::array{tw}, out);
}
template <detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r2_stage(const Input* x, const Twiddle* tw, unsigned n, unsigned vectorization, bool inv, Output* out) {
    detail::fft_stage({n, vectorization, 0, 0, inv}, x, std::array{tw}, out);
}
template <unsigned Vectorization, detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r4_stage(const Input* x, const Twiddle* tw0, const Twiddle* tw1, const Twiddle* tw2, unsigned n,
                      unsigned shift_tw, unsigned shift, bool inv, Output* out) {
    detail::fft_stage({n, Vectorization, shift_tw, shift, inv}, x, std::array{tw1, tw0, tw2}, out);
}
template <detail::Complex Input, detail::Complex Output, detail::Complex Twiddle>
void fft_dit_r4_stage(const Input* x, const Twiddle* tw0, const Twiddle* tw1, const Twiddle* tw2, unsigned n,
                      unsigned vectorization, unsigned shift_tw, unsigned shift, bool inv, Output* out) {
    detail::fft_stage({n, vectorization, shift_tw, shift, inv}, x, std::array{tw1, tw0, tw2}, out);
}

}  // namespace aie
