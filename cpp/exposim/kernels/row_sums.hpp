#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

namespace exposim {

// Of rows whose length is a multiple of four, filled up with zeros.

void clear_numbers(Eigen::Index count, double* x);
/// out = Σ factors[k] rows[k]; out may be one of the rows.
void sum_rows(Eigen::Index length, Eigen::Index count, const double* factors, const double* const* rows, double* out);
/// y = plus + A x for rows of x, y and `plus` that begin every `stride` numbers; A row by row.
/// @param length of that part of x that is not zero.
/// @param plus null: nothing.
void multiply_rows(Eigen::Index rows, Eigen::Index inner, Eigen::Index length, Eigen::Index stride, const double* A,
                   Eigen::Index stride_A, const double* x, const double* plus, double* y);

/// The same of rows that stand anywhere.
void multiply_rows_at(Eigen::Index rows, Eigen::Index inner, Eigen::Index length, const double* A,
                      Eigen::Index stride_A, const double* const* x, const double* const* plus, double* const* y);

// Of rows of any length, which begin every so many numbers:
/// y += x and z += factor x; z like y.
void add_rows_twice(Eigen::Index rows, Eigen::Index length, Eigen::Index stride_x, const double* x, Eigen::Index stride,
                    double* y, double factor, double* z);
/// y += x D of rows of six, D (6, 6).
void add_product6(Eigen::Index rows, Eigen::Index stride_x, const double* x, Eigen::Index stride_D, const double* D,
                  Eigen::Index stride_y, double* y);

/// out = Σ x_k y_k of rows, entry by entry.
void sum_products(Eigen::Index rows, Eigen::Index length, const double* x, const double* y, double* out);

/// Three rows, one behind the other.
struct Rows3 {
  double* first;
  Eigen::Index stride;

  double* operator[](Eigen::Index i) const { return first + i * stride; }
};

/// A sum of rows that is put together term by term.
class RowSum {
 public:
  explicit RowSum(Eigen::Index length) : length_(length) {}

  RowSum& add(double factor, const double* row) {
    if (factor == 0.0) return *this;
    factors_[count_] = factor;
    rows_[count_++] = row;
    return *this;
  }
  /// factorsᵀ rows
  template <typename Factors>
  RowSum& add(const Eigen::MatrixBase<Factors>& factors, const Rows3& rows) {
    for (Eigen::Index i = 0; i < 3; ++i) add(factors(i), rows[i]);
    return *this;
  }
  /// The sum, after which there are no terms any more.
  void into(double* out) {
    sum_rows(length_, static_cast<Eigen::Index>(count_), factors_.data(), rows_.data(), out);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 48;

  Eigen::Index length_;
  std::size_t count_ = 0;
  std::array<double, kMost> factors_;
  std::array<const double*, kMost> rows_;
};

/// The same of any number of terms.
class LongRowSum {
 public:
  LongRowSum& add(double factor, const double* row) {
    factors_.push_back(factor);
    rows_.push_back(row);
    return *this;
  }
  void into(Eigen::Index length, double* out) {
    sum_rows(length, static_cast<Eigen::Index>(rows_.size()), factors_.data(), rows_.data(), out);
    factors_.clear();
    rows_.clear();
  }

 private:
  std::vector<double> factors_;
  std::vector<const double*> rows_;
};

/// Sums of three rows, put together term by term.
class Rows3Sum {
 public:
  explicit Rows3Sum(Eigen::Index length) : sums_{RowSum(length), RowSum(length), RowSum(length)} {}

  /// A rows
  template <typename Matrix>
  Rows3Sum& add(const Eigen::MatrixBase<Matrix>& A, const Rows3& rows) {
    const Eigen::Matrix3d factors = A;
    for (Eigen::Index i = 0; i < 3; ++i) sums_[static_cast<std::size_t>(i)].add(factors.row(i), rows);
    return *this;
  }
  Rows3Sum& add(double factor, const Rows3& rows) {
    for (Eigen::Index i = 0; i < 3; ++i) sums_[static_cast<std::size_t>(i)].add(factor, rows[i]);
    return *this;
  }
  /// a row
  Rows3Sum& add(const Eigen::Vector3d& a, const double* row) {
    for (Eigen::Index i = 0; i < 3; ++i) sums_[static_cast<std::size_t>(i)].add(a(i), row);
    return *this;
  }
  /// The sums, after which there are no terms any more. @param out of which each row is in no sum but its own.
  void into(const Rows3& out) {
    for (Eigen::Index i = 0; i < 3; ++i) sums_[static_cast<std::size_t>(i)].into(out[i]);
  }

 private:
  std::array<RowSum, 3> sums_;
};

}  // namespace exposim
