// exp(x - max(x)) / sum over 256 bfloat16 numbers, the exponential looked up (lut_based_ops.h).
#include <aie_api/aie.hpp>
#include <lut_based_ops.h>

constexpr unsigned count = 256, lanes = 16;

extern "C" void softmax_256(bfloat16 *restrict in, bfloat16 *restrict out) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    aie::vector<bfloat16, lanes> most = aie::load_v<lanes>(in);
    for (unsigned at = lanes; at < count; at += lanes) most = aie::max(most, aie::load_v<lanes>(in + at));
    const aie::vector<bfloat16, lanes> top = aie::broadcast<bfloat16, lanes>(aie::reduce_max(most));
    aie::accum<accfloat, lanes> total = aie::zeros<accfloat, lanes>();
    for (unsigned at = 0; at < count; at += lanes) {
        const aie::vector<bfloat16, lanes> below = aie::sub(aie::load_v<lanes>(in + at), top);
        const v16accfloat power = getExpBf16(below);
        total = add(total, power);
        aie::store_v(out + at, to_v16bfloat16(power));
    }
    const float sum = aie::reduce_add(total.to_vector<float>());
    const bfloat16 share = aie::inv(sum);
    for (unsigned at = 0; at < count; at += lanes) {
        const aie::vector<bfloat16, lanes> power = aie::load_v<lanes>(out + at);
        aie::store_v(out + at, aie::mul(power, share).to_vector<bfloat16>());
    }
}
