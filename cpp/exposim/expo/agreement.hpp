#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/robot_update.hpp"
#include "exposim/expo/sprung_blocks.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// How far a strand is off, in position and velocity, as far as it feels that: a slipping one along its normal, an open
/// or idle one if it is deeper in the ground than it should be.
struct AgreementDifference {
  enum class Feels : unsigned char { kNothing, kNormal, kAll };
  Feels feels;
  Eigen::Vector3d p, dp;
  Eigen::Matrix3d Q;

  void set(Feels by, const Eigen::Vector3d& in_p, const Eigen::Vector3d& in_dp) {
    feels = by;
    p = in_p;
    dp = in_dp;
  }
};

/// One who differentiates: is told of every correction.
class AgreementWatcher {
 public:
  virtual ~AgreementWatcher() = default;
  /// @param pushed δv and δq, before free bodies are turned. @param turned after. @param q, next before and after it.
  virtual void correct(RobotData& data, const StrandList& strands, const std::vector<AgreementDifference>& differences,
                       const Eigen::MatrixX2d& pushed, const Eigen::MatrixX2d& turned, const Eigen::VectorXd& q,
                       const State& next) = 0;
};

/// Makes the robot agree with contact space at the end of a step.
///
/// Strands are followed with Jacobian and normals frozen; those of the robot turn. On hard ground the small difference,
/// times K, would be read as a force, and would ring through the next step. What is stiff decides, in the metric of M:
///
///   δq = M⁻¹Jᵀα,   (Q⁻¹ + Υ) α = p_contact space − p(q⁺),   Q = dt² K + dt B,      and likewise δv
class Agreement {
 public:
  // Where the strands are to be:
  /// by the forces that move the robot, all as they were;
  void aim_at_averages(const StiffSystem& system, const StrandList& strands, const RobotUpdate& update, double dt);
  /// where they were followed to.
  void aim_at(const Resolver& resolver, std::size_t strands);

  /// Moves q and v of the end, where the difference counts beside the largest force that acted.
  void restore(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
               double largest, double dt, State& next);

  /// Null: nobody.
  void watch(AgreementWatcher* watcher) { watcher_ = watcher; }

  /// Largest velocity by which robot and contact space differed before [m/s].
  double mismatch() const { return mismatch_; }

 private:
  using Difference = AgreementDifference;
  using Feels = Difference::Feels;

  struct Target {
    Mode mode;
    Eigen::Vector3d way, dp;  ///< since the start of the step, and velocity
  };

  /// @return the largest force that the differences would be read as.
  double compare(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands, double dt,
                 const State& next);

  /// L⁻¹Jᵀα for the differences in position or velocity.
  void push(const StiffSystem& system, Eigen::Vector3d Difference::* of, Eigen::Ref<Eigen::VectorXd> dv);

  double mismatch_ = 0.0;
  AgreementWatcher* watcher_ = nullptr;
  Eigen::MatrixX2d pushed_;  // for that one
  std::vector<Target> targets_;
  std::vector<Difference> differences_;
  Eigen::MatrixX2d moved_;  // of the blocks, by the forces that acted
  SprungBlocks blocks_;
  Eigen::MatrixX2d dv_;
  Eigen::VectorXd wrench_, dq_, q_;
};

}  // namespace exposim
