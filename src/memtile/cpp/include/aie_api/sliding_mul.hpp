// Filters (UG1529, Special Multiplications): lane l gets the sum over p of
// coeff[coeff_start + p * CoeffStep] * data[data_start + l * DataStepY + p * DataStepX]; indices wrap in each vector.
#pragma once

#include "mul.hpp"

namespace aie {

template <unsigned Lanes_, unsigned Points_, int CoeffStep, int DataStepX, int DataStepY, typename CoeffType,
          typename DataType, typename AccumTag = accauto>
struct sliding_mul_ops {
    static constexpr unsigned lanes = Lanes_;
    static constexpr unsigned points = Points_;
    using accum_tag = detail::tag_of<AccumTag, CoeffType, DataType>;
    using accum_type = accum<accum_tag, lanes>;

    template <unsigned C, unsigned D>
    static constexpr accum_type mul(const vector<CoeffType, C>& coeff, unsigned coeff_start,
                                    const vector<DataType, D>& data, unsigned data_start) {
        return summed(accum_type{}, coeff, coeff_start, data, data_start, false);
    }
    template <unsigned C, unsigned D>
    static constexpr accum_type negmul(const vector<CoeffType, C>& coeff, unsigned coeff_start,
                                       const vector<DataType, D>& data, unsigned data_start) {
        return summed(accum_type{}, coeff, coeff_start, data, data_start, true);
    }
    template <unsigned C, unsigned D>
    static constexpr accum_type mac(const accum_type& onto, const vector<CoeffType, C>& coeff, unsigned coeff_start,
                                    const vector<DataType, D>& data, unsigned data_start) {
        return summed(onto, coeff, coeff_start, data, data_start, false);
    }
    template <unsigned C, unsigned D>
    static constexpr accum_type msc(const accum_type& onto, const vector<CoeffType, C>& coeff, unsigned coeff_start,
                                    const vector<DataType, D>& data, unsigned data_start) {
        return summed(onto, coeff, coeff_start, data, data_start, true);
    }

  private:
    template <unsigned C, unsigned D>
    static constexpr accum_type summed(accum_type onto, const vector<CoeffType, C>& coeff, unsigned coeff_start,
                                       const vector<DataType, D>& data, unsigned data_start, bool minus) {
        using Slot = typename accum_type::slot;
        detail::count_macs<CoeffType, DataType>(lanes * points);
        for (unsigned point = 0; point < points; ++point) {
            const CoeffType factor = coeff.get((coeff_start + point * unsigned(CoeffStep)) % C);
            for (unsigned lane = 0; lane < lanes; ++lane) {
                const unsigned from = data_start + lane * unsigned(DataStepY) + point * unsigned(DataStepX);
                onto.slots[lane] =
                    detail::lane_sum(onto.slots[lane], detail::product<Slot>(factor, data.get(from % D)), minus);
            }
        }
        return onto;
    }
};

template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepX, typename CoeffType, typename DataType,
          typename AccumTag = accauto>
using sliding_mul_x_ops = sliding_mul_ops<Lanes, Points, CoeffStep, DataStepX, 1, CoeffType, DataType, AccumTag>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepY, typename CoeffType, typename DataType,
          typename AccumTag = accauto>
using sliding_mul_y_ops = sliding_mul_ops<Lanes, Points, CoeffStep, 1, DataStepY, CoeffType, DataType, AccumTag>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int DataStepXY, typename CoeffType, typename DataType,
          typename AccumTag = accauto>
using sliding_mul_xy_ops =
    sliding_mul_ops<Lanes, Points, CoeffStep, DataStepXY, DataStepXY, CoeffType, DataType, AccumTag>;

template <unsigned Lanes, unsigned Points, int CoeffStep = 1, int DataStepX = 1, int DataStepY = 1,
          typename Tag = accauto, typename C, unsigned CN, typename D, unsigned DN>
constexpr auto sliding_mul(const vector<C, CN>& coeff, unsigned coeff_start, const vector<D, DN>& data,
                           unsigned data_start) {
    return sliding_mul_ops<Lanes, Points, CoeffStep, DataStepX, DataStepY, C, D, Tag>::mul(coeff, coeff_start, data,
                                                                                            data_start);
}
template <unsigned Lanes, unsigned Points, int CoeffStep = 1, int DataStepX = 1, int DataStepY = 1, typename Tag,
          typename C, unsigned CN, typename D, unsigned DN>
constexpr auto sliding_mac(const accum<Tag, Lanes>& onto, const vector<C, CN>& coeff, unsigned coeff_start,
                           const vector<D, DN>& data, unsigned data_start) {
    return sliding_mul_ops<Lanes, Points, CoeffStep, DataStepX, DataStepY, C, D, Tag>::mac(onto, coeff, coeff_start,
                                                                                            data, data_start);
}

}  // namespace aie
