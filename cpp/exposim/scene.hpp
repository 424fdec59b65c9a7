#pragma once

#include "exposim/contact/contact_set.hpp"
#include "exposim/profiler.hpp"
#include "exposim/robot/dynamics.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// A robot among surfaces, evaluated at one state: what integrators work on.
struct Scene {
  Dynamics dynamics;
  ContactSet contacts;
  Profiler profiler;

  /// Applies the contact law at a new (q, v), once; p_end as in ContactSet::commit.
  void commit(State& state, const Eigen::MatrixX3d* p_end = nullptr) {
    const Profiler::Scope scope(profiler, Stage::kContacts);
    dynamics.update_kinematics(state.q, state.v);
    contacts.commit(dynamics, state, p_end);
  }

  /// Returns to a state that was committed before.
  void evaluate(const State& state) {
    dynamics.update_kinematics(state.q, state.v);
    contacts.evaluate(dynamics, state);
  }

  /// v̇ with the contact forces of the last evaluation, which was at (q, v).
  const Eigen::VectorXd& acceleration(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Input& input) {
    const Profiler::Scope scope(profiler, Stage::kTerms);
    dynamics.clear_forces();
    for (const std::size_t i : contacts.active()) {
      dynamics.add_force(contacts.joint(dynamics, i), contacts.motion(i).p, contacts.force(i));
    }
    return dynamics.acceleration(q, v, input);
  }

  /// v̇ at another (q, v) within a step, by the law as it follows from the contacts at the step's start.
  const Eigen::VectorXd& acceleration_within_step(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                                  const std::vector<ContactState>& start, const Input& input) {
    {
      const Profiler::Scope scope(profiler, Stage::kContacts);
      dynamics.update_kinematics(q, v);
      contacts.evaluate_within_step(dynamics, start);
    }
    return acceleration(q, v, input);
  }
};

}  // namespace exposim
