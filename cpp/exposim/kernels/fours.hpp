#pragma once

#include <Eigen/Core>

// Loops over four numbers at a time, compiled for machines that can (AVX2, fused multiplication) beside all others,
// with the same operations in the same order; rounding is that of the machine. They call nothing of the standard
// library, which would not be inlined into them. Columns of matrices, and vectors, are filled up with zeros to
// multiples of four.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#if __GNUC__ >= 12
#define EXPOSIM_FOR_EACH_MACHINE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define EXPOSIM_FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#endif
#else
#define EXPOSIM_FOR_EACH_MACHINE
#endif
#define EXPOSIM_INLINE inline __attribute__((always_inline))
#define EXPOSIM_INLINE_CALL __attribute__((always_inline))

namespace exposim {

constexpr Eigen::Index kFour = 4;
using Four = double __attribute__((vector_size(kFour * sizeof(double)), aligned(sizeof(double)), may_alias));

/// The i-th four of some numbers.
EXPOSIM_INLINE Four& four(double* x, Eigen::Index i) { return reinterpret_cast<Four*>(x)[i]; }
EXPOSIM_INLINE const Four& four(const double* x, Eigen::Index i) { return reinterpret_cast<const Four*>(x)[i]; }

constexpr Eigen::Index fours(Eigen::Index n) { return (n + kFour - 1) / kFour; }
constexpr Eigen::Index padded(Eigen::Index n) { return kFour * fours(n); }

}  // namespace exposim
