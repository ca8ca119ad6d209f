#pragma once
#include <adf.h>

template <typename T>
class Fir {
    int32 taps[3];
    int32 sum, made;

  public:
    Fir(const int32 (&of)[3], T first);
    void filter(adf::input_buffer<T>& in, adf::output_buffer<int32>& out);
    static void registerKernelClass() { REGISTER_FUNCTION(Fir::filter); }
};
class Counter {
    int32 from;

  public:
    void init();
    void next(adf::output_buffer<int32>& out);
    static void registerKernelClass() { REGISTER_FUNCTION(Counter::next); }
};
