#pragma once

#include <Eigen/Core>

// Loops over four numbers at a time: the same operations in the same order whether the machine can or not, and so the
// same bits. Columns of matrices, and vectors, are filled up with zeros to multiples of four.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EXPOSIM_FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define EXPOSIM_FOR_EACH_MACHINE
#endif
#define EXPOSIM_INLINE inline __attribute__((always_inline))
#define EXPOSIM_INLINE_CALL __attribute__((always_inline))

namespace exposim {

constexpr Eigen::Index kFour = 4;
using Four = double __attribute__((vector_size(kFour * sizeof(double)), aligned(sizeof(double)), may_alias));

constexpr Eigen::Index fours(Eigen::Index n) { return (n + kFour - 1) / kFour; }

}  // namespace exposim
