#pragma once

#include <Eigen/Core>

namespace exposim {

// Of matrices whose columns begin at multiples of `stride` numbers, a multiple of four, filled up with zeros. Results
// are whole fours.

/// x = X w
void multiply_columns(Eigen::Index rows, Eigen::Index columns, Eigen::Index stride, const double* X, const double* w,
                      double* x);
/// x += X w
void add_columns(Eigen::Index rows, Eigen::Index columns, Eigen::Index stride, const double* X, const double* w,
                 double* x);
/// X += C diag(w) Cᵀ for a square X
void add_squares(Eigen::Index rows, Eigen::Index columns, Eigen::Index stride, const double* C, const double* w,
                 double* X);
/// X = RᵀA with those rows of R that A has: `which` tells the row of R for each of its own, of which `columns` entries
/// stand side by side.
/// @param rows of X, and `R_stride` where rows of R begin.
void combine_rows(Eigen::Index rows, Eigen::Index columns, Eigen::Index count, const Eigen::Index* which,
                  const double* A, Eigen::Index R_stride, const double* R, Eigen::Index stride, double* X);

}  // namespace exposim
