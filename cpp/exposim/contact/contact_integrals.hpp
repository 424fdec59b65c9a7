#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/contact_dynamics.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/kernels/modal.hpp"

namespace exposim {

/// How the contact forces of a step are averaged.
struct ContactKernel {
  enum class Method {
    kAuto,   ///< modal where damping is proportional to stiffness, else the cheapest that meets the tolerance
    kModal,  ///< closed form; only where damping is proportional to stiffness
    kDense,  ///< exponential or Padé approximant of the paper's full system
  };
  Method method = Method::kAuto;
  double tolerance = 1e-8;  ///< kAuto: error relative to the largest average force
  KernelOptions dense;      ///< kDense
};

/// Single and double time averages of the contact forces over a step, before projection.
class ContactIntegrals {
 public:
  explicit ContactIntegrals(const ContactKernel& kernel);

  void compute(const ContactDynamics& system, double dt);

  /// λ̄ and λ̄̄ of the k-th active contact.
  const Eigen::Vector3d& lam_bar(std::size_t k) const { return lam_bar_[k]; }
  const Eigen::Vector3d& lam_bar2(std::size_t k) const { return lam_bar2_[k]; }
  const KernelInfo& info() const { return info_; }

  /// c with B = c K for all points, or a negative number if there is none.
  static double proportional_damping(const ContactDynamics& system);

 private:
  void by_modes(const ContactDynamics& system, double c, double dt);
  void by_full_system(const ContactDynamics& system, double dt);
  void by_tolerance(const ContactDynamics& system, double dt);

  /// GᵀKG of every body and its Cholesky factors C; coordinates y = Cᵀd of the bodies' displacements d.
  void update_body_stiffness(const ContactDynamics& system);
  /// C⁻¹ and C⁻ᵀ, in place, column by column.
  void solve_C_in_place(const ContactDynamics& system, Eigen::Ref<Eigen::MatrixXd> x) const;
  void solve_Ct_in_place(const ContactDynamics& system, Eigen::Ref<Eigen::MatrixXd> x) const;
  /// Starts of the bodies (displacement, velocity, acceleration) that fit the springs of their points best.
  void fit_bodies(const ContactDynamics& system);
  /// Averages from ∫ and ∫∫ of the bodies' displacements and velocities; what the bodies leave of a point moves freely.
  void average_points(const ContactDynamics& system, double dt, const Eigen::VectorXd& d_int,
                      const Eigen::VectorXd& dd_int, const Eigen::VectorXd& d_int2, const Eigen::VectorXd& dd_int2);

  ContactKernel options_;
  KernelInfo info_;
  ModalKernel modal_;
  IntegralKernel dense_;
  std::vector<Eigen::Vector3d> lam_bar_, lam_bar2_;

  std::vector<Eigen::Matrix<double, 6, 6>> C_;  // per body, lower triangular
  Eigen::MatrixXd S_, half_;                    // S = CᵀΥC
  Eigen::MatrixX3d start_, bodies_;             // y and d: start, velocity, acceleration
  Eigen::MatrixXd A_, W_;
  Eigen::MatrixX2d unexplained_;  // wrenches on the bodies of what their motion does not explain
  Eigen::VectorXd weights_, d_int_, dd_int_, d_int2_, dd_int2_;
};

}  // namespace exposim
