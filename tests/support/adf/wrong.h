#include <adf.h>
#include <cstdlib>

void one(input_stream<int32>* in, output_stream<int32>* out);
static void hidden(input_stream<int32>*) {}
void absent(int);

// A graph that does what a graph must not, as the variable WRONG of the environment says.
class wrong : public adf::graph {
public:
    adf::kernel k;
    wrong() {
        const std::string chosen = std::getenv("WRONG") ? std::getenv("WRONG") : "";
        if (chosen != "kernel" && chosen != "early") k = adf::kernel::create(one);
        if (chosen == "port") {
            k.in[1].node_or_null(); }
        if (chosen == "kernel") adf::stack_size(k) = 2048;
        if (chosen == "early") k.out[0].node_or_null();
        if (chosen == "static") k = adf::kernel::create(hidden);
        if (chosen == "source")
            adf::connect<>(k, k.in[0]);
        if (chosen == "logic") adf::fabric<adf::pl>(k);
        if (chosen == "missing") absent(3);
    }
};
