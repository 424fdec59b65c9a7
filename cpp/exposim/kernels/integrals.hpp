#pragma once

#include <Eigen/Core>
#include <Eigen/LU>

#include "exposim/kernels/pade.hpp"

namespace exposim {

/// How the integrals of a linear system are computed.
struct KernelOptions {
  enum class Method {
    kExpm,  ///< scaling and squaring to machine precision
    kPade,  ///< one Padé approximant of fixed degree, no scaling: the paper's fast path
  };
  Method method = Method::kExpm;
  int degree = 0;       ///< kPade: 1, 2, 3, 5 or 7
  bool balance = true;  ///< reduce the norm by a diagonal similarity first
};

/// What a kernel did, for the step's information.
struct KernelInfo {
  int degree = 0;     ///< of the Padé approximant taken
  int squarings = 0;  ///< the matrix was divided by 2^squarings
  int products = 0;   ///< products of two full matrices
};

/// Both integrals of a linear system, from one action of an exponential.
///
///   ẋ = A x + b, x(0) = x₀,    x_int = ∫₀ᵗ x,   x_int2 = ∫₀ᵗ ∫₀^τ x          (eq:x_int_def)
///
///       ⎡A b x₀ 0⎤
///   Ā = ⎢0 0 1  0⎥     [x_int x_int2] = [I 0] exp(t·Ā) [0; I₂]                (eq:x_int_computation)
///       ⎢0 0 0  1⎥
///       ⎣0 0 0  0⎦
///
/// Holds its scratch: no allocation while the size of A does not change.
class IntegralKernel {
 public:
  /// @throws std::invalid_argument for a degree that the method does not have.
  explicit IntegralKernel(KernelOptions options);

  void compute(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& x0, double t);

  auto x_int() const { return action_.col(0).head(n_); }
  auto x_int2() const { return action_.col(1).head(n_); }
  const KernelInfo& info() const { return info_; }

 private:
  void resize(Eigen::Index n);
  void act_by_pade(int degree);
  void act_by_scaling_and_squaring();

  KernelOptions options_;
  KernelInfo info_;
  Eigen::Index n_ = -1;
  Eigen::MatrixXd A_bar_;    // t·Ā, balanced
  Eigen::VectorXd scaling_;  // the balancing similarity
  PadeApproximant pade_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::MatrixXd exponential_, squared_;
  Eigen::MatrixX2d action_;  // exp(t·Ā) [0; I₂]
};

}  // namespace exposim
