#include "graph.h"

TiledImage tiled;

int main() {
    tiled.init();
    tiled.run(2);
    tiled.end();
    return 0;
}
