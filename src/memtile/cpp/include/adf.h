// A graph of UG1603, as its kernels see it.
#pragma once

#include "adf/buffers.h"
#include "adf/streams.h"
#include "adf/windows.h"

#ifndef REGISTER_FUNCTION
#define REGISTER_FUNCTION(function)
#define REGISTER_PARAMETER(parameter)
#endif
