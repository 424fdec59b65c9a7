#pragma once

#include <Eigen/Core>

#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/identity_plus.hpp"

namespace exposim {

// The loops of SeriesKernel, four numbers at a time.

/// A B of a matrix of blocks.
void set_product(Eigen::Index n, const double* A, const DiagonalBlock* B, std::size_t blocks, double* product);
/// sums += |A| w
void add_magnitudes(Eigen::Index n, const double* A, const double* w, double* sums);
/// x −= A w
void subtract_columns(Eigen::Index n, const double* A, const double* w, double* x);

/// F_{k+1} = (A − z₀)/ρ F_k − s F_{k−1} of vectors (y, t y'), twice the s for k = 1.
struct FaberRecursion {
  double by_y, by_dy;  ///< t²/ρ, and t/ρ, or tc/ρ without ΥB
  double shift;        ///< −z₀/ρ
  double inverse;      ///< 1/ρ
  double s;
};
/// All terms behind the first. @param UB null: damping is c times stiffness. @param w scratch.
void expand_series(Eigen::Index n, const double* UK, const double* UB, const FaberRecursion& by, std::size_t terms,
                   double* x, double* w);
/// Sums of y with three series, and of t y' with the first.
void sum_series(Eigen::Index n, std::size_t terms, const double* x, const double* first, const double* second,
                const double* third, double* sums);
/// Sums of y and t y'.
void sum_motion(Eigen::Index n, std::size_t terms, const double* x, const double* factors, double* sums);

}  // namespace exposim
