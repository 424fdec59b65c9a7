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
  Eigen::Matrix3d rotation;   ///< of the body of a spherical foot; says nothing where `arm` is zero
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

/// How far the two sides have moved past each other where they touch: ∫ṗ dt from one motion to another.
///
///   Δc + θ × arm,   R⁺ = exp(θ) R:   of a point its displacement; a spherical foot that rolls does not travel
///
/// @param arm on the way.
Eigen::Vector3d travel(const Motion& from, const Motion& to, const Eigen::Vector3d& arm);
/// With the arm halfway.
inline Eigen::Vector3d travel(const Motion& from, const Motion& to) {
  return travel(from, to, 0.5 * (from.arm + to.arm));
}
/// ∂/∂δ of that, if the foot ends turned by a further small δ: R⁺ → exp(δ) R⁺.
Eigen::Matrix3d travel_by_rotation(const Motion& from, const Motion& to);

/// Takes the stretch along as the element travels on, from where the normal is n, to another motion.
void carry(const Eigen::Vector3d& way, const Eigen::Vector3d& n, const Motion& to, Memory& memory);
/// Turns the stretch alone, from a normal to that of a motion.
void turn(const Eigen::Vector3d& n, const Motion& to, Memory& memory);

}  // namespace exposim
