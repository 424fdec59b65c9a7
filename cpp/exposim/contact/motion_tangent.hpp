#pragma once

#include <Eigen/Core>

#include "exposim/robot/body_tangent.hpp"
#include "exposim/step_tangent.hpp"
#include "exposim/stiff/motion.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Derivatives of the motion of a contact (Motion) whose normal may turn: on a curved surface, or on one that a body
/// carries. In all directions, three rows to each vector, in world axes.
struct MotionTangent {
  Tangent phi;  ///< one row
  Tangent n, dp, dc, arm;
  Tangent bend;        ///< of `bends`, ∇²φ ċ
  Tangent bend_along;  ///< of ċ·∇²φ ċ, one row
  Tangent carrier;     ///< by which the body turns that carries the surface; none: zero
  Tangent in_carrier;  ///< of the centre in its frame; none: in the world
  Tangent spin;        ///< of its angular velocity
  Tangent rotation;    ///< by which a spherical foot turns in its frame
  Tangent s;           ///< of the stretch, if it has one
  Eigen::Vector3d bends;

  /// By which axes turn that keep to the normal: θ × n = dn, and nothing about n.
  Tangent turn(const Motion& motion) const { return skew(motion.n) * n; }
};

/// A contact point, or the centre of its ball: a body and where in its frame.
struct PointOf {
  std::size_t joint;
  Eigen::Vector3d position;
};

/// Of contact_motion(), by the last kinematics, at a state that is moved by dq and dv. Not of what slides on an edge.
/// @param drift what is taken along of the surface's curvature, too: `bend` and `bend_along`.
void differentiate_motion(const World& world, const RobotData& data, const Movers& movers, const PointOf& point,
                          int surface, const Motion& motion, const Tangent& dq, const Tangent& dv, bool drift,
                          MotionTangent& out);
/// Of StrandList::turn_ahead(): from the motion at the start to that after h.
/// @param s the stretch at the start. @param ahead what came of it.
void differentiate_turn_ahead(const World& world, int surface, const Motion& start, const Eigen::Vector3d& s,
                              const Motion& ahead, double h, MotionTangent& d);

// Of stiff/motion.hpp:
/// Of travel(), by an arm on the way and what that changes by.
Tangent differentiate_travel(const Motion& from, const Motion& to, const Eigen::Vector3d& arm,
                             const MotionTangent& of_from, const MotionTangent& of_to, const Tangent& darm);
/// Of along_with_carrier(from, to, a).
Tangent differentiate_along(const Motion& from, const Motion& to, const Eigen::Vector3d& a,
                            const MotionTangent& of_from, const MotionTangent& of_to, const Tangent& da);
/// Of carry(), and where nothing travels of turn(): of the stretch after it, from that of `memory`, before it.
Tangent differentiate_carry(const Eigen::Vector3d& way, const Motion& from, const Motion& to, const Memory& memory,
                            const MotionTangent& of_from, const MotionTangent& of_to, const Tangent& dway,
                            const Tangent& ds);

/// a × of every column.
template <typename Columns>
Tangent crossed(const Eigen::Vector3d& a, const Columns& columns) {
  return skew(a) * columns;
}

}  // namespace exposim
