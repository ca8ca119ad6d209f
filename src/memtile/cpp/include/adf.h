// Adaptive data flow graphs on the host: memtile's own implementation of the interface that UG1603 and UG1079 document.
//
// A graph's constructor records what it says; `memtile.adf.description` documents the result. The calls of `main` become
// requests to memtile (`memtile.adf.host_program`).
#ifndef MEMTILE_ADF
#define MEMTILE_ADF

#include "memtile/own_letters.h"

#include "adf/elements.h"

#include "adf/buffers.h"
#include "adf/streams.h"
#include "adf/windows.h"

#include "adf/graph/connections.h"
#include "adf/graph/constraints.h"
#include "adf/graph/graph.h"
#include "adf/graph/kernel.h"
#include "adf/graph/memory.h"
#include "adf/graph/outside.h"
#include "adf/graph/packets.h"
#include "adf/graph/places.h"
#include "adf/graph/profiling.h"

#include "memtile/users_letters.h"

#endif
