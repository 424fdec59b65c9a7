#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/system.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/kernels/modal.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

/// How the forces of a step are averaged.
struct ContactKernel {
  enum class Method {
    kAuto,   ///< modal where damping is proportional to stiffness, else the cheapest that meets the tolerance
    kModal,  ///< closed form; only where damping is proportional to stiffness
    kDense,  ///< exponential or Padé approximant of the paper's full system
  };
  Method method = Method::kAuto;
  double tolerance = thresholds::kKernelTolerance;  ///< kAuto: error relative to the largest average force
  KernelOptions dense;                              ///< kDense
};

/// Single and double time averages of the stiff forces over a step, before projection.
class ForceAverages {
 public:
  explicit ForceAverages(const ContactKernel& kernel);

  /// @param bounded also bound how far the forces go from their averages.
  void compute(const StiffSystem& system, double dt, bool bounded = false);

  /// λ̄ and λ̄̄ of the k-th active strand.
  const Eigen::Vector3d& lam_bar(std::size_t k) const { return lam_bar_[k]; }
  const Eigen::Vector3d& lam_bar2(std::size_t k) const { return lam_bar2_[k]; }
  /// ‖λ(t) − λ̄‖ of the k-th active strand is never above this within the step; infinite where the modes are unknown.
  double deviation(std::size_t k) const { return deviation_[k]; }
  /// ∫x and ∫∫x of all active strands: Δp of all, then Δṗ of all (eq:x_int_def).
  const Eigen::VectorXd& x_int() const { return x_int_; }
  const Eigen::VectorXd& x_int2() const { return x_int2_; }
  const KernelInfo& info() const { return info_; }

  /// c with B = c K for all strands, or a negative number if there is none.
  static double proportional_damping(const StiffSystem& system);

 private:
  void by_modes(const StiffSystem& system, double c, double dt);
  void by_full_system(const StiffSystem& system, double dt);
  void by_tolerance(const StiffSystem& system, double dt);

  /// GᵀKG of every block and its Cholesky factors C; coordinates y = Cᵀd of the blocks' displacements d.
  void update_block_stiffness(const StiffSystem& system);
  /// C⁻¹ and C⁻ᵀ, in place, column by column.
  void solve_C_in_place(const StiffSystem& system, Eigen::Ref<Eigen::MatrixXd> x) const;
  void solve_Ct_in_place(const StiffSystem& system, Eigen::Ref<Eigen::MatrixXd> x) const;
  /// Starts of the blocks (displacement, velocity, acceleration) that fit the springs of their strands best.
  void fit_blocks(const StiffSystem& system);
  /// x_int and x_int2 from those of the blocks; what a block's motion leaves of a strand moves freely.
  void integrate_strands(const StiffSystem& system, double dt);
  void bound_deviations(const StiffSystem& system, double dt);
  /// λ̄ = D x_int/dt, λ̄̄ = 2 D x_int2/dt².
  void average_forces(const StiffSystem& system, double dt);

  ContactKernel options_;
  KernelInfo info_;
  ModalKernel modal_;
  IntegralKernel dense_;
  Eigen::VectorXd x_int_, x_int2_;
  std::vector<Eigen::Vector3d> lam_bar_, lam_bar2_;
  std::vector<double> deviation_;

  std::vector<Eigen::Matrix<double, 6, 6>> C_;  // per block, lower triangular
  Eigen::MatrixXd S_, half_;                    // S = CᵀΥC
  Eigen::MatrixX3d start_;                      // y, then d: start, velocity, acceleration
  Eigen::MatrixX4d blocks_;                     // y, then d: the integrals
  Eigen::MatrixXd A_, W_;
  Eigen::MatrixX2d unexplained_;  // wrenches on the blocks of what their motion does not explain
  Eigen::VectorXd weights_;
  Eigen::VectorXd d_int_, dd_int_, d_int2_, dd_int2_;  // of the blocks' displacements and velocities
};

}  // namespace exposim
