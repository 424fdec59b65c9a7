#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "exposim/kernels/fours.hpp"

namespace exposim {

/// What oscillators y'' + cω y' + ω y = 0 do to each other: with p = s² + cωs + ω and G as in OscillatorIntegrals,
///
///   E(ω_k, ω_j) = −G[ω_k, ω_j],   which is   (1 + cs)/(p_k p_j)   by Laplace's transform,
///
/// and E1, E2, E3 likewise, its repeated integrals from 0 to t. Divided differences follow from each other by the rule
/// of products where G follows from itself at half the time, so that oscillators may be alike, without springs, or
/// critically damped.
class OscillatorPairs {
 public:
  void compute(const Eigen::VectorXd& omega, double c, double t);

  /// E, E1, E2, E3 of k with all j, whose rows are filled up to fours.
  const double* E(Eigen::Index integrals, Eigen::Index k) const {
    return pairs_[static_cast<std::size_t>(integrals)].data() + k * padded(size_);
  }

 private:
  /// At t, t/2, …: of all oscillators dG, G, G1, G2, G3, each a row filled up to fours.
  double* course(Eigen::Index doubling) { return course_.data() + doubling * kFunctions * padded(size_); }

  static constexpr Eigen::Index kFunctions = 5;
  Eigen::Index size_ = 0;
  std::vector<double> omega_, course_;
  std::array<std::vector<double>, 4> pairs_;
};

}  // namespace exposim
