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
  int degree = 0;            ///< of the Padé approximant taken
  int squarings = 0;         ///< the matrix was divided by 2^squarings
  int products = 0;          ///< products of two full matrices
  double error_bound = 0.0;  ///< where the degree was chosen by it: relative to the largest average force
  int terms = 0;             ///< of a series, if that was taken: products of a matrix and a vector
};

/// Both integrals of a linear system with a polynomial force, from one action of an exponential.
///
///   ẋ = A x + w₀ + w₁ t + …, x(0) = x₀,    x_int = ∫₀ᵗ x,   x_int2 = ∫₀ᵗ ∫₀^τ x            (eq:x_int_def)
///
///       ⎡A … w₁ w₀ x₀ 0⎤
///   Ā = ⎢0      N      ⎥     [x_int x_int2] = [I 0] exp(t·Ā) [0; I₂]                       (eq:x_int_computation)
///
/// with ones above the diagonal of N. The paper's case has w₀ = b alone. Holds its scratch: no allocation while the
/// sizes do not change.
class IntegralKernel {
 public:
  /// @throws std::invalid_argument for a degree that the method does not have.
  explicit IntegralKernel(KernelOptions options);

  /// Says that A is [0 I; P Q], as the contact dynamics' is: products with it cost less.
  void set_companion(bool companion) { companion_ = companion; }

  /// @param W columns …, w₁, w₀, x₀; any number of forces.
  void compute(const Eigen::MatrixXd& A, const Eigen::MatrixXd& W, double t);

  auto x_int() const { return action_.col(0).head(n_); }
  auto x_int2() const { return action_.col(1).head(n_); }
  const KernelInfo& info() const { return info_; }

  // The same in parts, for a choice of the degree by error:
  /// Builds and balances t·Ā.
  void prepare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& W, double t);
  /// ‖t·A‖ as prepare() has balanced it, and ‖(t·A)²‖^½, which is less or equal; the latter costs a product.
  double norm() const { return norm_; }
  double square_norm();
  /// Acts by the approximant of that degree; 0: by scaling and squaring. Once for every prepare(), or several times
  /// with rising degrees.
  void act(int degree);
  /// Bounds on the errors of |wᵀx_int| and |wᵀx_int2| for all w with |w_i| ≤ weights_i, after act(degree).
  Eigen::Vector2d error_bounds(int degree, const Eigen::VectorXd& weights);

 private:
  void act_by_pade(int degree);
  void act_by_scaling_and_squaring();

  KernelOptions options_;
  KernelInfo info_;
  double norm_ = 0.0, square_norm_ = 0.0;
  bool squared_once_ = false, companion_ = false;
  Eigen::Index n_ = -1, m_ = -1;  // of A, and columns behind it
  Eigen::MatrixXd A_bar_;         // t·Ā, balanced
  Eigen::VectorXd scaling_;       // the balancing similarity
  PadeApproximant pade_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::MatrixXd exponential_, squared_;
  Eigen::MatrixX2d action_;                       // exp(t·Ā) [0; I₂]
  Eigen::MatrixX2d balanced_;                     // the same before balancing is undone
  Eigen::MatrixX2d shifted_, shifting_, beside_;  // of error_bounds: Nⁱ times its lower part, and W times that
};

/// ‖ΔX‖ is at most this where the Padé approximant of exp(X) of degree j is exp(X + ΔX) exactly.
/// @param norm ‖X‖. @param square_norm ‖X²‖^½, or ‖X‖ again. Infinite where the bound does not hold.
double pade_backward_error(int degree, double norm, double square_norm);

}  // namespace exposim
