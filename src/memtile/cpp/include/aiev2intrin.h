// The name under which the compiler of AIE-ML offers its intrinsics.
#pragma once
#include "memtile/intrinsics.h"
