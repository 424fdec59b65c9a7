#pragma once

#include <Eigen/Core>

namespace exposim {

// Of three rows that lie one behind the other, each as long, a multiple of four.

/// Aᵀ of three rows; of a diagonal matrix that alone is taken.
class Transposed3 {
 public:
  // NOLINTNEXTLINE: what is multiplied with may be any expression
  template <typename Matrix>
  Transposed3(const Eigen::MatrixBase<Matrix>& A) : A_(A) {
    diagonal_ =
        A_(0, 1) == 0.0 && A_(0, 2) == 0.0 && A_(1, 0) == 0.0 && A_(1, 2) == 0.0 && A_(2, 0) == 0.0 && A_(2, 1) == 0.0;
  }
  bool diagonal() const { return diagonal_; }
  const double* data() const { return A_.data(); }  ///< column by column

 private:
  Eigen::Matrix3d A_;
  bool diagonal_;
};

/// out = a x + b y + Aᵀ u; out may be x.
void sum_triples(Eigen::Index length, double a, const double* x, double b, const double* y, const Transposed3& A,
                 const double* u, double* out);
/// out = a x + b y + Aᵀ u + Bᵀ v; out may be x.
void sum_triples(Eigen::Index length, double a, const double* x, double b, const double* y, const Transposed3& A,
                 const double* u, const Transposed3& B, const double* v, double* out);
/// x += Aᵀ u, y += u
void add_triples(Eigen::Index length, const Transposed3& A, const double* u, double* x, double* y);
/// x += Aᵀ(u + v)
void add_both_triples(Eigen::Index length, const Transposed3& A, const double* u, const double* v, double* x);

}  // namespace exposim
