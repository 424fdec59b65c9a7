#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/robot/robot.hpp"

namespace exposim {

/// A wrench given by the user: force and torque in world axes, acting at a point of a body.
struct ExternalWrench {
  std::size_t joint;
  Eigen::Vector3d position;  ///< in the joint's frame [m]
  Eigen::Vector3d force;     ///< [N]
  Eigen::Vector3d torque;    ///< [N·m]
};

/// What drives the robot during a step.
struct Input {
  Eigen::VectorXd tau;  ///< Sᵀτ, one entry per degree of freedom [N·m or N]
  std::vector<ExternalWrench> wrenches;
};

/// Motion of a contact point's centre, world frame.
struct PointMotion {
  Eigen::Vector3d position;  ///< [m]
  Eigen::Vector3d velocity;  ///< [m/s]
  Eigen::Vector3d omega;     ///< angular velocity of its body [rad/s]
};

using RowMatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rigid-body terms of a robot at one (q, v), by Pinocchio, in preallocated memory.
///
///   M(q) v̇ = u(q, v) + Jᵀλ,    u = Sᵀτ − d∘v + Jₑᵀwₑ − h(q, v)                      (eq:robot_dyn)
class Dynamics {
 public:
  explicit Dynamics(std::shared_ptr<const Robot> robot);
  Dynamics(Dynamics&&) noexcept;
  ~Dynamics();

  const Robot& robot() const { return *robot_; }

  /// Placements and velocities of all bodies.
  void update_kinematics(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  /// Of the last update_kinematics.
  PointMotion point_motion(std::size_t point) const;

  /// M, its Cholesky factor, h and the joint Jacobians.
  void update_terms(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  /// h alone, at another velocity.
  void update_bias(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  // Of the last update_terms:
  /// Transposed Jacobian of the point of a body that is now at p (world), into nv × 3.
  void point_jacobian_transpose(std::size_t joint, const Eigen::Vector3d& p, Eigen::Ref<RowMatrixXd> Jt) const;
  /// The same with the body's angular velocity behind, into nv × 6.
  void body_jacobian_transpose(std::size_t joint, const Eigen::Vector3d& p, Eigen::Ref<RowMatrixXd> Jt) const;
  /// J̇v of that point: its acceleration at v̇ = 0.
  Eigen::Vector3d point_drift(std::size_t joint, const Eigen::Vector3d& p) const;
  /// u = Sᵀτ − d∘v + Jₑᵀwₑ − h
  void applied_force(const Eigen::VectorXd& v, const Input& input, Eigen::VectorXd& u) const;
  /// The degrees of freedom that move any of the given bodies, ascending.
  void supporting_dofs(const std::vector<std::size_t>& joints, std::vector<Eigen::Index>& dofs) const;
  // L of M = L Lᵀ has the sparsity of the tree: where x is zero but for the supports of some bodies, so is L⁻¹x.
  /// Solves L y = x in place, for all columns, which are zero outside the given rows.
  void solve_L_in_place(RowMatrixXd& x, const std::vector<Eigen::Index>& rows) const;
  void solve_L_in_place(Eigen::VectorXd& x) const;
  /// Solves Lᵀ y = x in place.
  void solve_Lt_in_place(Eigen::MatrixX2d& x) const;
  void solve_Lt_in_place(Eigen::VectorXd& x) const;

  /// Forward dynamics with forces on the bodies, in O(n). Uses the placements of update_kinematics at (q, v).
  void clear_forces();
  void add_force(std::size_t joint, const Eigen::Vector3d& p, const Eigen::Vector3d& force);
  const Eigen::VectorXd& acceleration(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Input& input);

  /// ∂v̇/∂q, ∂v̇/∂v of the last acceleration() at (q, v) with the forces on the bodies fixed in their frames, and M⁻¹.
  void update_acceleration_derivatives(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Input& input);
  // Of the last update_acceleration_derivatives:
  const RowMatrixXd& ddq_dq() const;
  const RowMatrixXd& ddq_dv() const;
  /// M⁻¹, both triangles.
  const Eigen::MatrixXd& M_inverse() const { return M_inverse_; }
  const Eigen::VectorXd& joint_damping() const;
  /// Of the point of a body that is at p = c + arm now and stays at that arm from its centre c (world): ∂p/∂q,
  /// and for the velocity ṗ of the body there, ∂ṗ/∂q and ∂ṗ/∂v; J_omega of the body. Each 3 × nv.
  struct PointDerivatives {
    Eigen::Matrix3Xd dp_dq, ddp_dq, J, J_omega;
  };
  void point_derivatives(std::size_t joint, const Eigen::Vector3d& p, const Eigen::Vector3d& arm,
                         PointDerivatives& out) const;
  /// World position of a point given in a joint's frame.
  Eigen::Vector3d world_position(std::size_t joint, const Eigen::Vector3d& position) const;

  /// q ⊕ dq
  void integrate(const Eigen::VectorXd& q, const Eigen::VectorXd& dq, Eigen::VectorXd& q_next) const;
  /// ∂(q ⊕ dq)/∂dq, block-diagonal.
  void integrate_derivative(const Eigen::VectorXd& q, const Eigen::VectorXd& dq, Eigen::MatrixXd& out) const;

 private:
  struct Pinocchio;
  std::shared_ptr<const Robot> robot_;
  std::unique_ptr<Pinocchio> pin_;
  Eigen::VectorXd inverse_root_D_;  // M = U D Uᵀ, U with ones on its diagonal: L = U D^½, upper triangular
  Eigen::VectorXd tau_;
  Eigen::MatrixXd M_inverse_;
};

}  // namespace exposim
