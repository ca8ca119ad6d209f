// Places that `location<...>(object) = ...` names.
//
// Sources: UG1603 and UG1079, Location Constraints; Shared Buffers Constraint; Relative Constraints.
#pragma once

#include "ports.h"

namespace adf {

enum tile_type { aie_tile, shim_tile, memory_tile };
enum dma_channel_direction { s2mm, mm2s };

namespace detail {
inline std::string tile_text(tile_type type) {
    return recorder::text(type == aie_tile ? "aie_tile" : type == shim_tile ? "shim_tile" : "memory_tile");
}
}  // namespace detail

using aie::tile;  // one class, so that sources may use both namespaces

/// One place, as JSON of the description.
struct place {
    place() = default;
    explicit place(std::string text) : json(std::move(text)) {}
    place(const tile& at)
        : json(recorder::object({{"kind", recorder::text("tile")},
                                 {"column", recorder::integer(at.named_column)},
                                 {"row", recorder::integer(at.named_row)}})) {}
    std::string json;
};

struct address : place {
    address(int column, int row, int offset)
        : place{recorder::object({{"kind", recorder::text("address")},
                                  {"column", recorder::integer(column)},
                                  {"row", recorder::integer(row)},
                                  {"number", recorder::integer(offset)}})} {}
};
struct bank : place {
    bank(int column, int row, int number)
        : place{recorder::object({{"kind", recorder::text("bank")},
                                  {"column", recorder::integer(column)},
                                  {"row", recorder::integer(row)},
                                  {"number", recorder::integer(number)}})} {}
};
struct offset : place {
    explicit offset(int bytes)
        : place{recorder::object({{"kind", recorder::text("offset")}, {"number", recorder::integer(bytes)}})} {}
};
struct shim : place {
    explicit shim(int column, int channel = -1)
        : place{recorder::object({{"kind", recorder::text("shim")},
                                  {"column", recorder::integer(column)},
                                  {"number", recorder::integer(channel)}})} {}
};
struct dma_channel : place {
    dma_channel(tile_type type, int column, int row, int channel)
        : place{recorder::object({{"kind", recorder::text("dma_channel")},
                                  {"tile_kind", detail::tile_text(type)},
                                  {"column", recorder::integer(column)},
                                  {"row", recorder::integer(row)},
                                  {"number", recorder::integer(channel)}})} {}
};
/// A FIFO of a connection in a tile's memory: `dma_fifo(type, column, row, offset, bytes)`.
struct dma_fifo : place {
    dma_fifo(tile_type type, int column, int row, int offset, int bytes)
        : place{recorder::object({{"kind", recorder::text("dma_fifo")},
                                  {"tile_kind", detail::tile_text(type)},
                                  {"column", recorder::integer(column)},
                                  {"row", recorder::integer(row)},
                                  {"number", recorder::integer(offset)},
                                  {"nbytes", recorder::integer(bytes)}})} {}
};
/// A FIFO of a connection in a switch.
struct ss_fifo : place {
    ss_fifo(tile_type type, int column, int row, int number)
        : place{recorder::object({{"kind", recorder::text("ss_fifo")},
                                  {"tile_kind", detail::tile_text(type)},
                                  {"column", recorder::integer(column)},
                                  {"row", recorder::integer(row)},
                                  {"number", recorder::integer(number)}})} {}
};

/// Tiles of a kind from a corner to the other, both included.
struct area {
    tile_type type;
    int first_column, first_row, last_column, last_row;
    std::string json() const {
        return recorder::object({{"kind", recorder::text("area")},
                                 {"tile_kind", detail::tile_text(type)},
                                 {"column", recorder::integer(first_column)},
                                 {"row", recorder::integer(first_row)},
                                 {"last_column", recorder::integer(last_column)},
                                 {"last_row", recorder::integer(last_row)}});
    }
};
struct area_group {
    std::vector<area> areas;
    bool contains_routing;
    bool excludes_routing;
    bool excludes_placement;
    area_group(std::initializer_list<area> of, bool contain_routing = false, bool exclusive_routing = false, bool exclusive_placement = false)
        : area_group(std::vector<area>(of), contain_routing, exclusive_routing, exclusive_placement) {}
    area_group(const std::vector<area>& of, bool contain_routing = false, bool exclusive_routing = false, bool exclusive_placement = false)
        : areas(of), contains_routing(contain_routing), excludes_routing(exclusive_routing), excludes_placement(exclusive_placement) {}
};
struct bounding_box {
    area of;
    bounding_box(int first_column, int first_row, int last_column, int last_row)
        : of{aie_tile, first_column, first_row, last_column, last_row} {}
};

/// Columns and rows between two objects (github.com/rehohoho/onnx2versal has arrays of them).
struct relative_coordinate {
    int col_offset = 0;
    int row_offset = 0;
};
/// How far from another object: `location<kernel>(a) + relative_offset({.col_offset = 1})`.
struct relative_offset {
    relative_coordinate by;
    relative_offset(relative_coordinate of) : by(of) {}
};

}  // namespace adf
