#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/block_fit.hpp"
#include "exposim/expo/force_bounds.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/kernels/modal.hpp"
#include "exposim/kernels/series.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

/// How the forces of a step are averaged.
struct ContactKernel {
  enum class Method {
    kAuto,   ///< a series; where that is long, modal if damping is proportional to stiffness, else the cheapest
             ///< that meets the tolerance
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

  void compute(const StiffSystem& system, double dt);

  /// λ̄ and λ̄̄ of the k-th active strand.
  const Eigen::Vector3d& lam_bar(std::size_t k) const { return lam_bar_[k]; }
  const Eigen::Vector3d& lam_bar2(std::size_t k) const { return lam_bar2_[k]; }
  /// Adds to both.
  void add(std::size_t k, const Eigen::Vector3d& lam) {
    lam_bar_[k] += lam;
    lam_bar2_[k] += lam;
  }
  /// Bounds on the forces within the step: one piece, or several that tell more. None where nothing is known.
  ForcePieces bounds(const StiffSystem& system, bool closely);
  /// ∫x and ∫∫x of all active strands: Δp of all, then Δṗ of all (eq:x_int_def).
  const Eigen::VectorXd& x_int() const { return x_int_; }
  const Eigen::VectorXd& x_int2() const { return x_int2_; }
  const KernelInfo& info() const { return info_; }

  /// c with B = c K for all strands, or a negative number if there is none.
  static double proportional_damping(const StiffSystem& system);

 private:
  /// What gave the averages, and knows more.
  enum class Source { kSeries, kModes, kOther };

  /// @return false if it would be long.
  bool by_series(const StiffSystem& system, double c, double dt);
  void by_modes(const StiffSystem& system, double c, double dt);
  void by_full_system(const StiffSystem& system, double dt);
  void by_tolerance(const StiffSystem& system, double dt);

  /// x_int and x_int2 from those of the blocks; what a block's motion leaves of a strand moves freely.
  void integrate_strands(const StiffSystem& system, double dt);
  /// λ̄ = D x_int/dt, λ̄̄ = 2 D x_int2/dt².
  void average_forces(const StiffSystem& system, double dt);

  ContactKernel options_;
  KernelInfo info_;
  Source source_ = Source::kOther;
  double dt_ = 0.0;
  ForceBounds bounds_;
  SeriesKernel series_;
  ModalKernel modal_;
  IntegralKernel dense_;
  Eigen::VectorXd x_int_, x_int2_;
  std::vector<Eigen::Vector3d> lam_bar_, lam_bar2_;

  BlockFit fit_;
  std::vector<DiagonalBlock> B_;  // GᵀBG
  Eigen::MatrixXd S_, half_;      // S = CᵀΥC
  Eigen::MatrixX4d blocks_;       // y, then d: the integrals
  SeriesKernel::Start start_;
  bool forced_ = false;  // what the blocks leave of their strands pushes
  Eigen::MatrixXd A_, W_;
  Eigen::VectorXd weights_;
};

}  // namespace exposim
