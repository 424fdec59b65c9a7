#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// Exact integrals of coupled oscillators with damping proportional to stiffness.
///
///   y'' + c S y' + S y = f,    S = U Ω Uᵀ symmetric, positive semidefinite
///
/// decouples into scalar oscillators, each known in closed form (kernels/oscillator.hpp). U is not formed: it is a
/// product of reflections and rotations (S is made tridiagonal, then diagonal by the implicit QL method), and is
/// applied to the few vectors that matter, or all where it is asked for. Holds its scratch: no allocation while the
/// size does not change.
class ModalKernel {
 public:
  /// @param start columns y(0), y'(0), f.
  void compute(const Eigen::MatrixXd& S, double c, const Eigen::MatrixX3d& start, double t);

  /// Forms U, its columns as those of omega().
  void find_modes(const Eigen::MatrixXd& S, Eigen::MatrixXd& U);

  /// Columns ∫y, ∫y', ∫∫y, ∫∫y'.
  const Eigen::MatrixX4d& result() const { return result_; }
  /// ‖z(s) − z̄‖ ≤ radius() for all 0 ≤ s ≤ t, where z = y + c y' and z̄ is its mean.
  double radius() const { return radius_; }
  /// Eigenvalues of S, in no order, not below zero.
  const Eigen::VectorXd& omega() const { return omega_; }

 private:
  struct Rotation {
    double c, s;
  };
  /// Rotations of rows (last, last + 1), (last − 1, last), … in this order.
  struct Sweep {
    Eigen::Index last;
    std::size_t begin, end;  ///< in rotations_
  };
  /// One row of all vectors: three to start with, four as a result.
  using Row = Eigen::Vector4d;

  void resize(Eigen::Index n);
  /// S = Q T Qᵀ: T into omega_ and beside_, Q as reflections in work_; vectors_ = Qᵀ vectors_.
  void make_tridiagonal();
  /// T = Z Ω Zᵀ: Ω into omega_, Z as rotations_; vectors_ = Zᵀ vectors_. @return false if it does not converge.
  bool make_diagonal();
  /// vectors_ = Q Z vectors_.
  void transform_back();

  Eigen::Index n_ = -1;
  Eigen::MatrixXd work_;  // columns hold the reflections below the diagonal
  Eigen::VectorXd tau_, p_, omega_, beside_;
  std::vector<Rotation> rotations_;
  std::vector<Sweep> sweeps_;
  std::vector<Row, Eigen::aligned_allocator<Row>> vectors_;
  Eigen::MatrixX4d result_;
  double radius_ = 0.0;
};

}  // namespace exposim
