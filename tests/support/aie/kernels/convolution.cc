// A line of 256 int16 numbers through three taps: Q14 weights, halves to even, saturated; beyond the ends is 0.
#include <aie_api/aie.hpp>

constexpr unsigned width = 256, lanes = 16, fraction = 14;

extern "C" void convolve_i16(int16_t *restrict line, int16_t *restrict weights, int16_t *restrict out) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    aie::set_saturation(aie::saturation_mode::saturate);
    aie::vector<int16_t, 8> taps = aie::zeros<int16_t, 8>();
    for (unsigned tap = 0; tap < 3; ++tap) taps[tap] = weights[tap];
    aie::vector<int16_t, lanes> before = aie::zeros<int16_t, lanes>();
    aie::vector<int16_t, lanes> here = aie::load_v<lanes>(line);
    for (unsigned at = 0; at < width; at += lanes) {
        const aie::vector<int16_t, lanes> after =
            at + lanes < width ? aie::load_v<lanes>(line + at + lanes) : aie::zeros<int16_t, lanes>();
        const auto left = aie::shuffle_up_fill(here, before, 1);
        const auto right = aie::shuffle_down_fill(here, after, 1);
        const auto sum = aie::accumulate<lanes, acc64>(taps, 0, left, here, right);
        aie::store_v(out + at, sum.to_vector<int16_t>(fraction));
        before = here;
        here = after;
    }
}
