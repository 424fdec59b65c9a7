#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace exposim {

/// The force of a strand through a piece of a step: straight lines between nodes; two at one time are a jump.
struct ForceCourse {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t strand = kNone;        ///< in the order of the instant; kNone: none of it
  std::size_t point = kNone;         ///< of a contact
  int surface = -1;                  ///< that it touches
  std::vector<double> t;             ///< since the start of the piece [s]
  std::vector<Eigen::Vector3d> lam;  ///< [N]

  void begin(const Eigen::Vector3d& start);
  void add(double time, const Eigen::Vector3d& force);
  /// At a jump, what it jumps to.
  Eigen::Vector3d at(double time) const;
  /// ∫λ and ∬λ up to a time.
  void integrate(double time, Eigen::Vector3d& once, Eigen::Vector3d& twice) const;
  /// Bends the ends to where they are known to be, each as far as the next jump.
  void bend(const Eigen::Vector3d& start, const Eigen::Vector3d& end);
};

}  // namespace exposim
