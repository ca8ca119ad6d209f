// Intrinsics as functions that tests call with arrays. One function for each, by the names of UG1583.
#include "memtile/intrinsics.h"

#include "lut_based_ops.h"

#define TAKE(type, name) const type &name = *reinterpret_cast<const type *>(name##_at)
#define CALL(name) extern "C" void name
using In = const void *__restrict;
using Out = void *__restrict;

CALL(call_shuffle)(In a_at, In b_at, Out out, int mode) {
    TAKE(v64uint8, a);
    TAKE(v64uint8, b);
    *static_cast<v64uint8 *>(out) = shuffle(a, b, static_cast<unsigned>(mode));
}
CALL(call_shift_bytes)(In a_at, In b_at, Out out, int by) {
    TAKE(v64uint8, a);
    TAKE(v64uint8, b);
    *static_cast<v64uint8 *>(out) = shift_bytes(a, b, by);
}
CALL(call_shift)(In a_at, In b_at, Out out, int by) {
    TAKE(v32int16, a);
    TAKE(v32int16, b);
    *static_cast<v32int16 *>(out) = shift(a, b, by);
}
#define NARROW(name, Acc, Result)                                                            \
    CALL(call_##name##_##Acc)(In a_at, Out out, int shift, int sign) {                       \
        TAKE(Acc, a);                                                                        \
        *static_cast<Result *>(out) = name(a, shift, sign);                                  \
    }
NARROW(ssrs, v32acc32, v32int8)
NARROW(ussrs, v32acc32, v32uint8)
NARROW(lsrs, v32acc32, v32int16)
NARROW(ulsrs, v32acc32, v32uint16)
NARROW(ssrs, v16acc64, v16int16)
NARROW(ussrs, v16acc64, v16uint16)
NARROW(lsrs, v16acc64, v16int32)
NARROW(ulsrs, v16acc64, v16uint32)
#define WIDEN(name, Given, Acc)                              \
    CALL(call_##name##_##Given)(In a_at, Out out, int by) {  \
        TAKE(Given, a);                                      \
        *static_cast<Acc *>(out) = name(a, by);              \
    }
WIDEN(sups, v32int8, v32acc32)
WIDEN(sups, v32uint16, v32acc32)
WIDEN(lups, v16int16, v16acc64)
WIDEN(lups, v16uint32, v16acc64)
#define PRODUCTS(name, A, B, Acc)                                                   \
    CALL(call_##name##_##A)(In a_at, In b_at, In c_at, In d_at, Out out, int which) { \
        TAKE(A, a);                                                                 \
        TAKE(B, b);                                                                 \
        TAKE(Acc, c);                                                               \
        TAKE(Acc, d);                                                               \
        Acc found;                                                                  \
        switch (which) {                                                            \
            case 0: found = mul_##name(a, b); break;                                \
            case 1: found = negmul_##name(a, b); break;                             \
            case 2: found = mac_##name(a, b, c); break;                             \
            case 3: found = msc_##name(a, b, c); break;                             \
            case 4: found = addmac_##name(a, b, c, d); break;                       \
            default: found = addmsc_##name(a, b, c, d);                             \
        }                                                                           \
        *static_cast<Acc *>(out) = found;                                           \
    }
PRODUCTS(elem_32_2, v64int8, v64int8, v32acc32)
PRODUCTS(elem_32, v32uint16, v32int16, v32acc32)
PRODUCTS(elem_16_2, v32int16, v32uint16, v16acc64)
PRODUCTS(elem_16, v16int32, v16int32, v16acc64)
PRODUCTS(elem_16_2, v32bfloat16, v32bfloat16, v16accfloat)
PRODUCTS(4x8_8x8, v32int8, v64uint8, v32acc32)
PRODUCTS(4x4_4x4, v16int16, v16int16, v16acc64)
PRODUCTS(4x8_8x4, v32bfloat16, v32bfloat16, v16accfloat)
CALL(call_lookup)(In first, In second, In a_at, Out low, Out high) {
    TAKE(v16int32, a);
    load_lut_2x_int8(first, second, a, *static_cast<v64int8 *>(low), *static_cast<v64int8 *>(high));
}
CALL(call_lookup_int16)(In first, In second, In a_at, Out low, Out high) {
    TAKE(v16int32, a);
    load_lut_2x_int16(first, second, a, *static_cast<v32int16 *>(low), *static_cast<v32int16 *>(high));
}
CALL(call_lookup_float)(In first, In second, In a_at, Out low, Out high) {
    TAKE(v16int32, a);
    load_lut_2x_float(first, second, a, *static_cast<v32bfloat16 *>(low), *static_cast<v32bfloat16 *>(high));
}
CALL(call_exp)(In a_at, Out out) {
    TAKE(v16bfloat16, a);
    *static_cast<v16accfloat *>(out) = getExpBf16(a);
}
CALL(call_tanh)(In a_at, Out out) {
    TAKE(v16bfloat16, a);
    *static_cast<v16bfloat16 *>(out) = getTanhBf16(a);
}
CALL(call_inverse)(In a_at, Out out) {
    TAKE(v16float, a);
    for (unsigned at = 0; at < 16; ++at) static_cast<bfloat16 *>(out)[at] = getInvBf16(a.get(at));
}
CALL(call_floor)(In a_at, Out out, int by) {
    TAKE(v16bfloat16, a);
    *static_cast<v16int32 *>(out) = bfloat16_to_int(a, by);
}
CALL(call_parts)(In a_at, In b_at, Out out) {
    TAKE(v32int16, a);
    TAKE(v8int16, b);
    v32int16 found = insert(a, 2, b);
    found = upd_elem(found, 0, 77);
    found = insert(found, 1, extract_v8int16(a, 3));
    static_cast<v32int16 *>(out)[0] = found;
    static_cast<v32int16 *>(out)[1] = set_v32int16(1, extract_v16int16(a, 1));
    static_cast<v32int16 *>(out)[2] = broadcast_to_v32int16(ext_elem(a, 31));
    static_cast<v32int16 *>(out)[3] = band(bor(a, broadcast_s16(0x0f0f)), bneg(bxor(a, broadcast_one_s16())));
}
CALL(call_locks)(int lock) {
    acquire_greater_equal(static_cast<unsigned>(lock), 2);
    acquire_equal(static_cast<unsigned>(lock), 1);
    release(static_cast<unsigned>(lock), -1);
    event1();
}
CALL(call_cascade)(In a_at) {
    TAKE(v16acc64, a);
    put_mcd(a);
    put_mcd(a, 0);
}
CALL(call_hints)(Out out) {
    auto *found = static_cast<int *>(out);
    for (int at = 0; at < 4; ++at) chess_prepare_for_pipelining chess_pipeline_non_leaf_loop_solution(2) chess_loop_count(4) {
        chess_report(at);
        found[at] = at;
    }
}
CALL(call_wide_cascade)(In a_at) { put_mcd(*static_cast<const aie::accum<acc32, 64> *>(a_at)); }
CALL(call_wide_cascade_back)(Out out) { *static_cast<aie::accum<acc32, 64> *>(out) = memtile::get_cascade<aie::accum<acc32, 64>>(); }
CALL(call_cascade_back)(Out out) { *static_cast<v16acc64 *>(out) = get_scd_v16acc64(); }
CALL(call_modes)(Out out) {
    auto *found = static_cast<int *>(out);
    set_rnd(rnd_conv_even);
    set_sat();
    found[0] = static_cast<int>(get_rnd());
    found[1] = static_cast<int>(aie::get_saturation());
    set_symsat();
    found[2] = static_cast<int>(get_satmode());
    clr_sat();
    found[3] = static_cast<int>(get_satmode());
}
CALL(call_refused)(In a_at, Out out, int which) {
    TAKE(v32int16, a);
    const v16acc64 &acc = *static_cast<const v16acc64 *>(a_at);
    auto *found = static_cast<v32int16 *>(out);
    switch (which) {
        case 0: *found = broadcast_to_v32int16(ext_elem(a, 32)); break;
        case 1: *found = insert(a, -1, extract_v8int16(a, 0)); break;
        case 2: *found = shift(a, a, 33); break;
        case 3: *found = shuffle(a, a, 48u); break;
        case 4: *found = set_v32int16(0, ssrs(acc, 60)); break;
        case 5: *found = broadcast_to_v32int16(static_cast<int>(read_tm(0x1d000))); break;
        default: write_tm(1, 0x1d000);
    }
}
CALL(call_nothing_there)(Out out) {
    bool success = true, last = true;
    static_cast<int *>(out)[0] = get_ss_nb(success, last);
    static_cast<int *>(out)[1] = success;
    put_ms_nb(7, success);
    static_cast<int *>(out)[2] = success;
}
CALL(call_integers)(In a_at, Out out) {
    TAKE(std::int64_t, a);
    const int half = static_cast<int>(a);
    const unsigned found[] = {clb(half), clb(static_cast<unsigned>(a)), clb(static_cast<long long>(a)),
                              clb(static_cast<unsigned long long>(a)), static_cast<unsigned>(scalar_abs(half))};
    std::memcpy(out, found, sizeof found);
}
CALL(call_pushed)(In a_at, Out out) {
    TAKE(v64uint8, a);
    auto *found = static_cast<v64uint8 *>(out);
    found[0] = shiftl_elem(shiftl_elem(a, 200), 201);
    found[1] = shiftr_elem(shiftr_elem(a, 200), 201);
}
