// Integers of the scalar unit (AI Engine-ML Intrinsics User Guide, Integer Operations).
#pragma once

#include <bit>
#include <cstdint>

/// Leading bits that are as the sign: zeros of a number from 0 on, ones of one below.
inline unsigned clb(int a) { return std::countl_zero(static_cast<std::uint32_t>(a < 0 ? ~a : a)); }
inline unsigned clb(unsigned a) { return std::countl_zero(a); }
inline unsigned clb(long long a) { return std::countl_zero(static_cast<std::uint64_t>(a < 0 ? ~a : a)); }
inline unsigned clb(unsigned long long a) { return std::countl_zero(a); }
inline unsigned clb(long a) { return clb(static_cast<long long>(a)); }
inline unsigned clb(unsigned long a) { return clb(static_cast<unsigned long long>(a)); }

/// The least number keeps its sign, as the core's word does.
inline int scalar_abs(int a) { return static_cast<int>(a < 0 ? 0u - static_cast<unsigned>(a) : static_cast<unsigned>(a)); }
