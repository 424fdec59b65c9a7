#pragma once

#include "exposim/kernels/row_sums.hpp"
#include "exposim/step_tangent.hpp"

namespace exposim {

// Products of small matrices with tangents, whose rows are multiples of four long: several numbers at a time.

inline Rows3 rows3(const Tangent& x, Eigen::Index first) {
  return {const_cast<double*>(x.data()) + first * x.cols(), x.cols()};
}
/// Nothing, of that size.
inline void clear(RowMatrixXd& x, Eigen::Index rows, Eigen::Index columns) {
  x.resize(rows, columns);
  clear_numbers(x.size(), x.data());
}

/// y += A x
inline void add_product(const RowMatrixXd& A, const Tangent& x, Tangent& y) {
  multiply_rows(A.rows(), A.cols(), x.cols(), x.cols(), A.data(), A.cols(), x.data(), y.data(), y.data());
}
/// A x
inline Tangent product(const RowMatrixXd& A, const Tangent& x) {
  Tangent y(A.rows(), x.cols());
  multiply_rows(A.rows(), A.cols(), x.cols(), x.cols(), A.data(), A.cols(), x.data(), nullptr, y.data());
  return y;
}

}  // namespace exposim
