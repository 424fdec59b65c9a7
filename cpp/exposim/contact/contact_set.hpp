#pragma once

#include <memory>
#include <vector>

#include "exposim/contact/contact_law.hpp"
#include "exposim/contact/surface.hpp"
#include "exposim/robot/dynamics.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// One contact that may come about: a point with a surface, or a bilateral point by itself.
struct ContactPair {
  std::size_t point;                       ///< index in Robot::points()
  std::shared_ptr<const Surface> surface;  ///< null for a bilateral contact
  ContactLaw law;
};

/// All contacts of a robot with its surroundings, evaluated at one state.
class ContactSet {
 public:
  explicit ContactSet(std::vector<ContactPair> pairs);

  std::size_t size() const { return pairs_.size(); }
  const ContactPair& pair(std::size_t i) const { return pairs_[i]; }
  /// Index of the body that carries the contact point.
  std::size_t joint(const Dynamics& dynamics, std::size_t i) const {
    return dynamics.robot().points()[pairs_[i].point].joint;
  }

  /// Motion and force of every contact at a committed state. Needs dynamics.update_kinematics there.
  void evaluate(const Dynamics& dynamics, const State& state);
  /// Applies the law at a new (q, v), once, then evaluates.
  /// @param p_end if not null, where the contacts were when their states were found, one row each: anchors that slip
  /// are carried along from there.
  void commit(const Dynamics& dynamics, State& state, const Eigen::MatrixX3d* p_end = nullptr);

  /// Motion and force at a (q, v) within a step, by the law as it follows from the contacts at its start.
  void evaluate_within_step(const Dynamics& dynamics, const std::vector<ContactState>& start);

  // Of the last evaluation:
  const ContactMotion& motion(std::size_t i) const { return motions_[i]; }
  const Eigen::Vector3d& force(std::size_t i) const { return forces_[i]; }
  /// Indices of the active contacts, ascending: the order in which p, J, λ are stacked.
  const std::vector<std::size_t>& active() const { return active_; }

 private:
  void update_motions(const Dynamics& dynamics);
  void update_forces(const std::vector<ContactState>& contacts);

  std::vector<ContactPair> pairs_;
  std::vector<ContactMotion> motions_;
  std::vector<ContactState> within_step_;
  std::vector<Eigen::Vector3d> forces_;
  std::vector<std::size_t> active_;
};

}  // namespace exposim
