#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// A block on the diagonal of a matrix that is zero elsewhere.
struct DiagonalBlock {
  Eigen::Index first, size;            ///< at most six
  Eigen::Matrix<double, 6, 6> values;  ///< in its upper left
};

/// y −= B x for a matrix of blocks.
void subtract_product(const std::vector<DiagonalBlock>& B, const double* x, double* y);

/// Solves I + A B for a small A and a block-diagonal B, which changes often; what is zero costs nothing. No allocation
/// once it has been as large.
class IdentityPlus {
 public:
  /// Takes A: the first n rows and columns of a matrix.
  void load(const Eigen::MatrixXd& A, Eigen::Index n);
  /// @param B its blocks cover A.
  void factor(const std::vector<DiagonalBlock>& B);
  double determinant() const { return determinant_; }

  /// x = (I + A B)⁻¹ A w
  void solve_product(const double* w, double* x);

 private:
  // Columns begin at multiples of four, and are filled up with zeros: loops need no ends of their own.
  Eigen::Index n_ = 0;
  std::vector<double> A_;
  std::vector<double> lower_, upper_, inverse_;  // without their diagonals; of that of `upper`
  std::vector<Eigen::Index> rows_;               // by which each was exchanged
  std::vector<double> x_;
  double determinant_ = 1.0;
};

}  // namespace exposim
