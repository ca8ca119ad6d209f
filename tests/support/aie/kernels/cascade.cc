// A dot product over two cores: each sums the products of its half, the first hands its sums on over the cascade.
#include <aie_api/aie.hpp>

constexpr unsigned count = 256, lanes = 16;

// A pair has the numbers of one operand, then those of the other.
static v16acc64 products(int32_t *restrict pair) {
    v16acc64 sums = undef_v16acc64();
    for (unsigned at = 0; at < count; at += lanes)
        sums = mac_elem_16(*(v16int32 *)(pair + at), *(v16int32 *)(pair + count + at), sums);
    return sums;
}

extern "C" void dot_put(int32_t *restrict pair) { put_mcd(lsrs(products(pair), 0)); }

extern "C" void dot_get(int32_t *restrict pair, int32_t *restrict sums) {
    const v16int32 mine = lsrs(products(pair), 0);
    *(v16int32 *)sums = add(mine, get_scd_v16int32());
}
