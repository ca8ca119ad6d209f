// Each function here runs one operation of the host's AIE API over n vectors; Python computes what must come out.
//
// All have one form: inputs a, b, c, the output, the number of vectors, and a parameter p of the operation.

#include "aie_api/aie_adf.hpp"

namespace {

struct Seen {
    std::uint64_t loads, stores, windows, bytes, alignment;
} seen;
void saw_load(memtile::Core &, const void *, std::size_t bytes, std::size_t alignment, void *) {
    ++seen.loads, seen.bytes = bytes, seen.alignment = alignment;
}
void saw_store(memtile::Core &, const void *, std::size_t bytes, std::size_t alignment, void *) {
    ++seen.stores, seen.bytes = bytes, seen.alignment = alignment;
}
void saw_window(memtile::Core &, const void *, std::size_t bytes, std::size_t window, void *) {
    ++seen.windows, seen.bytes = bytes, seen.alignment = window;
}
constexpr memtile::Hooks hooks{nullptr, saw_load, saw_store, saw_window, nullptr};

template <typename T, unsigned N>
aie::vector<T, N> in(const void *from, int at) {
    aie::vector<T, N> found;
    std::memcpy(static_cast<void *>(found.data()), static_cast<const char *>(from) + at * sizeof found.slots, sizeof found.slots);
    return found;
}
template <typename V>
void put(void *to, int at, const V &v) {
    std::memcpy(static_cast<char *>(to) + at * sizeof v.slots, static_cast<const void *>(v.slots), sizeof v.slots);
}
template <typename Tag, unsigned N>
aie::accum<Tag, N> lanes(const void *from, int at) {
    aie::accum<Tag, N> found;
    std::memcpy(static_cast<void *>(found.slots), static_cast<const char *>(from) + at * sizeof found.slots, sizeof found.slots);
    return found;
}
template <unsigned N>
void put_mask(void *to, int at, const aie::mask<N> &m) {
    for (unsigned i = 0; i < N; ++i) static_cast<std::uint8_t *>(to)[at * N + i] = m.test(i);
}

}  // namespace

memtile::Core memtile::the_core{&hooks, 3, 4, {}, {}, {}};

#define CHECK(name, ...)                                                                                             \
    extern "C" void name([[maybe_unused]] const void *a, [[maybe_unused]] const void *b, [[maybe_unused]] const void *c, \
                         [[maybe_unused]] void *out, int n, [[maybe_unused]] int p) {                                \
        for (int i = 0; i < n; ++i) {                                                                                \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
    }

extern "C" void set_modes(unsigned rounding, unsigned saturation) {
    aie::set_rounding(static_cast<aie::rounding_mode>(rounding));
    aie::set_saturation(static_cast<aie::saturation_mode>(saturation));
}
extern "C" void get_seen(std::uint64_t *to) { std::memcpy(to, &seen, sizeof seen); }

// Shift, round, saturate; and back.
#define SRS(tag, type, N) CHECK(srs_##tag##_##type, put(out, i, (lanes<tag, N>(a, i).to_vector<type>(p))))
SRS(acc32, int8, 32) SRS(acc32, uint8, 32) SRS(acc32, int16, 32) SRS(acc32, uint16, 32) SRS(acc32, int32, 16)
SRS(acc64, int8, 32) SRS(acc64, int16, 16) SRS(acc64, int32, 16) SRS(acc64, uint32, 16) SRS(acc48, int16, 16)
SRS(acc32, int4, 32) SRS(acc32, uint4, 32)
SRS(cacc64, cint16, 8) SRS(cacc64, cint32, 8) SRS(accfloat, bfloat16, 16)
#define UPS(tag, type, N) CHECK(ups_##tag##_##type, aie::accum<tag, N> x; x.from_vector(in<type, N>(a, i), p); put(out, i, x))
UPS(acc32, int8, 32) UPS(acc32, uint8, 32) UPS(acc32, int16, 32) UPS(acc32, uint16, 16) UPS(acc64, int16, 16) UPS(acc64, int32, 16)
UPS(acc64, uint32, 8) UPS(accfloat, bfloat16, 16)
CHECK(unpack_int8, put(out, i, (in<int8, 32>(a, i).unpack())))
CHECK(unpack_uint8, put(out, i, (in<uint8, 32>(a, i).unpack())))
CHECK(unpack_int4, put(out, i, (in<int4, 32>(a, i).unpack())))
CHECK(unpack_uint4, put(out, i, (in<uint4, 32>(a, i).unpack())))
CHECK(pack_int16, put(out, i, (in<int16, 32>(a, i).pack())))
CHECK(pack_uint16, put(out, i, (in<uint16, 32>(a, i).pack())))
CHECK(pack_int8, put(out, i, (in<int8, 32>(a, i).pack())))
CHECK(fixed_float_int32, put(out, i, (aie::to_fixed<int32>(in<float, 16>(a, i), p))))
CHECK(fixed_float_int8, put(out, i, (aie::to_fixed<int8>(in<float, 16>(a, i), p))))
CHECK(fixed_bfloat16_int16, put(out, i, (aie::to_fixed<int16, 16>(in<bfloat16, 16>(a, i), p))))
CHECK(float_of_int32, put(out, i, (aie::to_float(in<int32, 16>(a, i), p))))
CHECK(bfloat16_of_int16, put(out, i, (aie::to_float<bfloat16, 16>(in<int16, 16>(a, i), p))))

// Sums and the like.
#define BINARY(op, type, N) CHECK(op##_##type, put(out, i, aie::op(in<type, N>(a, i), in<type, N>(b, i))))
#define INTEGER(type, N)                                                                                       \
    BINARY(add, type, N) BINARY(sub, type, N) BINARY(min, type, N) BINARY(max, type, N) BINARY(bit_and, type, N) \
    BINARY(bit_or, type, N) BINARY(bit_xor, type, N) BINARY(abs_diff, type, N) BINARY(saturating_add, type, N)   \
    BINARY(saturating_sub, type, N) BINARY(maxdiff, type, N)                                                     \
    CHECK(neg_##type, put(out, i, aie::neg(in<type, N>(a, i))))                                                  \
    CHECK(abs_##type, put(out, i, aie::abs(in<type, N>(a, i))))                                                  \
    CHECK(bit_not_##type, put(out, i, aie::bit_not(in<type, N>(a, i))))                                          \
    CHECK(upshift_##type, put(out, i, aie::upshift(in<type, N>(a, i), p)))                                       \
    CHECK(downshift_##type, put(out, i, aie::downshift(in<type, N>(a, i), p)))                                   \
    CHECK(logical_downshift_##type, put(out, i, aie::logical_downshift(in<type, N>(a, i), p)))                   \
    CHECK(add_value_##type, put(out, i, aie::add(in<type, N>(a, i), type(p))))                                   \
    CHECK(value_sub_##type, put(out, i, aie::sub(type(p), in<type, N>(a, i))))                                   \
    CHECK(reduce_add_##type, static_cast<type *>(out)[i] = aie::reduce_add(in<type, N>(a, i)))                   \
    CHECK(reduce_min_##type, static_cast<type *>(out)[i] = aie::reduce_min(in<type, N>(a, i)))                   \
    CHECK(reduce_max_##type, static_cast<type *>(out)[i] = aie::reduce_max(in<type, N>(a, i)))                   \
    COMPARE(type, N)
#define COMPARE(type, N)                                                                   \
    CHECK(lt_##type, put_mask(out, i, aie::lt(in<type, N>(a, i), in<type, N>(b, i))))      \
    CHECK(le_##type, put_mask(out, i, aie::le(in<type, N>(a, i), in<type, N>(b, i))))      \
    CHECK(gt_##type, put_mask(out, i, aie::gt(in<type, N>(a, i), in<type, N>(b, i))))      \
    CHECK(ge_##type, put_mask(out, i, aie::ge(in<type, N>(a, i), in<type, N>(b, i))))      \
    CHECK(eq_##type, put_mask(out, i, aie::eq(in<type, N>(a, i), in<type, N>(b, i))))      \
    CHECK(neq_##type, put_mask(out, i, aie::neq(in<type, N>(a, i), in<type, N>(b, i))))    \
    CHECK(select_##type, put(out, i, aie::select(in<type, N>(a, i), in<type, N>(b, i), aie::lt(in<type, N>(a, i), in<type, N>(b, i)))))
INTEGER(int8, 64) INTEGER(uint8, 64) INTEGER(int16, 32) INTEGER(uint16, 32) INTEGER(int32, 16) INTEGER(uint32, 16)
#define FLOATING(type, N)                                                                       \
    BINARY(add, type, N) BINARY(sub, type, N) BINARY(min, type, N) BINARY(max, type, N) BINARY(div, type, N) \
    CHECK(neg_##type, put(out, i, aie::neg(in<type, N>(a, i))))                                 \
    CHECK(abs_##type, put(out, i, aie::abs(in<type, N>(a, i))))                                 \
    CHECK(reduce_add_##type, static_cast<type *>(out)[i] = aie::reduce_add(in<type, N>(a, i)))  \
    CHECK(reduce_max_##type, static_cast<type *>(out)[i] = aie::reduce_max(in<type, N>(a, i)))  \
    CHECK(reduce_min_##type, static_cast<type *>(out)[i] = aie::reduce_min(in<type, N>(a, i)))  \
    CHECK(inv_##type, put(out, i, aie::inv(in<type, N>(a, i))))                                 \
    CHECK(sqrt_##type, put(out, i, aie::sqrt(in<type, N>(a, i))))                               \
    CHECK(invsqrt_##type, put(out, i, aie::invsqrt(in<type, N>(a, i))))                         \
    COMPARE(type, N)
FLOATING(bfloat16, 16) FLOATING(float, 16)
CHECK(exp2_float, put(out, i, (aie::exp2<bfloat16>(in<float, 16>(a, i)))))
CHECK(tanh_float, put(out, i, (aie::tanh<bfloat16>(in<float, 16>(a, i)))))
CHECK(acc_add, put(out, i, aie::add(lanes<acc32, 16>(a, i), lanes<acc32, 16>(b, i))))
CHECK(acc_sub_int8, put(out, i, aie::sub(lanes<acc32, 32>(a, i), in<int8, 32>(b, i))))
CHECK(float_bits, aie::accum<acc32, 16> x = in<float, 16>(a, i); put(out, i, x.to_vector<float>()))
CHECK(acc_neg, put(out, i, aie::neg(lanes<acc32, 16>(a, i))))

// Products.
#define MUL(A, B, N)                                                                                            \
    CHECK(mul_##A##_##B, put(out, i, aie::mul(in<A, N>(a, i), in<B, N>(b, i))))                                 \
    CHECK(negmul_##A##_##B, put(out, i, aie::negmul(in<A, N>(a, i), in<B, N>(b, i))))                           \
    CHECK(mac_##A##_##B, const auto x = in<A, N>(a, i); const auto y = in<B, N>(b, i); const auto z = aie::mul(x, y); \
          put(out, i, aie::mac(lanes<typename decltype(z)::value_type, N>(c, i), x, y)))                         \
    CHECK(msc_##A##_##B, const auto x = in<A, N>(a, i); const auto y = in<B, N>(b, i); const auto z = aie::mul(x, y); \
          put(out, i, aie::msc(lanes<typename decltype(z)::value_type, N>(c, i), x, y)))
MUL(int8, int8, 32) MUL(uint8, int8, 32) MUL(uint8, uint8, 32) MUL(int16, int8, 32) MUL(int16, int16, 32) MUL(uint16, uint16, 16)
MUL(int32, int16, 16) MUL(int32, int32, 16) MUL(uint32, uint32, 16) MUL(bfloat16, bfloat16, 16) MUL(float, float, 16) MUL(int8, int4, 32)
MUL(cint16, cint16, 8) MUL(cint32, int16, 8) MUL(int16, cint16, 8) MUL(cfloat, cfloat, 8)
CHECK(mul_acc64, put(out, i, aie::mul<acc64>(in<int16, 16>(a, i), in<int16, 16>(b, i))))
CHECK(mul_value, put(out, i, aie::mul(in<int16, 32>(a, i), int16(p))))
CHECK(mul_element, const auto y = in<int16, 32>(b, i); put(out, i, aie::mul(in<int16, 32>(a, i), y[p])))
CHECK(two_accumulators, const auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); const auto u = lanes<acc32, 32>(c, i);
      const auto v = aie::mul(y, y);
      put(out, i, aie::concat(aie::addmac(u, v, x, y), aie::addmsc(u, v, x, y), aie::submac(u, v, x, y), aie::submsc(u, v, x, y))))
CHECK(operands, const auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); const auto u = lanes<acc32, 32>(c, i);
      put(out, i, aie::concat(aie::mac(aie::op_sub(u), aie::op_abs(x), aie::op_none(y)), aie::mac(aie::op_add(u), aie::op_max(x, y), aie::op_min(x, y)))))
CHECK(conjugates, const auto x = in<cint16, 8>(a, i); put(out, i, aie::mul(x, aie::op_conj(x))))
CHECK(real_parts, put(out, i, aie::concat(aie::real(in<cint16, 8>(a, i)), aie::imag(in<cint16, 8>(a, i)))))
CHECK(signs, using namespace aie::operators; auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); auto z = (x + y) - (y & x);
      z += x | y; z ^= ~x; put(out, i, aie::select((z << 1u) >> 2u, -z, x < y)))
CHECK(reductions, const auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); auto z = aie::reduce_add_v(x, y, x);
      z[3] = aie::reduce_mul(y); z[4] = int16(aie::equal(x, y)); z[5] = int16(aie::not_equal(x, y)); put(out, i, z))
CHECK(mul_square_int16, put(out, i, aie::mul_square(in<int16, 32>(a, i))))
CHECK(accumulate_int16, const auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); const auto w = in<int16, 16>(c, 0);
      put(out, i, p ? aie::accumulate<32>(w, p, x, y, x) : aie::accumulate<32>(w, x, y, x)))
CHECK(accumulate_onto, const auto x = in<int16, 32>(a, i); const auto y = in<int16, 32>(b, i); const auto w = in<int16, 16>(c, 0);
      put(out, i, aie::accumulate<32>(aie::mul(y, y), w, p, x, y)))
#define MATRIX(name, m, k, n, A, B, T)                                                                 \
    CHECK(name, aie::mmul<m, k, n, A, B> x(in<T, m * n>(c, i)); x.mac(in<A, m * k>(a, i), in<B, k * n>(b, i)); put(out, i, x.to_accum())) \
    CHECK(name##_mul, aie::mmul<m, k, n, A, B> x(in<T, m * n>(c, i)); x.mul(in<A, m * k>(a, i), in<B, k * n>(b, i)); put(out, i, x.to_accum()))
MATRIX(mmul_int8, 4, 8, 8, int8, int8, int32) MATRIX(mmul_uint8, 4, 8, 4, uint8, int8, int32) MATRIX(mmul_int16, 4, 4, 4, int16, int16, int32)
MATRIX(mmul_mixed, 4, 4, 8, int16, int8, int32) MATRIX(mmul_uint16, 4, 4, 4, uint16, uint16, int32) MATRIX(mmul_int32, 4, 2, 4, int32, int32, int32)
MATRIX(mmul_int4, 4, 16, 8, int8, int4, int32) MATRIX(mmul_bfloat16, 4, 4, 4, bfloat16, bfloat16, float) MATRIX(mmul_cint16, 2, 4, 8, cint16, cint16, cint32)
CHECK(mmul_blocks, aie::mmul<8, 8, 8, bfloat16> x; x.mul(in<bfloat16, 64>(a, i), in<bfloat16, 64>(b, i)); put(out, i, x.to_accum()))
CHECK(sliding, put(out, i, (aie::sliding_mul_xy_ops<32, 8, 1, 1, int8, uint8>::mul(in<int8, 32>(a, i), p, in<uint8, 64>(b, i), 3))))
CHECK(sliding_steps, put(out, i, (aie::sliding_mac<16, 4, 2, 3, 2>(lanes<acc32, 16>(c, i), in<int16, 16>(a, i), p, in<int16, 32>(b, i), 5))))

// A product of 64 x 64 x 64 numbers, n times: in blocks, as kernels have it, and as the plainest loop.
template <typename Block, typename T>
void blocked(const T *a, const T *b, int32 *out, int n) {
    constexpr unsigned A = Block::size_A, B = Block::size_B, C = Block::size_C;
    constexpr unsigned rows = 64 / Block::M, columns = 64 / Block::N, inner = 64 / Block::K;
    for (int turn = 0; turn < n; ++turn)
        for (unsigned row = 0; row < rows; row += 2)
            for (unsigned column = 0; column < columns; column += 2) {
                int32 *c[2] = {out + (row * columns + column) * C, out + ((row + 1) * columns + column) * C};
                Block sums[2][2];
                for (unsigned i = 0; i < 2; ++i)
                    for (unsigned j = 0; j < 2; ++j) sums[i][j] = Block(aie::load_v<C>(c[i] + C * j));
                for (unsigned k = 0; k < inner; ++k) {
                    const auto left0 = aie::load_v<A>(a + (row * inner + k) * A), left1 = aie::load_v<A>(a + ((row + 1) * inner + k) * A);
                    const auto right0 = aie::load_v<B>(b + (k * columns + column) * B), right1 = aie::load_v<B>(b + (k * columns + column + 1) * B);
                    sums[0][0].mac(left0, right0);
                    sums[0][1].mac(left0, right1);
                    sums[1][0].mac(left1, right0);
                    sums[1][1].mac(left1, right1);
                }
                for (unsigned i = 0; i < 2; ++i)
                    for (unsigned j = 0; j < 2; ++j) aie::store_v(c[i] + C * j, sums[i][j].template to_vector<int32>());
            }
}
template <typename T>
void plain(const T *__restrict a, const T *__restrict b, int32 *__restrict out, int n) {
    for (int turn = 0; turn < n; ++turn)
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) {
                int32 sum = 0;
                for (int k = 0; k < 64; ++k) sum += a[64 * i + k] * b[64 * k + j];
                out[64 * i + j] += sum;
            }
}
#define LARGE(type, ...)                                                                                         \
    extern "C" void blocked_##type(const type *a, const type *b, const void *, int32 *out, int n, int) {           \
        blocked<aie::mmul<__VA_ARGS__, type, type>>(a, b, out, n);                                                 \
    }                                                                                                              \
    extern "C" void plain_##type(const type *a, const type *b, const void *, int32 *out, int n, int) { plain(a, b, out, n); }
LARGE(int8, 4, 8, 8)
LARGE(int16, 4, 4, 4)

// Places.
#define SHUFFLE(type, N)                                                                                           \
    CHECK(up_##type, put(out, i, aie::shuffle_up(in<type, N>(a, i), p)))                                           \
    CHECK(down_##type, put(out, i, aie::shuffle_down(in<type, N>(a, i), p)))                                       \
    CHECK(up_fill_##type, put(out, i, aie::shuffle_up_fill(in<type, N>(a, i), in<type, N>(b, i), p)))              \
    CHECK(down_fill_##type, put(out, i, aie::shuffle_down_fill(in<type, N>(a, i), in<type, N>(b, i), p)))          \
    CHECK(up_replicate_##type, put(out, i, aie::shuffle_up_replicate(in<type, N>(a, i), p)))                       \
    CHECK(down_replicate_##type, put(out, i, aie::shuffle_down_replicate(in<type, N>(a, i), p)))                   \
    CHECK(up_rotate_##type, put(out, i, aie::shuffle_up_rotate(in<type, N>(a, i), p)))                             \
    CHECK(down_rotate_##type, put(out, i, aie::shuffle_down_rotate(in<type, N>(a, i), p)))                         \
    CHECK(reverse_##type, put(out, i, aie::reverse(in<type, N>(a, i))))                                            \
    CHECK(even_##type, put(out, i, aie::filter_even(in<type, N>(a, i), p)))                                        \
    CHECK(odd_##type, put(out, i, aie::filter_odd(in<type, N>(a, i), p)))                                          \
    CHECK(zip_##type, const auto x = aie::interleave_zip(in<type, N>(a, i), in<type, N>(b, i), p);                 \
          put(out, i, aie::concat(x.first, x.second)))                                                             \
    CHECK(unzip_##type, const auto x = aie::interleave_unzip(in<type, N>(a, i), in<type, N>(b, i), p);             \
          put(out, i, aie::concat(x.first, x.second)))                                                             \
    CHECK(transpose_##type, put(out, i, aie::transpose(in<type, N>(a, i), p, N / p)))                              \
    CHECK(push_##type, auto x = in<type, N>(a, i); put(out, i, x.push(in<type, N>(b, i).get(p))))               \
    CHECK(parts_##type, auto x = in<type, N>(a, i); const auto y = in<type, N>(b, i);                              \
          x.insert(p, y.template extract<N / 4>(3 - p)); x[0] = y[N - 1]; put(out, i, x))                          \
    CHECK(grow_##type, put(out, i, (in<type, N>(a, i).template grow_replicate<2 * N>().template insert<N / 2>(p, in<type, N>(b, i).template extract<N / 2>(1)))))
SHUFFLE(int8, 64) SHUFFLE(int16, 32) SHUFFLE(bfloat16, 32) SHUFFLE(int4, 64)
CHECK(iota, put(out, i, (aie::iota<int16, 32>(static_cast<const int16 *>(a)[i], int16(p)))))
CHECK(broadcast, put(out, i, (aie::broadcast<int16, 32>(static_cast<const int16 *>(a)[i]))))
CHECK(zeros, put(out, i, (aie::zeros<int16, 32>())))
CHECK(cast, put(out, i, (in<int8, 64>(a, i).cast_to<int32>())))

// Memory. Pointers are real ones here: a is read, out is written.
CHECK(load_store, aie::store_v(static_cast<int16 *>(out) + 32 * i, aie::load_v<32>(static_cast<const int16 *>(a) + 32 * i)))
CHECK(unaligned, aie::store_unaligned_v(static_cast<int16 *>(out) + 32 * i, aie::load_unaligned_v<32>(static_cast<const int16 *>(a) + 32 * i + p, p)))
CHECK(unaligned_store, aie::store_unaligned_v(static_cast<int16 *>(out) + 33 * i, in<int16, 32>(a, i)))
CHECK(load_floor, put(out, i, aie::load_floor_v<32>(static_cast<const int16 *>(a) + 32 * i + p)))
extern "C" void iterators(const int16 *a, const int16 *, const void *, int16 *out, int n, int) {
    auto to = aie::begin_vector<32>(out);
    auto from = aie::cbegin_vector<32>(a) + n;
    for (int i = 0; i < n; ++i) *to++ = *--from;
    aie::begin_restrict_vector<32>(out)[0] = aie::add(aie::begin_restrict_vector<32>(out)[0], int16(1));
}
extern "C" void circular(const int16 *a, const int16 *, const void *, int16 *out, int n, int p) {
    auto from = aie::cbegin_vector_circular<32>(a, static_cast<unsigned>(32 * p));
    aie::output_buffer_stream<int16, 32> to(out);
    for (int i = 0; i < n; ++i) to << *from++;
}
extern "C" void streams(const int16 *a, const int16 *, const void *, int16 *out, int n, int p) {
    aie::input_buffer_stream<int16, 32> from(a);
    aie::output_buffer_stream<int16, 32> to(out);
    from.seek(p);
    for (int i = p; i < n; ++i) to.push(from.pop());
}

extern "C" void unaligned_iterators(const int16 *a, const int16 *, const void *, int16 *out, int n, int p) {
    auto from = aie::begin_unaligned_vector<32>(a + p);
    auto to = aie::begin_unaligned_vector<32>(out + 1);
    for (int i = 0; i < n; ++i) {
        const aie::vector<int16, 32> v = *from++;
        *to++ = v;
    }
}
struct Buffer {
    int16 *start;
    int16 *data() { return start; }
};
extern "C" void buffers(int16 *a, const int16 *, const void *, int16 *out, int n, int) {
    Buffer one{a}, other{out};
    auto from = aie::cbegin_restrict_vector<32>(one);
    auto to = aie::begin_vector<32>(other);
    for (int i = 0; i < n; ++i) *to++ = *from++;
}

// A tensor of vectors: its dimensions are 3 x 2 (and 2 x 3 within these if `p` is 5), each with steps of its own.
extern "C" void tensors(const int16 *a, const int16 *, const void *, int16 *out, int n, int p) {
    using aie::tensor_dim;
    const auto three = aie::make_tensor_descriptor<int16, 16>(tensor_dim(3u, 7), tensor_dim(2u, -2), tensor_dim(3u, 1));
    const auto five = aie::make_tensor_descriptor<int16, 16>(tensor_dim(1u, 8), tensor_dim(2u, 4), tensor_dim(2u, 0),
                                                             tensor_dim(2u, 2), tensor_dim(2u, 1));
    const auto rows = aie::make_tensor_descriptor<int16, 16>(tensor_dim(1u, 1), tensor_dim(2u, 12));
    auto from = aie::make_tensor_buffer_stream<aie_dm_resource::a>(a + 32, three);
    auto nested = aie::make_tensor_buffer_stream(a, five);
    Buffer all{out};
    auto to = aie::make_restrict_tensor_buffer_stream(all, rows);
    for (int i = 0; i < n; ++i) {
        if (p == 3) {
            to << from.pop();
            continue;
        }
        aie::vector<int16, 16> x, y;
        auto inner = nested.pop();
        inner >> x >> y;
        to << x << y << inner.pop();
        to.push(inner.pop());
    }
}

// Masks.
CHECK(mask_words, const auto m = aie::mask<64>::from_uint64(static_cast<const uint64 *>(a)[i]);
      const auto k = aie::mask<64>::from_uint64(static_cast<const uint64 *>(b)[i]);
      auto *to = static_cast<uint64 *>(out) + 12 * i; to[0] = (m & k).to_uint64(); to[1] = (m | k).to_uint64();
      to[2] = (m ^ k).to_uint64(); to[3] = (~m).to_uint64(); to[4] = (m << unsigned(p)).to_uint64();
      to[5] = (m >> unsigned(p)).to_uint64(); to[6] = m.count(); to[7] = m.clz(); to[8] = m.ctz(); to[9] = m.to_uint32(1);
      to[10] = m.empty() + 2 * m.full(); to[11] = m.extract<16>(3).to_uint32())

// Tables.
CHECK(lookup, const auto *table = static_cast<const int16 *>(b); const aie::lut<4, int16> t(256, table, table);
      put(out, i, (aie::parallel_lookup<int16, aie::lut<4, int16>>(t, 2, p).fetch(in<int16, 32>(a, i)))))
CHECK(lookup_low_bits, const auto *table = static_cast<const int16 *>(b); const aie::lut<4, int16> t(256, table, table);
      put(out, i, (aie::parallel_lookup<int16, aie::lut<4, int16>, aie::lut_oor_policy::truncate>(t, 2, p).fetch(in<int16, 32>(a, i)))))
CHECK(linear, const auto *table = static_cast<const int16 *>(b); const aie::lut<4, int16> t(64, table, table);
      put(out, i, (aie::linear_approx<int16, aie::lut<4, int16>>(t, 4, p, 3).compute(in<int16, 16>(a, i)))))

CHECK(linear_bfloat16, const auto *table = static_cast<const float *>(b); const aie::lut<4, float, bfloat16> t(32, table, table);
      put(out, i, (aie::linear_approx<bfloat16, aie::lut<4, float, bfloat16>>(t, p, 16).compute(in<bfloat16, 16>(a, i)))))

// Loops that are written out: every other number, then rows and columns, then twice.
CHECK(unrolled, const auto x = in<int16, 32>(a, i); aie::vector<int16, 32> y;
      aie::unroll_for<int, 30, -2, -2>([&](auto at) { y.set(x.get(decltype(at)::value), unsigned(at) / 2); });
      aie::unroll_for_2d<int, 0, 2, 1, 0, 4, 1>([&](auto row, auto column) { y.set(int16(10 * row + column), 16 + 4 * row + column); });
      aie::unroll_times<2>([&] { y.set(int16(y.get(24) + 1), 24); }); put(out, i, y))
CHECK(typed_circles, aie::random_circular_iterator<const int16, 8> one(static_cast<const int16 *>(a)); one -= p;
      aie::vector_random_circular_iterator<const int16, 16, 64> many(static_cast<const int16 *>(a)); many += p;
      auto y = aie::vector<int16, 16>(*many); y.set(*one, 0); put(out, i, y))

// Elements of bfloat16 beside each other and beside floats; a vector as lanes.
CHECK(compared_elements, const auto x = in<bfloat16, 16>(a, i); auto y = x; const bfloat16 first = x[0]; auto *to = static_cast<uint8 *>(out) + 16 * i;
      for (unsigned at = 0; at < 16; ++at)
          to[at] = uint8((y[at] > first) | (first >= y[at]) << 1 | (y[at] == x[0]) << 2 | (x[at] < 0.25f) << 3 | (0.25f != y[at]) << 4))
CHECK(cast_to_lanes, const aie::accum<acc32, 8> x = aie::vector_cast<acc32>(in<int16, 16>(a, i)); put(out, i, x))

// Stages of FFTs: n points, `of` are radix, vectorization, shift of the twiddles, shift and direction.
template <typename Input, typename Output, typename Twiddle>
void fft(const void *a, const void *b, const void *of, void *out, unsigned n) {
    const auto *x = static_cast<const Input *>(a);
    const auto *tw = static_cast<const Twiddle *>(b);
    const auto *how = static_cast<const unsigned *>(of);
    const unsigned each = n / how[0] / how[1];
    auto *to = static_cast<Output *>(out);
    if (how[0] == 2) aie::fft_dit_r2_stage(x, tw, n, how[1], how[2], how[3], how[4], to);
    else aie::fft_dit_r4_stage(x, tw + each, tw, tw + 2 * each, n, how[1], how[2], how[3], how[4], to);
}
extern "C" void fft_cint16(const void *a, const void *b, const void *of, void *out, int n, int) { fft<cint16, cint16, cint16>(a, b, of, out, n); }
extern "C" void fft_cint32(const void *a, const void *b, const void *of, void *out, int n, int) { fft<cint16, cint32, cint16>(a, b, of, out, n); }
extern "C" void fft_cfloat(const void *a, const void *b, const void *of, void *out, int n, int) {
    const auto *x = static_cast<const cfloat *>(a);
    if (static_cast<const unsigned *>(of)[1] == 8)
        aie::fft_dit_r2_stage<8>(x, static_cast<const cfloat *>(b), n, false, static_cast<cfloat *>(out));
    else fft<cfloat, cfloat, cfloat>(a, b, of, out, n);
}

// Block floats.
CHECK(blocks_of_floats, const auto x = lanes<accfloat, 64>(a, i).to_vector<bfp16ebs8>(); std::memcpy(static_cast<char *>(out) + sizeof x * i, &x, sizeof x))
CHECK(floats_at_a_block, aie::block_vector_input_buffer_stream<bfp16ebs8, 64> from(static_cast<const bfp16ebs8 *>(a) + i);
      const auto x = from.pop(); for (unsigned at = 0; at < 64; ++at) static_cast<float *>(out)[64 * i + at] = x.get(at))
CHECK(floats_of_blocks, aie::block_vector_input_buffer_stream<bfp16ebs8, 64> from(static_cast<const bfp16ebs8 *>(a)); from.seek(i);
      put(out, i, aie::accum<accfloat, 64>(from.pop())))

// Single numbers, and modes.
CHECK(references_compare, const auto x = in<bfloat16, 16>(a, i); auto y = x; const bfloat16 first = x.get(0);
      RUNTIME_ASSERT(!(x[0] < first), "a reference is less than its element");
      static_cast<uint8_t *>(out)[i] = (y[1] > first) + 2 * (y[1] < y[2]) + 4 * (y[1] == x[1]))
CHECK(bfloat16_of_float, static_cast<bfloat16 *>(out)[i] = bfloat16(static_cast<const float *>(a)[i]))
CHECK(constant_bfloat16, static_cast<bfloat16 *>(out)[i] = 0.044715f)
CHECK(swap_modes, auto *to = static_cast<uint32 *>(out); to[0] = unsigned(aie::swap_rounding(aie::rounding_mode::conv_even));
      to[1] = unsigned(aie::swap_saturation(aie::saturation_mode::symmetric)); to[2] = unsigned(aie::tile::current().get_rounding());
      to[3] = unsigned(aie::tile::current().get_saturation()); to[4] = aie::tile::current().id().col; to[5] = aie::tile::current().id().row)
