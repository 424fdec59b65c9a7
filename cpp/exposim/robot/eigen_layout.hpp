#pragma once

#include <Eigen/Core>

namespace exposim {

// Matrices made here are freed in Pinocchio's library and the other way round, and those of fixed size lie in structs
// that both know. Another alignment, or another way to allocate it, would corrupt memory without a word.
static_assert(EIGEN_DEFAULT_ALIGN_BYTES == 16 && EIGEN_MAX_STATIC_ALIGN_BYTES == 16,
              "Pinocchio's wheels align matrices to 16 bytes: build without -march=native and -mavx");
static_assert(EIGEN_MALLOC_ALREADY_ALIGNED == 1,
              "Pinocchio's wheels take matrices from malloc as it is: build with -DEIGEN_MALLOC_ALREADY_ALIGNED=1");

}  // namespace exposim
