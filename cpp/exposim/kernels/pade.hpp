#pragma once

#include <Eigen/Core>

namespace exposim {

/// Diagonal Padé approximants of the exponential: exp(A) ≈ D_j(A)⁻¹ N_j(A).
///
/// N_j = V + U and D_j = V − U, with U the odd and V the even powers of A, arranged as in
/// Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
///
/// A matrix with a *companion* block,
///
///       ⎡0  D  ·⎤
///   A = ⎢P  Q  ·⎥     D diagonal, P and Q of size r, any columns and rows behind them,
///       ⎣0  0  ·⎦
///
/// multiplies another at half the cost, and itself at a quarter.
class PadeApproximant {
 public:
  /// @param r of the companion block of the matrices to come; 0: none.
  void set_companion(Eigen::Index r) { r_ = r; }

  /// Evaluates numerator and denominator. @return the number of matrix products spent.
  /// @param degree one of 1, 2, 3, 5, 7, 9, 13: {0, 1, 2, 3, 4, 5, 6} products.
  /// @param squared whether square(A) was called for this A: one product less.
  int evaluate(const Eigen::MatrixXd& A, int degree, bool squared = false);
  /// A², which all degrees above 1 need.
  const Eigen::MatrixXd& square(const Eigen::MatrixXd& A);

  const Eigen::MatrixXd& numerator() const { return numerator_; }
  const Eigen::MatrixXd& denominator() const { return denominator_; }

 private:
  /// out = A B, by the structure of A; also by that of B if B is A.
  void multiply_from_left(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, Eigen::MatrixXd& out) const;

  Eigen::Index r_ = 0;
  Eigen::MatrixXd A2_, A4_, A6_, A8_, odd_, U_, V_, numerator_, denominator_;
};

}  // namespace exposim
