#include "tiled.h"

tiled gr;

int main(int, char**) {
    gr.init();
    gr.run(4);
    gr.end();
    return 0;
}
