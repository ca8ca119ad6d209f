// Tilings of a graph, read by `memtile lower examples/tilings/quarters.h -D W=8 -D H=8`: a part of a constructor will do.
constexpr uint planes = 16;
image = adf::shared_buffer<int32>::create({W, H, planes}, 1, 2);

adf::write_access(image.in[0]) = adf::tiling({.tiling_dimension = {W, H, planes}});

adf::read_access(image.out[0]) = adf::tiling({
    .tiling_dimension = {W / 2, H / 2, 1},
    .offset = {0, 0, 0},
    .tile_traversal = {{.dimension = 0, .stride = W / 2, .wrap = 2},
                       {.dimension = 1, .stride = H / 2, .wrap = 2},
                       {.dimension = 2, .stride = 1, .wrap = planes}}});

adf::tiling_parameters halo = {
    .buffer_dimension = {W, H},
    .tiling_dimension = {W / 2 + 2, H / 2 + 2},
    .offset = {-1, -1},
    .tile_traversal = {{.dimension = 0, .stride = W / 2, .wrap = 2}, {.dimension = 1, .stride = H / 2, .wrap = 2}}};
adf::read_access(image.out[1]) = adf::tiling(halo);
