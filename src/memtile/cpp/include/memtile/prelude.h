// What a kernel finds without an #include: AMD's compilers for the core know fixed-width integers and the intrinsics.
#pragma once
#include <stddef.h>
#include <stdint.h>
#if __has_include("memtile/intrinsics.h")
#include "memtile/own_letters.h"
#include "memtile/intrinsics.h"
#include "memtile/users_letters.h"
#endif
