#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>

#include "exposim/stiff/material.hpp"
#include "exposim/stiff/memory.hpp"
#include "exposim/stiff/motion.hpp"

namespace exposim {

/// What a mode ends by: it lasts while both are positive.
using Margins = std::array<double, 2>;
constexpr double kNoMargin = std::numeric_limits<double>::infinity();

/// An element on its way through a step. Its normal is frozen; displacement and velocity move on.
struct Phase {
  Mode mode;
  Eigen::Vector3d n;           ///< normal
  double phi0;                 ///< gap = phi0 + n·delta
  Eigen::Vector3d delta;       ///< displacement from the anchor, Δp [m]; of an open contact n φ
  Eigen::Vector3d dp;          ///< velocity [m/s]
  Eigen::Vector3d compliance;  ///< Υn: acceleration by a unit normal force [1/kg]
  Eigen::Vector3d slide;       ///< unit vector of the sliding velocity
  double speed;                ///< along it, where the mode was last linearised [m/s]
  Eigen::Vector3d lam;         ///< force now [N]
  Eigen::Matrix3d K, B;        ///< −∂λ/∂Δp and −∂λ/∂Δṗ in the present mode
  Margins most;                ///< the margins of the present mode at their largest
  double stage;                ///< length of the longest implicit stage [s]
  double share;                ///< of that stage's determinant that the element may take
  bool yielding;               ///< slips with its force along the stretch, not against the velocity
  int cuts;                    ///< how often the anchor gave way while the contact held

  double gap() const { return phi0 + n.dot(delta); }
};

/// A stiffness or damping of an element with one row.
inline Eigen::Matrix3d along_coordinate(double value) {
  Eigen::Matrix3d result = Eigen::Matrix3d::Zero();
  result(0, 0) = value;
  return result;
}

/// The force of an element: its modes, what it is in each of them, and when they end.
///
/// A law has up to three rows. It is constant and shared by all elements that follow it.
class Law {
 public:
  virtual ~Law() = default;

  // While the element holds: λ = −K Δp − B Δṗ. Where K is zero, B is.
  virtual Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const = 0;
  virtual Eigen::Matrix3d damping(const Eigen::Vector3d& n) const = 0;
  /// What it is made of, if it is a material.
  virtual const Material* made_of() const { return nullptr; }
  /// Largest eigenvalues of the two.
  virtual double most_stiffness() const = 0;
  virtual double most_damping() const = 0;
  /// The nearest force that the element can bear.
  virtual Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const = 0;

  // At an instant.
  /// Finds the mode at a new motion, and lets the stretch give way. Not idempotent when slipping: once per state.
  virtual void commit(const Motion& motion, Memory& memory) const = 0;
  /// Force on the robot that a committed memory stands for.
  virtual Eigen::Vector3d force(const Motion& motion, const Memory& memory) const = 0;
  /// ∂λ/∂p and ∂λ/∂ṗ of force() after carry() and commit() from a start, away from where modes change.
  /// @param carried the memory before commit().
  virtual void force_derivatives(const Motion& motion, const Memory& carried, Eigen::Matrix3d& dlam_dp,
                                 Eigen::Matrix3d& dlam_ddp) const = 0;

  // Through a step.
  /// Whether the mode may end, if λ(t) stays within a distance of its mean.
  virtual bool may_change(Mode mode, const Eigen::Vector3d& n, const Eigen::Vector3d& lam_bar,
                          double deviation) const = 0;
  /// Mode and direction at the start, from those of the memory.
  virtual void begin(Phase& phase) const = 0;
  /// Force and its derivatives in the present mode.
  virtual void linearise(Phase& phase) const = 0;
  /// What the present mode ends by, at another displacement, velocity and force. The gap of an open element is not
  /// asked for: that it closes is known without the law.
  virtual Margins margins(const Phase& phase, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp,
                          const Eigen::Vector3d& lam) const = 0;
  /// By how much the force at another displacement and velocity differs from that of the linear terms, in the same
  /// mode.
  virtual Eigen::Vector3d beyond_linear(const Phase&, const Eigen::Vector3d&, const Eigen::Vector3d&) const {
    return Eigen::Vector3d::Zero();
  }
  /// Changes the mode where the present one has ended. @return whether the linear terms changed.
  /// @param due its end was located here, whatever rounding says.
  virtual bool update(Phase& phase, bool due) const = 0;
  /// What is to be remembered.
  virtual Memory end(const Phase& phase) const = 0;
};

}  // namespace exposim
