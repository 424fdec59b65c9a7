#pragma once

#include <Eigen/Core>

namespace exposim {

// Of matrices whose columns begin at multiples of `stride` numbers, a multiple of four, filled up with zeros.

/// x = X w
/// @param x with room for whole fours.
void multiply_columns(Eigen::Index rows, Eigen::Index columns, Eigen::Index stride, const double* X, const double* w,
                      double* x);
/// X += factor · c cᵀ for a square X
void add_square(Eigen::Index n, Eigen::Index stride, double factor, const double* c, double* X);
/// x += factor · c
void add_column(Eigen::Index n, double factor, const double* c, double* x);

}  // namespace exposim
