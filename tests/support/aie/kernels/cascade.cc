// A dot product over two cores: each sums the products of its half, the first hands its sums on over the cascade.
#include <aie_api/aie.hpp>

constexpr unsigned count = 256, lanes = 16;

static v16acc64 products(int32_t *restrict a, int32_t *restrict b) {
    v16acc64 sums = undef_v16acc64();
    for (unsigned at = 0; at < count; at += lanes)
        sums = mac_elem_16(*(v16int32 *)(a + at), *(v16int32 *)(b + at), sums);
    return sums;
}

extern "C" void dot_put(int32_t *restrict a, int32_t *restrict b) { put_mcd(lsrs(products(a, b), 0)); }

extern "C" void dot_get(int32_t *restrict a, int32_t *restrict b, int32_t *restrict c) {
    const v16int32 mine = lsrs(products(a, b), 0);
    *(v16int32 *)c = add(mine, get_scd_v16int32());
}
