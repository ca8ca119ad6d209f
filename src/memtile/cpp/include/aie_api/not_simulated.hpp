// Names of UG1529 that memtile does not have, so that the compiler says why at the line that uses one.
#pragma once

#include "detail/scalars.hpp"

namespace aie {

namespace detail {
template <typename...>
inline constexpr bool never_v = false;
}  // namespace detail

#define MEMTILE_SPARSE                                                                                              \
    "memtile does not have sparse vectors: UG1603 has masks of 32 bits for 256 of data and UG1583 of 64 for 512, "   \
    "and no page says in which order a sparse matrix lies. Expand it and use aie::vector"
template <typename T, unsigned N>
class sparse_vector {
    static_assert(detail::never_v<T>, MEMTILE_SPARSE);
};
template <typename T, unsigned N, auto... Resource>
class sparse_vector_input_buffer_stream {
    static_assert(detail::never_v<T>, MEMTILE_SPARSE);

  public:
    explicit sparse_vector_input_buffer_stream(const T*);
};
#undef MEMTILE_SPARSE

#define MEMTILE_SYMMETRIC                                                                                            \
    "memtile does not have symmetric filters: of AIE-ML, UG1603 lists sliding_mul_ops and its x, y and xy forms. Add " \
    "the data first and use these"
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepX, int DataStepY, typename C, typename... More>
struct sliding_mul_sym_ops {
    static_assert(detail::never_v<C>, MEMTILE_SYMMETRIC);
};
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepX, typename... Types>
using sliding_mul_sym_x_ops = sliding_mul_sym_ops<Lanes, Points, CoeffStep, DataStepX, 1, Types...>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepY, typename... Types>
using sliding_mul_sym_y_ops = sliding_mul_sym_ops<Lanes, Points, CoeffStep, 1, DataStepY, Types...>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepXY, typename... Types>
using sliding_mul_sym_xy_ops = sliding_mul_sym_ops<Lanes, Points, CoeffStep, DataStepXY, DataStepXY, Types...>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStep, typename C, typename... More>
struct sliding_mul_sym_uct_ops {
    static_assert(detail::never_v<C>, MEMTILE_SYMMETRIC);
};
#undef MEMTILE_SYMMETRIC
template <unsigned Outputs, unsigned Channels, unsigned Points, int CoeffStep, int DataStepX, int DataStepY, typename C,
          typename... More>
struct sliding_mul_ch_ops {
    static_assert(detail::never_v<C>,
                  "memtile does not have filters of several channels: UG1529 does not say which coefficients and data a "
                  "lane of sliding_mul_ch_ops gets");
};

#define MEMTILE_FFT(name)                                                                                              \
    template <unsigned... Vectorization, typename Input, typename... More>                                             \
    void name(const Input*, const More&...) {                                                                          \
        static_assert(detail::never_v<Input>,                                                                          \
                      "memtile has stages of FFTs of radix 2 and 4: neither UG1529 nor a published output says where " \
                      "those of radix 3 and 5 round and saturate between the shifts");                                 \
    }
MEMTILE_FFT(fft_dit_r3_stage)
MEMTILE_FFT(fft_dit_r5_stage)
#undef MEMTILE_FFT

}  // namespace aie
