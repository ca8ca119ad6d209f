// c += a b with aie::mmul: 32 x 64 and 64 x 32 of int8 in blocks of 4 x 8 and 8 x 8, c of int32 in blocks of 4 x 8.
#include <aie_api/aie.hpp>

constexpr unsigned rows = 32, inner = 64, columns = 32;
using Block = aie::mmul<4, 8, 8, int8, int8>;

extern "C" void gemm_i8_i32(int8_t *restrict a, int8_t *restrict b, int32_t *restrict c) {
    event0();
    for (unsigned row = 0; row < rows / Block::M; ++row)
        for (unsigned column = 0; column < columns / Block::N; ++column) {
            int32_t *restrict place = c + (row * (columns / Block::N) + column) * Block::size_C;
            Block sum(aie::load_v<Block::size_C>(place));
            for (unsigned k = 0; k < inner / Block::K; ++k) {
                const auto left = aie::load_v<Block::size_A>(a + (row * (inner / Block::K) + k) * Block::size_A);
                const auto right = aie::load_v<Block::size_B>(b + (k * (columns / Block::N) + column) * Block::size_B);
                sum.mac(left, right);
            }
            aie::store_v(place, sum.to_vector<int32_t>());
        }
    event1();
}

extern "C" void clear_i32(int32_t *restrict c) {
    for (unsigned at = 0; at < rows * columns; at += 16) aie::store_v(c + at, aie::zeros<int32_t, 16>());
}
