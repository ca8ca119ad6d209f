// A graph of UG1603, as its kernels see it.
#pragma once

#include "aie_api/aie_adf.hpp"

#ifndef REGISTER_FUNCTION
#define REGISTER_FUNCTION(function)
#define REGISTER_PARAMETER(parameter)
#endif
