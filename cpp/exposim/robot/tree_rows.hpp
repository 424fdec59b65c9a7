#pragma once

#include "exposim/robot/tree_factor.hpp"

namespace exposim {

// Of rows of many numbers, a multiple of four, one behind the other and a row to each degree of freedom of a tree.

/// Factors U D L: columns of U and rows of L, whose own entries are taken for one.
struct TreeFactors {
  const double *U, *L;
  const double* inverse_D;
};
/// Multiplies rows by (U D L)⁻¹ in place.
void solve_tree_rows(const TreeLayout& tree, const TreeFactors& factors, Eigen::Index length, double* rows);
/// to += A times rows, A row by row.
void multiply_tree_rows(const TreeLayout& tree, const double* A, Eigen::Index length, const double* rows, double* to);

}  // namespace exposim
