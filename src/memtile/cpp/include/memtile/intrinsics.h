// Intrinsics of AIE-ML and AIE2P that kernels call beside or instead of the AIE API, on the host.
//
// Their vectors and accumulators are those of the AIE API (aie_api/detail/storage.hpp), so that names that both have
// (add, sub, max, min, concat, ...) are found there by their arguments. Sources: UG1583 (AI Engine-ML Intrinsics User
// Guide) for names and types, and what public kernels expect; what neither says is DEV-INTRINSIC-1 to 4.
#pragma once

#include <cassert>

#include "aie_api/aie.hpp"

#include "memtile/intrinsics/chess.h"
#include "memtile/intrinsics/conversions.h"
#include "memtile/intrinsics/core_calls.h"
#include "memtile/intrinsics/elements.h"
#include "memtile/intrinsics/integers.h"
#include "memtile/intrinsics/lookups.h"
#include "memtile/intrinsics/products.h"
#include "memtile/intrinsics/shuffles.h"
