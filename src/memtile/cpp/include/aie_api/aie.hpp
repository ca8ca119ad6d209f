// The AIE API on the host: memtile's own implementation of the interface that UG1529 documents.
//
// `docs/aie_api.md` lists what there is, by chapter of UG1529, and where results are a choice of ours.
#ifndef MEMTILE_AIE_API
#define MEMTILE_AIE_API

#include "memtile/own_letters.h"

#include "block_vector.hpp"
#include "compare_select.hpp"
#include "conversions.hpp"
#include "elementary.hpp"
#include "fft.hpp"
#include "iterators.hpp"
#include "load_store.hpp"
#include "lookup.hpp"
#include "mmul.hpp"
#include "modifiers.hpp"
#include "mul.hpp"
#include "not_simulated.hpp"
#include "operators.hpp"
#include "reductions.hpp"
#include "shuffles.hpp"
#include "sliding_mul.hpp"
#include "tensor_streams.hpp"
#include "tile.hpp"
#include "utils.hpp"

#include "memtile/users_letters.h"

#endif

// The prelude of a kernel has included all this before the first line of the user's source.
#if defined(AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16) && !defined(MEMTILE_BFLOAT16_AS_BLOCKS)
#error "AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16 has no effect here: give it to the compiler, --define or defines= of memtile"
#endif
