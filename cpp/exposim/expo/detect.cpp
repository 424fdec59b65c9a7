#include "exposim/expo/detect.hpp"

#include <algorithm>

namespace exposim {

namespace {

/// The forces with which a mode lasts are a convex set: it lasts along a line if it does at both ends.
bool may_end(const StrandList& strands, const ForcePiece& piece) {
  for (std::size_t k = 0; k < strands.active(); ++k) {
    const Strand& strand = strands.all()[k];
    for (const Eigen::Vector3d& lam : {piece.from[k], piece.to[k]}) {
      if (strand.law->may_change(strand.memory.mode, strand.motion.n, lam, piece.deviation[k])) return true;
    }
  }
  return false;
}

/// By a gap and its rate that are never above those of the strand.
bool may_close(const StiffSystem& system, const StrandList& strands, std::size_t open, ForcePieces pieces, double dt) {
  const Motion& motion = strands.all()[open].motion;
  const StiffSystem::Row& row = system.rows()[open];
  double phi = motion.phi, dphi = motion.n.dot(motion.dp);
  const double free = motion.n.dot(row.ddp_bar);
  if (strands.active() == 0) return !(lowest_gap(phi, dphi, free, dt) > 0.0);
  for (const ForcePiece& piece : pieces) {
    double a = free;
    for (std::size_t k = 0; k < strands.active(); ++k) {
      const Eigen::Vector3d by = system.response(system.rows()[k], row, motion.n);  // nᵀΥ of the two
      a += std::min(by.dot(piece.from[k]), by.dot(piece.to[k])) - by.norm() * piece.deviation[k];
    }
    if (!(lowest_gap(phi, dphi, a, piece.length) > 0.0)) return true;
    phi += piece.length * (dphi + 0.5 * piece.length * a);
    dphi += piece.length * a;
  }
  return false;
}

bool may_change(const StiffSystem& system, const StrandList& strands, ForcePieces pieces, double dt) {
  if (strands.active() > 0 && pieces.empty()) return true;
  if (std::any_of(pieces.begin(), pieces.end(), [&](const ForcePiece& piece) { return may_end(strands, piece); })) {
    return true;
  }
  for (std::size_t i = strands.active(); i < strands.all().size(); ++i) {
    if (may_close(system, strands, i, pieces, dt)) return true;
  }
  return false;
}

/// Whether a closer look is in vain: a force at the end is none of its mode, or a gap is closed there.
bool does_change(const StiffSystem& system, const StrandList& strands, const ForceAverages& averages,
                 const ForcePiece& whole, double dt) {
  for (std::size_t k = 0; k < strands.active(); ++k) {
    const Strand& strand = strands.all()[k];
    if (strand.law->may_change(strand.memory.mode, strand.motion.n, whole.reached[k], 0.0)) return true;
  }
  for (std::size_t i = strands.active(); i < strands.all().size(); ++i) {
    const Motion& motion = strands.all()[i].motion;
    const StiffSystem::Row& open = system.rows()[i];
    double a = motion.n.dot(open.ddp_bar);
    for (std::size_t k = 0; k < strands.active(); ++k) {
      a += system.response(system.rows()[k], open, motion.n).dot(averages.lam_bar2(k));
    }
    if (motion.phi + dt * (motion.n.dot(motion.dp) + 0.5 * dt * a) <= 0.0) return true;
  }
  return false;
}

}  // namespace

bool may_change(const StiffSystem& system, const StrandList& strands, ForceAverages& averages, double dt) {
  if (strands.active() == 0) return may_change(system, strands, ForcePieces{nullptr, 0}, dt);
  const ForcePieces whole = averages.bounds(system, false);
  if (!may_change(system, strands, whole, dt)) return false;
  if (whole.empty() || does_change(system, strands, averages, *whole.begin(), dt)) return true;
  return may_change(system, strands, averages.bounds(system, true), dt);
}

}  // namespace exposim
