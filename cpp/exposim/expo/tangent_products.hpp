#pragma once

#include "exposim/kernels/row_sums.hpp"
#include "exposim/step_tangent.hpp"

namespace exposim {

// Products of small matrices with tangents, whose rows are multiples of four long: several numbers at a time.

inline Rows3 rows3(const Tangent& x, Eigen::Index first) {
  return {const_cast<double*>(x.data()) + first * x.cols(), x.cols()};
}
Rows3 rows3(Tangent&& x, Eigen::Index first) = delete;  // they would not outlive it
/// Nothing, of that size.
inline void clear(RowMatrixXd& x, Eigen::Index rows, Eigen::Index columns) {
  x.resize(rows, columns);
  clear_numbers(x.size(), x.data());
}

/// out = a x + b y, all numbers of them; out may be one of them.
inline void combine(double a, const RowMatrixXd& x, double b, const RowMatrixXd& y, RowMatrixXd& out) {
  out.resize(x.rows(), x.cols());
  const double factors[] = {a, b};
  const double* const both[] = {x.data(), y.data()};
  sum_rows(x.size(), 2, factors, both, out.data());
}
/// out = a x
inline void scale(double a, const RowMatrixXd& x, RowMatrixXd& out) {
  out.resize(x.rows(), x.cols());
  const double* const only = x.data();
  sum_rows(x.size(), 1, &a, &only, out.data());
}
/// Some rows of a matrix, where they stand.
class RowsAt {
 public:
  RowsAt(RowMatrixXd& x, const std::vector<Eigen::Index>& rows) {
    rows_.reserve(rows.size());
    for (const Eigen::Index i : rows) rows_.push_back(x.data() + i * x.cols());
  }
  explicit RowsAt(RowMatrixXd& x) {
    rows_.reserve(static_cast<std::size_t>(x.rows()));
    for (Eigen::Index i = 0; i < x.rows(); ++i) rows_.push_back(x.data() + i * x.cols());
  }
  double* const* data() const { return rows_.data(); }

 private:
  std::vector<double*> rows_;
};
/// y = plus + A x of rows of so many numbers. @param plus null: nothing.
inline void multiply(const RowMatrixXd& A, const RowsAt& x, const RowsAt* plus, Eigen::Index length, const RowsAt& y) {
  multiply_rows_at(A.rows(), A.cols(), length, A.data(), A.cols(), x.data(), plus ? plus->data() : nullptr, y.data());
}

/// y += A x
inline void add_product(const RowMatrixXd& A, const Tangent& x, Tangent& y) {
  multiply_rows(A.rows(), A.cols(), x.cols(), x.cols(), A.data(), A.cols(), x.data(), y.data(), y.data());
}
/// y = A x
inline void multiply(const RowMatrixXd& A, const Tangent& x, Tangent& y) {
  y.resize(A.rows(), x.cols());
  multiply_rows(A.rows(), A.cols(), x.cols(), x.cols(), A.data(), A.cols(), x.data(), nullptr, y.data());
}
inline Tangent product(const RowMatrixXd& A, const Tangent& x) {
  Tangent y;
  multiply(A, x, y);
  return y;
}

}  // namespace exposim
