#pragma once

#include <Eigen/Core>

#include "exposim/stiff/memory.hpp"

namespace exposim {

/// How the two sides of an element move against each other at one instant; world axes, the world's frame.
struct Motion {
  double phi;                 ///< gap [m]; zero where there is none
  Eigen::Vector3d n;          ///< normal, from the surface to the point
  Eigen::Vector3d p;          ///< where they touch [m]
  Eigen::Vector3d dp;         ///< relative velocity of the material there [m/s]
  Eigen::Vector3d arm;        ///< from the centre of a spherical foot to p [m]
  Eigen::Vector3d dc;         ///< velocity of that centre [m/s]
  Eigen::Matrix3d curvature;  ///< ∇²φ of a curved surface [1/m]
  bool curved = false;        ///< whether `curvature` says anything
};

inline Eigen::Vector3d tangent(const Eigen::Vector3d& a, const Eigen::Vector3d& n) { return a - a.dot(n) * n; }

/// Displacement from the anchor, Δp = s + (φ − φ0) n.
inline Eigen::Vector3d displacement(const Motion& motion, const Memory& memory) {
  if (memory.mode == Mode::kBound) return memory.s;
  return memory.s + (motion.phi - memory.phi0) * motion.n;
}

/// Velocity against the anchor, which goes along with a contact that has no hold.
inline Eigen::Vector3d displacement_rate(const Motion& motion, const Memory& memory) {
  return memory.slipping() ? Eigen::Vector3d(motion.dp.dot(motion.n) * motion.n) : motion.dp;
}

/// Takes the stretch along as the element moves from p, with the normal n there, to another motion.
void carry(const Eigen::Vector3d& p, const Eigen::Vector3d& n, const Motion& to, Memory& memory);
/// Turns the stretch alone, from a normal to that of a motion.
void turn(const Eigen::Vector3d& n, const Motion& to, Memory& memory);

}  // namespace exposim
