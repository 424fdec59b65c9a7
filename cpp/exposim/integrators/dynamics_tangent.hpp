#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/tangent_products.hpp"
#include "exposim/integrators/contact_tangent.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/robot/dynamics_derivatives.hpp"
#include "exposim/robot/inertia_changes.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/robot/motion_derivatives.hpp"
#include "exposim/state.hpp"
#include "exposim/step_tangent.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Where a scheme is on its way through a step, as that changes with each direction.
struct PlaceTangent {
  Tangent dq, dv;
  bool at_start = false;  ///< these are directions themselves
};

/// Derivatives of M v̇ + h = f + Jₑᵀwₑ + Jᵀλ at a place of a step, with f by the laws of the joints there.
class DynamicsTangent {
 public:
  DynamicsTangent(const World& world, const Input& input, const StepTangent& asked);

  /// Whether joints and strands of a world are differentiated so.
  static bool supports(const World& world);
  const Directions& to() const { return to_; }
  /// Of the start of a step.
  PlaceTangent start() const;
  /// Of q ⊕ way.
  Tangent moved(const Eigen::VectorXd& q, const Eigen::VectorXd& way, const Tangent& dq, const Tangent& dway);

  /// Takes terms at a state.
  void take_terms(RobotData& data, const State& state, const PlaceTangent& at);
  // At these:
  /// A force on a point of a body, or on what is at an arm from it.
  struct Push {
    std::size_t joint;
    Eigen::Vector3d position, arm, force;
  };
  /// ∂(M a + h − f − Jₑᵀwₑ − Jᵀλ) with a and λ held.
  Tangent hold(RobotData& data, const Eigen::VectorXd& a, const std::vector<Push>& pushes);
  /// M⁻¹ x
  Tangent solve(Tangent x) const {
    factor_.solve_rows(x.cols(), x.data(), 1.0);
    return x;
  }
  /// Of the motion with the a held last.
  const DynamicsDerivatives& derivatives() const { return derivatives_; }
  /// Of a point of a body.
  void update_point(const RobotData& data, std::size_t joint, const Eigen::Vector3d& position,
                    const Eigen::Vector3d& arm, ContactPointTangent& out);
  /// Jᵀ dλ of the same, subtracted.
  void subtract_force(const Tangent& dlam, Tangent& from) const;

  const Movers& movers() const { return movers_; }
  const std::vector<InertiaChanges>& masses() const { return masses_; }
  /// Adds A dq, then, where A has more columns, those of masses; or A dv.
  void add_by_q(const RowMatrixXd& A, Tangent& to) const;
  void add_by_v(const RowMatrixXd& A, Tangent& to) const;

 private:
  const World& world_;
  const Input& input_;
  Directions to_;
  std::size_t wrenches_;
  std::vector<InertiaChanges> of_bodies_, masses_;  // the latter in world axes
  std::vector<Eigen::Index> mass_directions_;

  PlaceTangent at_;
  Tangent dforce_;
  DofForces forces_;
  Movers movers_;
  TreeFactor factor_;
  DynamicsDerivatives derivatives_;
  BodyAccelerations accelerations_;
  PointTangent point_;
  RowMatrixXd by_wrenches_;
  RowMatrixXd by_q_, by_v_;
  Eigen::MatrixXd of_joints_by_q_, of_joints_by_v_, A0_, A1_;
};

}  // namespace exposim
