#pragma once

#include <Eigen/Core>

#include "exposim/stiff/memory.hpp"

namespace exposim {

/// How the two sides of an element move against each other at one instant, in world axes. Where a body carries the
/// surface, velocities are those that this body sees.
struct Motion {
  double phi;                  ///< gap [m]; zero where there is none
  Eigen::Vector3d n;           ///< normal, from the surface to the point
  Eigen::Vector3d p;           ///< where they touch [m]
  Eigen::Vector3d dp;          ///< relative velocity of the material there [m/s]
  Eigen::Vector3d arm;         ///< from the centre of a spherical foot to p [m]
  Eigen::Vector3d dc;          ///< velocity of that centre [m/s], past the surface
  Eigen::Matrix3d curvature;   ///< ∇²φ of a curved surface [1/m]
  bool curved = false;         ///< whether `curvature` says anything
  Eigen::Matrix3d rotation;    ///< of the body of a spherical foot, in `carrier`; says nothing where `arm` is zero
  bool carried = false;        ///< a body carries the surface; the rest says nothing where none does
  Eigen::Matrix3d carrier;     ///< rotation of that body
  Eigen::Vector3d spin;        ///< its angular velocity [rad/s]
  Eigen::Vector3d in_carrier;  ///< the centre in its frame [m]
  bool slides = false;         ///< the centre is where an edge is closest, and no point of its body
  Eigen::Vector3d place;       ///< where that is in the body's frame [m]; the rest says nothing of what does not slide
  Eigen::Vector3d sliding;     ///< how it moves there, along the edge [m/s]
  Eigen::Vector3d swing;       ///< what turning the edge adds to ṅ [1/s]
};

inline Eigen::Vector3d tangent(const Eigen::Vector3d& a, const Eigen::Vector3d& n) { return a - a.dot(n) * n; }

/// ṅ as the body sees it that carries the surface; zero where that is flat.
inline Eigen::Vector3d normal_rate(const Motion& motion) {
  const Eigen::Vector3d rate = motion.curvature * motion.dc;
  return motion.slides ? Eigen::Vector3d(rate + motion.swing) : rate;
}

/// Displacement from the anchor, Δp = s + (φ − φ0) n.
inline Eigen::Vector3d displacement(const Motion& motion, const Memory& memory) {
  if (memory.mode == Mode::kBound) return memory.s;
  return memory.s + (motion.phi - memory.phi0) * motion.n;
}

/// Velocity against the anchor, which goes along with a contact that has no hold.
inline Eigen::Vector3d displacement_rate(const Motion& motion, const Memory& memory) {
  return memory.slipping() ? Eigen::Vector3d(motion.dp.dot(motion.n) * motion.n) : motion.dp;
}

/// A vector at one motion, taken along to another by the body that carries the surface.
inline Eigen::Vector3d along_with_carrier(const Motion& from, const Motion& to, const Eigen::Vector3d& a) {
  return to.carried ? Eigen::Vector3d(to.carrier * (from.carrier.transpose() * a)) : a;
}

/// How far the two sides have moved past each other where they touch: ∫ṗ dt from one motion to another, as it looks
/// at the first.
///
///   Δc + θ × arm,   R⁺ = exp(θ) R:   of a point its displacement; a spherical foot that rolls does not travel
///
/// @param arm on the way.
Eigen::Vector3d travel(const Motion& from, const Motion& to, const Eigen::Vector3d& arm);
/// With the arm halfway.
inline Eigen::Vector3d travel(const Motion& from, const Motion& to) {
  return travel(from, to, 0.5 * (from.arm + along_with_carrier(to, from, to.arm)));
}
/// ∂/∂δ of that, if the foot ends turned by a further small δ: R⁺ → exp(δ) R⁺.
Eigen::Matrix3d travel_by_rotation(const Motion& from, const Motion& to);

/// Takes the stretch along as the element travels on, from one motion to another.
void carry(const Eigen::Vector3d& way, const Motion& from, const Motion& to, Memory& memory);
/// Turns the stretch alone, with the normal.
void turn(const Motion& from, const Motion& to, Memory& memory);

}  // namespace exposim
