#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Whether motions of a robot have the derivatives below: all its joints are hinges, slides, or free.
bool has_motion_derivatives(const Robot& robot);

/// A degree of freedom: how what it carries moves at unit rate, and which bodies it joins.
struct Mover {
  Eigen::Vector3d linear, angular, o;  ///< velocity at o, world axes
  std::size_t joint, parent;

  Eigen::Vector3d at(const Eigen::Vector3d& p) const { return linear + angular.cross(p - o); }
};
using Movers = std::vector<Mover>;  // of all degrees of freedom
/// By the last kinematics (kinematics.hpp).
void update_movers(const RobotData& data, Movers& movers);

/// Accelerations of all bodies: of the velocities and terms of the last update_terms or update_bias, with v̇.
class BodyAccelerations {
 public:
  void update(const RobotData& data, const Movers& movers, const Eigen::VectorXd& dv);
  /// Of the origin of a joint's frame, and of its angular velocity, as the world sees them.
  const Eigen::Vector3d& linear(std::size_t joint) const { return linear_[joint]; }
  const Eigen::Vector3d& angular(std::size_t joint) const { return angular_[joint]; }

 private:
  std::vector<Eigen::Vector3d> linear_, angular_;
};

/// Of a point of a body, c in the joint's frame, and what is at an arm from it that does not turn, p = c + arm:
/// derivatives of its position c and its velocity ċ + ω × arm by the degrees of freedom that move it
/// (Robot::supports), in world axes.
struct PointTangent {
  const std::vector<Eigen::Index>* dofs = nullptr;
  Eigen::Matrix3Xd J_omega;        ///< of the body's rotation
  Eigen::Matrix3Xd position_by_q;  ///< of c
  Eigen::Matrix3Xd J;              ///< velocity by v
  Eigen::Matrix3Xd velocity_by_q;
};
/// By the last kinematics (kinematics.hpp).
void update_point_tangent(const RobotData& data, const Movers& movers, std::size_t joint,
                          const Eigen::Vector3d& position, const Eigen::Vector3d& arm, PointTangent& out);

/// Jᵀ of wrenches, six columns to each: by its force, then by its torque.
void forces_of_wrenches(const RobotData& data, const Movers& movers, const std::vector<ExternalWrench>& wrenches,
                        RowMatrixXd& out);

/// Velocities of bodies at rates of the degrees of freedom, the columns of a matrix, and momenta of each body with all
/// that it carries: angular, then linear, about the origin of its frame.
class Momenta {
 public:
  using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  void update(const RobotData& data, const Movers& movers, const Eigen::MatrixXd& rates);
  const Columns& velocity(std::size_t body) const { return velocities_[body]; }
  const Columns& momentum(std::size_t body) const { return momenta_[body]; }
  /// S × V of what carries a degree of freedom: by which turning it back changes the velocities of all that it carries.
  void turn_back(const RobotData& data, const Mover& mover, Columns& out) const;

 private:
  std::vector<Columns> velocities_, momenta_;
};

/// aᵀ(∂M/∂q_k) a for rates a, the columns of a matrix: a row to each, a column to each k. By the last terms.
void inertia_derivatives(const RobotData& data, const Movers& movers, const Eigen::MatrixXd& rates,
                         Eigen::MatrixXd& by_q);

}  // namespace exposim
