// The AIE API on the host: memtile's own implementation of the interface that UG1529 documents.
//
// `docs/cpp_api.md` lists what there is, by chapter of UG1529, and where results are a choice of ours.
#pragma once

#include "block_vector.hpp"
#include "compare_select.hpp"
#include "conversions.hpp"
#include "elementary.hpp"
#include "iterators.hpp"
#include "load_store.hpp"
#include "lookup.hpp"
#include "mmul.hpp"
#include "mul.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "shuffles.hpp"
#include "sliding_mul.hpp"
#include "tile.hpp"
#include "utils.hpp"
